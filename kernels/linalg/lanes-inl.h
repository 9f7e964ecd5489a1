// SPDX-License-Identifier: Apache-2.0
// Moves matrices into the lanes of vectors and back. Element e of `lanes` matrices is one vector. Included once per
// target, after <kerngrad/kernel.h>.
#if defined(KERNGRAD_KERNELS_LINALG_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_LINALG_LANES_INL_H_
#undef KERNGRAD_KERNELS_LINALG_LANES_INL_H_
#else
#define KERNGRAD_KERNELS_LINALG_LANES_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/common/target-inl.h"
#include "kernels/linalg/small.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::linalg::lanes::HWY_NAMESPACE {

namespace hn = ::hwy::HWY_NAMESPACE;

// At most 64 bytes, so that work arrays have a size on targets with longer vectors too.
template <class T>
using tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
inline constexpr std::size_t most_lanes = 64 / sizeof(T);
template <class T>
using vec = hn::Vec<tag<T>>;

// Moves in blocks of 128 bits need vectors of a size that the compiler knows. `stride` is 0, or at least a block.
#if !KG_EMULATED && !HWY_HAVE_SCALABLE
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const T* from, std::ptrdiff_t stride) {
  constexpr std::size_t blocks = sizeof(hn::Vec<D>) / 16;
  if constexpr (blocks == 1) {
    return hn::LoadU(d, from);
  } else if constexpr (blocks == 2) {
    // The blend of two vectors takes less time than the insertion of a block. It drops neighbors of the blocks, which
    // are in the same array.
    return hn::ConcatUpperLower(d, hn::LoadU(d, from + stride - 16 / static_cast<std::ptrdiff_t>(sizeof(T))),
                                hn::LoadU(d, from));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadBlocks(half, from + static_cast<std::ptrdiff_t>(blocks / 2) * stride, stride),
                       LoadBlocks(half, from, stride));
  }
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreBlocks(D d, hn::Vec<D> x, T* to, std::ptrdiff_t stride) {
  constexpr std::size_t blocks = sizeof(hn::Vec<D>) / 16;
  if constexpr (blocks == 1) {
    hn::StoreU(x, d, to);
  } else {
    const hn::Half<D> half;
    StoreBlocks(half, hn::LowerHalf(half, x), to, stride);
    StoreBlocks(half, hn::UpperHalf(half, x), to + static_cast<std::ptrdiff_t>(blocks / 2) * stride, stride);
  }
}

// Transposes squares of elements within each block of 128 bits: of two vectors of float64, four of float32.
template <class V>
HWY_INLINE void TransposeBlocks(tag<double> d, V* x) {
  const V low = hn::InterleaveLower(d, x[0], x[1]), high = hn::InterleaveUpper(d, x[0], x[1]);
  x[0] = low, x[1] = high;
}
template <class V>
HWY_INLINE void TransposeBlocks(tag<float> d, V* x) {
  const V a = hn::InterleaveLower(d, x[0], x[2]), b = hn::InterleaveLower(d, x[1], x[3]),
          e = hn::InterleaveUpper(d, x[0], x[2]), f = hn::InterleaveUpper(d, x[1], x[3]);
  x[0] = hn::InterleaveLower(d, a, b), x[1] = hn::InterleaveUpper(d, a, b);
  x[2] = hn::InterleaveLower(d, e, f), x[3] = hn::InterleaveUpper(d, e, f);
}
#endif

