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

/// Result of one tile: C[rows, columns] = sum over p of A(row, p) * B(p, column), p running through `runs` runs of
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

#if defined(KERNGRAD_KERNELS_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_GEMM_INL_H_
#undef KERNGRAD_KERNELS_GEMM_INL_H_
#else
#define KERNGRAD_KERNELS_GEMM_INL_H_
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/common/target-inl.h"
#include "kernels/common/vectors-inl.h"
#include "kernels/matmul/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Tile heights: rows * 2 accumulators, two vectors of B and one broadcast of A must fit into the registers: 31 of the
// 32 that many targets have, 15 of the 16 of older x86. If lanes are factors, two more vectors of B, and rows come
// in fours.
#if KG_EMULATED
inline constexpr int tile_rows = 4;
#elif KG_MULTIPLIES_BY_LANES
inline constexpr int tile_rows = 12;
#elif KG_MANY_REGISTERS
inline constexpr int tile_rows = 14;
#else
inline constexpr int tile_rows = 6;
#endif
inline constexpr int tile_vectors = 2;
// A tile of one vector may be higher: 16 rows are a common size.
inline constexpr int single_tile_rows = KG_MANY_REGISTERS ? 16 : tile_rows;
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

/// True if the last columns of a row of B can be loaded where they lie. Otherwise B is packed.
inline constexpr bool loads_parts = HWY_MEM_OPS_MIGHT_FAULT == 0;

/// Shared by the tiles of one product: A is strided or not, rows of B are narrow or whole vectors.
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

/// Loads what one row of B has of the tile's columns.
template <bool kNarrow, int kVectors, class D, class V>
HWY_INLINE void load_right(D d, const hn::TFromD<D>* HWY_RESTRICT b, std::ptrdiff_t last,
                           const vectors<V, kVectors>& right) {
  const std::ptrdiff_t L = lanes<hn::TFromD<D>>();
  for (int j = 0; j + kNarrow < kVectors; ++j) right[j] = hn::LoadU(d, b + j * L);
  if constexpr (kNarrow) right[kVectors - 1] = load_part(d, b + (kVectors - 1) * L, last);
}

/// Adds one step of the depth: the products of a column of A and a row of B.
template <int kRows, bool kStrided, int kVectors, class D, class V, int kCount>
HWY_INLINE void add_step(D d, const hn::TFromD<D>* HWY_RESTRICT a, [[maybe_unused]] std::ptrdiff_t step,
                         const vectors<V, kVectors>& right, const vectors<V, kCount>& all) {
  constexpr int factors = kStrided ? 1 : lane_factors<hn::TFromD<D>>;
  constexpr int whole = factors > 1 ? kRows / factors * factors : 0;
  if constexpr (whole > 0) {
#pragma clang loop unroll(full)
    for (int i = 0; i < whole; i += factors)
      add_rows(d, a + i, right, all, i, std::make_integer_sequence<int, factors>());
  }
#pragma clang loop unroll(full)
  for (int i = whole; i < kRows; ++i) {
    const auto sum = all.template row<kVectors>(i);
    const auto left = hn::Set(d, a[kStrided ? i * step : i]);
    for (int j = 0; j < kVectors; ++j) sum[j] = multiply_accumulate(d, left, right[j], sum[j]);
  }
}

/// Adds as many steps of the depth as a load of a row of A has factors, two of them at a time: more rows of B at once
/// would not fit into the registers. A is strided.
template <int kRows, bool kNarrow, int kVectors, class D, class V, int kCount, int... kPair>
HWY_INLINE void add_steps(D d, const hn::TFromD<D>* HWY_RESTRICT a, std::ptrdiff_t step,
                          const hn::TFromD<D>* HWY_RESTRICT b, std::ptrdiff_t ldb, std::ptrdiff_t last,
                          const vectors<V, kCount>& all, std::integer_sequence<int, kPair...>) {
  const auto right = all.template row<kVectors>(kRows), next = all.template row<kVectors>(kRows + 1);
  const auto add_pair = [&]<int kFirst>(std::integral_constant<int, kFirst>) KG_INLINED {
    load_right<kNarrow>(d, b + kFirst * ldb, last, right);
    load_right<kNarrow>(d, b + (kFirst + 1) * ldb, last, next);
    asm("" : "+r"(a));  // or the compiler would load each row of A once, and keep what does not fit in memory
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) {
      const auto sum = all.template row<kVectors>(i);
      const auto left = hn::LoadDup128(d, a + i * step);
      add_products<kFirst>(left, right, sum);
      add_products<kFirst + 1>(left, next, sum);
    }
  };
  (add_pair(std::integral_constant<int, 2 * kPair>()), ...);
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
  constexpr int steps = kStrided ? lane_factors<T> : 1;  // of the depth, for which one load of a row of A has factors
  // The sums, and after them what is loaded of B, at most two rows of it.
  with_vectors<(kRows + (steps > 1 ? 2 : 1)) * kVectors>(d, [&](auto all) KG_INLINED {
    const auto right = all.template row<kVectors>(kRows);
    const T* HWY_RESTRICT b = g.b;
    for (std::ptrdiff_t run = 0; run < g.runs; ++run) {
      const T* HWY_RESTRICT a = g.a + g.run_offsets[run];
      std::ptrdiff_t p = 0;
      if constexpr (steps > 1) {
        for (; p + steps <= run_length; p += steps, a += steps, b += steps * ldb)
          add_steps<kRows, kNarrow, kVectors>(d, a, step, b, ldb, last, all,
                                              std::make_integer_sequence<int, steps / 2>());
      }
      for (; p < run_length; ++p, a += kStrided ? 1 : step, b += ldb) {
        load_right<kNarrow>(d, b, last, right);
        add_step<kRows, kStrided>(d, a, step, right, all);
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
  } else if constexpr (KG_AVX512) {
    // A load of some lanes takes no longer than one of all: one half of the tiles serves both kinds of rows.
    return kind.strided ? tile_of<T, true, true>(rows, vectors) : tile_of<T, false, true>(rows, vectors);
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
