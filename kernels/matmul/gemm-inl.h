// SPDX-License-Identifier: Apache-2.0
// The register tile under matrix products and convolutions, and the packing that feeds it. Private to kernels/;
// included once per target. The tiles themselves are instantiated in matmul.cc only; conv.cc calls gemm_tile().
#ifndef KERNGRAD_KERNELS_GEMM_COMMON
#define KERNGRAD_KERNELS_GEMM_COMMON
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"

namespace kerngrad::kernels {

/// What one tile computes: C[rows, columns] = sum over p of A(row, p) * B(p, column), p running through `runs` runs of
/// `run_length`. A(row, p) lies at a + run_offsets[run] + row * a_step + p when strided, and at
/// a + run_offsets[run] + row + p * a_step otherwise; p restarts with each run. B is not restarted: its rows follow
/// each other at distance ldb. Whole vectors of B are read, so its rows must reach to a multiple of the vector; but of
/// `narrow` rows, those of an unpacked B, only `columns` elements are read.
template <class T>
struct tile_args {
  const T* a;
  std::ptrdiff_t a_step;
  const T* b;
  std::ptrdiff_t ldb;
  T* c;
  std::ptrdiff_t ldc;
  std::ptrdiff_t runs, run_length;
  const std::ptrdiff_t* run_offsets;
  std::ptrdiff_t columns;
  bool accumulate;  ///< adds the finished sum to C instead of storing it
};

}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_GEMM_COMMON

#if defined(KERNGRAD_KERNELS_GEMM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_GEMM_INL
#undef KERNGRAD_KERNELS_GEMM_INL
#else
#define KERNGRAD_KERNELS_GEMM_INL
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/common/target-inl.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Tile heights: rows * 2 accumulators, two vectors of B and one broadcast of A must fit into the registers: 31 of the
// 32 that many targets have, 15 of the 16 of older x86.
#if KG_EMULATED
inline constexpr int tile_rows = 4;
#elif KG_MANY_REGISTERS
inline constexpr int tile_rows = 14;
#else
inline constexpr int tile_rows = 6;
#endif
inline constexpr int tile_vectors = 2;
// A tile of one vector may be higher: 16 rows are a common size.
inline constexpr int single_tile_rows = tile_rows == 14 ? 16 : tile_rows;
inline constexpr int most_tile_rows(int vectors) { return vectors == 1 ? single_tile_rows : tile_rows; }

template <class T>
HWY_INLINE std::ptrdiff_t lanes() {
  return static_cast<std::ptrdiff_t>(hn::Lanes(hn::ScalableTag<T>()));
}
template <class T>
HWY_INLINE std::ptrdiff_t tile_columns() {
  return tile_vectors * lanes<T>();
}

/// Columns rounded up to whole vectors.
template <class T>
HWY_INLINE std::ptrdiff_t whole_vectors(std::ptrdiff_t columns) {
  return (columns + lanes<T>() - 1) / lanes<T>() * lanes<T>();
}

/// Whether the last columns of a row of B can be loaded where they lie. Where not, such a B is packed.
inline constexpr bool loads_parts = HWY_MEM_OPS_MIGHT_FAULT == 0;

/// What the tiles of one product share: A lies strided or not, rows of B are narrow or whole vectors.
struct tile_kind {
  bool strided, narrow;
};

// Computes one tile of `rows` (1 to most_tile_rows(vectors)) by `vectors` (1 to tile_vectors).
void gemm_tile(int rows, int vectors, tile_kind kind, const tile_args<float>& args);
void gemm_tile(int rows, int vectors, tile_kind kind, const tile_args<double>& args);

template <class D, class V = hn::Vec<D>>
HWY_INLINE V multiply_accumulate(D, V a, V b, V sum) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    return hn::MulAdd(a, b, sum);
  } else {
    return hn::Add(sum, hn::Mul(a, b));
  }
}

/// Stores the first `count` lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void store_part(D d, V v, hn::TFromD<D>* to, std::ptrdiff_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  using T = hn::TFromD<D>;
  HWY_ALIGN T lane[hn::MaxLanes(d)];
  hn::Store(v, d, lane);
  for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = lane[i];
#else
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#endif
}

/// Loads the first `count` lanes; the others are zero.
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const hn::TFromD<D>* from, std::ptrdiff_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  using T = hn::TFromD<D>;
  HWY_ALIGN T lane[hn::MaxLanes(d)] = {};
  for (std::ptrdiff_t i = 0; i < count; ++i) lane[i] = from[i];
  return hn::Load(d, lane);