// `elements` elements of a vector's lanes of matrices, at `stride` from each other, into vectors one after the other.
template <class T>
HWY_INLINE void ReadWhole(const T* from, std::int64_t stride, std::int64_t elements, T* HWY_RESTRICT to) {
  const tag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
#if !KG_EMULATED && !HWY_HAVE_SCALABLE
  constexpr std::int64_t square = 16 / sizeof(T);
  if (elements >= square) {
    for (std::int64_t i = 0; i < elements; i += square) {
      const std::int64_t e = std::min(i, elements - square);  // the last squares may overlap
      vec<T> x[square];
      for (std::int64_t r = 0; r < square; ++r)
        x[r] = stride == 0 ? hn::LoadDup128(d, from + e) : LoadBlocks(d, from + r * stride + e, square * stride);
      TransposeBlocks(d, x);
      for (std::int64_t r = 0; r < square; ++r) hn::Store(x[r], d, to + (e + r) * lanes);
    }
    return;
  }
#endif
  for (std::int64_t l = 0; l < lanes; ++l)
    for (std::int64_t e = 0; e < elements; ++e) to[e * lanes + l] = from[l * stride + e];
}
template <class T>
HWY_INLINE void WriteWhole(const T* HWY_RESTRICT from, std::int64_t elements, T* to) {
  const tag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
#if !KG_EMULATED && !HWY_HAVE_SCALABLE
  constexpr std::int64_t square = 16 / sizeof(T);
  if (elements >= square) {
    for (std::int64_t i = 0; i < elements; i += square) {
      const std::int64_t e = std::min(i, elements - square);
      vec<T> x[square];
      for (std::int64_t r = 0; r < square; ++r) x[r] = hn::Load(d, from + (e + r) * lanes);
      TransposeBlocks(d, x);
      for (std::int64_t r = 0; r < square; ++r) StoreBlocks(d, x[r], to + r * elements + e, square * elements);
    }
    return;
  }
#endif
  for (std::int64_t l = 0; l < lanes; ++l)
    for (std::int64_t e = 0; e < elements; ++e) to[l * elements + e] = from[e * lanes + l];
}

// The same of fewer matrices than lanes. Lanes without a matrix repeat the last one.
template <class T>
HWY_INLINE void Read(const T* from, std::int64_t stride, std::int64_t elements, std::int64_t valid, T* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag<T>()));
  if (valid == lanes) return ReadWhole(from, stride, elements, to);
  for (std::int64_t l = 0; l < lanes; ++l)
    for (std::int64_t e = 0; e < elements; ++e) to[e * lanes + l] = from[std::min(l, valid - 1) * stride + e];
}
template <class T>
HWY_INLINE void Write(const T* from, std::int64_t elements, std::int64_t valid, T* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag<T>()));
  if (valid == lanes) return WriteWhole(from, elements, to);
  for (std::int64_t l = 0; l < valid; ++l)
    for (std::int64_t e = 0; e < elements; ++e) to[l * elements + e] = from[e * lanes + l];
}
// One number of each matrix.
template <class T>
HWY_INLINE void Write(vec<T> x, std::int64_t valid, T* to) {
  HWY_ALIGN T all[most_lanes<T>];
  hn::Store(x, tag<T>(), all);
  std::copy_n(all, valid, to);
}
// Numbers in lanes as integers.
template <class T>
HWY_INLINE void WriteIntegers(vec<T> x, std::int64_t valid, std::int32_t* to, std::int64_t stride = 1) {
  HWY_ALIGN T all[most_lanes<T>];
  hn::Store(x, tag<T>(), all);
  for (std::int64_t l = 0; l < valid; ++l) to[l * stride] = static_cast<std::int32_t>(all[l]);
}

// The matrices of all lanes as a matrix of vectors, read by columns: LAPACK's view of a row-major matrix. N is the
// number of rows where the compiler knows it, else 0.
template <class T, int N>
struct matrices {
  T* at;
  std::int64_t given;
  HWY_INLINE std::int64_t n() const { return N ? N : given; }
  HWY_INLINE T* address(std::int64_t r, std::int64_t c) const {
    return at + (c * n() + r) * static_cast<std::int64_t>(hn::Lanes(tag<T>()));
  }
  HWY_INLINE vec<T> get(std::int64_t r, std::int64_t c) const { return hn::Load(tag<T>(), address(r, c)); }
  HWY_INLINE void set(std::int64_t r, std::int64_t c, vec<T> x) const { hn::Store(x, tag<T>(), address(r, c)); }
};

// Calls f(constant, first matrix, number of matrices) for each vector of matrices.
template <class T, class F>
HWY_INLINE void EachVector(stack s, const F& f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag<T>()));
  for (std::int64_t i = 0; i < s.count; i += lanes) f(i, std::min(lanes, s.count - i));
}

// Calls Body<T, N>::run(arguments) with the number of rows as a constant for usual sizes.
template <template <class, int> class Body, class T, class... Args>
HWY_INLINE void BySize(std::int64_t n, Args... args) {
  switch (n) {
    case 2: return Body<T, 2>::run(args...);
    case 3: return Body<T, 3>::run(args...);
    case 4: return Body<T, 4>::run(args...);
    case 6: return Body<T, 6>::run(args...);
    case 8: return Body<T, 8>::run(args...);
    default: return Body<T, 0>::run(args...);
  }
}

}  // namespace kerngrad::linalg::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // KERNGRAD_KERNELS_LINALG_LANES_INL_H_