#else
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
#endif
}

/// Transposes a square block whose rows are 128-bit vectors.
template <class T>
HWY_INLINE void transpose_block(const T* src, std::ptrdiff_t lds, T* dst, std::ptrdiff_t ldd) {
  const hn::FixedTag<T, 16 / sizeof(T)> d;
  const auto r0 = hn::LoadU(d, src);
  const auto r1 = hn::LoadU(d, src + lds);
  if constexpr (sizeof(T) == 8) {
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, dst);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, dst + ldd);
  } else {
    const auto r2 = hn::LoadU(d, src + 2 * lds);
    const auto r3 = hn::LoadU(d, src + 3 * lds);
    const auto even0 = hn::InterleaveLower(d, r0, r2), even1 = hn::InterleaveLower(d, r1, r3);
    const auto odd0 = hn::InterleaveUpper(d, r0, r2), odd1 = hn::InterleaveUpper(d, r1, r3);
    hn::StoreU(hn::InterleaveLower(d, even0, even1), d, dst);
    hn::StoreU(hn::InterleaveUpper(d, even0, even1), d, dst + ldd);
    hn::StoreU(hn::InterleaveLower(d, odd0, odd1), d, dst + 2 * ldd);
    hn::StoreU(hn::InterleaveUpper(d, odd0, odd1), d, dst + 3 * ldd);
  }
}

/// dst[p * ldd + i] = src[i * lds + p] for i < rows, p < columns. 128-bit blocks are transposed in registers; the last
/// block of each direction overlaps its neighbour.
template <class T>
HWY_INLINE void pack_transposed(const T* src, std::ptrdiff_t lds, std::ptrdiff_t rows, std::ptrdiff_t columns, T* dst,
                                std::ptrdiff_t ldd) {
  constexpr std::ptrdiff_t block = 16 / sizeof(T);
  if (rows < block || columns < block) {
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      for (std::ptrdiff_t p = 0; p < columns; ++p) dst[p * ldd + i] = src[i * lds + p];
    }
    return;
  }
  for (std::ptrdiff_t q = 0; q < columns; q += block) {
    const std::ptrdiff_t p = std::min(q, columns - block);
    for (std::ptrdiff_t r = 0; r < rows; r += block) {
      const std::ptrdiff_t i = std::min(r, rows - block);
      transpose_block(src + i * lds + p, lds, dst + p * ldd + i, ldd);
    }
  }
}

/// dst[p * ldd + i] = src[p * lds + i] for i < width, p < rows, and zero for width <= i < ldd.
template <class T>
HWY_INLINE void pack_rows(const T* src, std::ptrdiff_t lds, std::ptrdiff_t rows, std::ptrdiff_t width, T* dst,
                          std::ptrdiff_t ldd) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t whole = width / lanes<T>() * lanes<T>();
  for (std::ptrdiff_t p = 0; p < rows; ++p, src += lds, dst += ldd) {
    std::ptrdiff_t i = 0;
    for (; i < whole; i += lanes<T>()) hn::StoreU(hn::LoadU(d, src + i), d, dst + i);
    if (loads_parts && ldd - i == lanes<T>()) {
      hn::StoreU(load_part(d, src + i, width - i), d, dst + i);
      continue;
    }
    for (; i < width; ++i) dst[i] = src[i];
    for (; i < ldd; ++i) dst[i] = T{0};
  }
}

/// Clears columns [from, ldd) of a panel that pack_transposed fills.
template <class T>
HWY_INLINE void clear_columns(T* panel, std::ptrdiff_t rows, std::ptrdiff_t from, std::ptrdiff_t ldd) {
  for (std::ptrdiff_t p = 0; p < rows; ++p) {
    for (std::ptrdiff_t i = from; i < ldd; ++i) panel[p * ldd + i] = T{0};
  }
}

/// The tile: all sums stay in registers; each starts at zero, and C is added at the end, so that long sums are split.
template <class T, int kRows, int kVectors, bool kStrided, bool kNarrow>
HWY_NOINLINE void Tile(const tile_args<T>& g) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t L = lanes<T>(),
                       last = g.columns - (kVectors - 1) * L;  // columns of the last vector, at least one
  const std::ptrdiff_t step = g.a_step, ldb = g.ldb, ldc = g.ldc, run_length = g.run_length;
  if (g.accumulate) {  // C has been out of the caches since the last block of the depth: fetch it in the meantime
    for (int i = 0; i < kRows; ++i) {
      for (int j = 0; j < kVectors; ++j) hwy::Prefetch(g.c + i * ldc + j * L);
    }
  }
  // The sums, and behind them what is loaded of B.
  with_vectors<(kRows + 1) * kVectors>(d, [&](auto all) KG_INLINED {
    const auto right = all.template row<kVectors>(kRows);
    const T* HWY_RESTRICT b = g.b;
    for (std::ptrdiff_t run = 0; run < g.runs; ++run) {
      const T* HWY_RESTRICT a = g.a + g.run_offsets[run];
      for (std::ptrdiff_t p = 0; p < run_length; ++p) {
        for (int j = 0; j + kNarrow < kVectors; ++j) right[j] = hn::LoadU(d, b + j * L);
        if constexpr (kNarrow) right[kVectors - 1] = load_part(d, b + (kVectors - 1) * L, last);
#pragma clang loop unroll(full)
        for (int i = 0; i < kRows; ++i) {
          const auto sum = all.template row<kVectors>(i);
          const auto left = hn::Set(d, a[kStrided ? i * step : i]);
          for (int j = 0; j < kVectors; ++j) sum[j] = multiply_accumulate(d, left, right[j], sum[j]);
        }
        a += kStrided ? 1 : step;
        b += ldb;
      }
    }
    T* HWY_RESTRICT c = g.c;
    const bool accumulate = g.accumulate;
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i, c += ldc) {
      const auto sum = all.template row<kVectors>(i);
      for (int j = 0; j < kVectors; ++j) {
        T* to = c + j * L;
        if (j + 1 < kVectors || last == L) {
          hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, to), sum[j]) : sum[j], d, to);
        } else {
          store_part(d, accumulate ? hn::Add(load_part(d, to, last), sum[j]) : sum[j], to, last);
        }
      }
    }
  });
}

template <class T>
using tile_fn = void (*)(const tile_args<T>&);

template <class T, int kVectors, bool kStrided, bool kNarrow, int... kRows>
HWY_INLINE tile_fn<T> tile_of_rows(int rows, std::integer_sequence<int, kRows...>) {
  static constexpr tile_fn<T> table[] = {Tile<T, kRows + 1, kVectors, kStrided, kNarrow>...};
  return table[rows - 1];
}

// Products of integers are bound by multiplying, not by loads, and there are fewer of them: their operands are always
// packed, and higher tiles are computed in parts, so that there is an eighth of the code.
template <class T>
inline constexpr bool always_packed = !hwy::IsFloat<T>();
template <class T>
inline constexpr int compiled_rows(int vectors) {
  constexpr int most_of_integers = 4;
  const int most = most_tile_rows(vectors);
  return hwy::IsFloat<T>() || most < most_of_integers ? most : most_of_integers;
}

template <class T, bool kStrided, bool kNarrow>
HWY_INLINE tile_fn<T> tile_of(int rows, int vectors) {
  static_assert(tile_vectors == 2);
  return vectors == 2
             ? tile_of_rows<T, 2, kStrided, kNarrow>(rows, std::make_integer_sequence<int, compiled_rows<T>(2)>())
             : tile_of_rows<T, 1, kStrided, kNarrow>(rows, std::make_integer_sequence<int, compiled_rows<T>(1)>());
}

template <class T>
HWY_INLINE tile_fn<T> tile_of_kind(int rows, int vectors, [[maybe_unused]] tile_kind kind) {
  if constexpr (always_packed<T>) {
    return tile_of<T, false, false>(rows, vectors);
  } else {
    if constexpr (loads_parts) {
      if (kind.narrow)
        return kind.strided ? tile_of<T, true, true>(rows, vectors) : tile_of<T, false, true>(rows, vectors);
    }
    return kind.strided ? tile_of<T, true, false>(rows, vectors) : tile_of<T, false, false>(rows, vectors);
  }
}

template <class T>
HWY_INLINE void tile_dispatch(int rows, int vectors, tile_kind kind, const tile_args<T>& args) {
  constexpr int most = compiled_rows<T>(1);
  if constexpr (most < most_tile_rows(1)) {
    tile_args<T> part = args;
    for (; rows > most; rows -= most) {
      tile_of_kind<T>(most, vectors, kind)(part);
      part.a += most * (kind.strided ? part.a_step : 1);
      part.c += most * part.ldc;
    }
    tile_of_kind<T>(rows, vectors, kind)(part);
  } else {
    tile_of_kind<T>(rows, vectors, kind)(args);
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
