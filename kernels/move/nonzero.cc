// SPDX-License-Identifier: Apache-2.0
// The elements that are not zero. Writes the indices of each row of the last axis in turn: vectors of consecutive
// indices, compressed by a mask. With more axes, the indices of a run of the row are interleaved with the indices of
// the row.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move/nonzero.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/move/nonzero.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements of a row that are looked at before their indices are written.
constexpr std::int64_t run_length = 1024;

/// Writes the indices of the elements of a vector at x that are not zero to y and returns their number. `index` has the
/// indices of all elements. Writes whole vectors: CPUs with AVX-512 may take ten times as long to store some lanes.
template <class T, class D>
HWY_INLINE std::int64_t KeepIndices(D d, const T* x, hn::Vec<D> index, std::int32_t* y) {
  // Ne is false for NaN.
  const hn::Rebind<T, D> elements;
  if constexpr (sizeof(T) == 8) {  // there is no narrower mask of such a one
    const auto kept = hn::Not(hn::Eq(hn::LoadU(elements, x), hn::Zero(elements)));
    std::uint8_t bits[8];
    hn::StoreMaskBits(elements, kept, bits);
    hn::StoreU(hn::CompressBits(index, bits), d, y);
    return static_cast<std::int64_t>(hn::CountTrue(elements, kept));
  } else {
    const auto kept = [&]() HWY_ATTR {
      if constexpr (sizeof(T) == 4)
        return hn::Not(hn::RebindMask(d, hn::Eq(hn::LoadU(elements, x), hn::Zero(elements))));
      else return hn::Not(hn::Eq(hn::PromoteTo(d, hn::LoadU(elements, x)), hn::Zero(d)));
    }();
    hn::StoreU(hn::Compress(index, kept), d, y);
    return static_cast<std::int64_t>(hn::CountTrue(d, kept));
  }
}

/// True if kCount vectors of bytes at x are 0.
template <int kCount, class D>
HWY_INLINE bool AreZeros(D d, const std::uint8_t* x) {
  auto any = hn::LoadU(d, x);
  for (int i = 1; i < kCount; ++i) any = hn::Or(any, hn::LoadU(d, x + static_cast<std::size_t>(i) * hn::Lanes(d)));
  return hn::AllTrue(d, hn::Eq(any, hn::Zero(d)));
}

/// The indices from `first` on of the elements of x[0..n) that are not zero, to y, where there is room for n; gives how
/// many there are.
template <class T>
HWY_INLINE std::int64_t Indices(const T* HWY_RESTRICT x, std::int64_t n, std::int32_t first,
                                std::int32_t* HWY_RESTRICT y) {
  // As many indices as there are elements in a vector of 8 bytes each, or of 4.
  using Lane = std::conditional_t<sizeof(T) == 8, T, float>;
  const hn::Rebind<std::int32_t, hn::ScalableTag<Lane>> d;
  const hn::ScalableTag<std::uint8_t> bytes;
  const std::int64_t width = static_cast<std::int64_t>(hn::Lanes(d));
  // Blocks of zeros are passed over: one vector of bytes, or four of floats.
  constexpr int wide = sizeof(T) == 1 ? 1 : 4;
  const std::int64_t block = wide * static_cast<std::int64_t>(hn::Lanes(bytes) / sizeof(T));
  const auto step = hn::Set(d, static_cast<std::int32_t>(width));
  std::int64_t i = 0, count = 0;
  // A whole vector is written from `count` on, which is i at most.
  while (i + block <= n) {
    if (AreZeros<wide>(bytes, reinterpret_cast<const std::uint8_t*>(x + i))) {
      i += block;
      continue;
    }
    auto index = hn::Iota(d, first + static_cast<std::int32_t>(i));
    for (const std::int64_t end = i + block; i < end; i += width, index = hn::Add(index, step))
      count += KeepIndices(d, x + i, index, y + count);
  }
  for (; i < n; ++i) {  // without a branch, which would be mispredicted
    y[count] = first + static_cast<std::int32_t>(i);
    count += x[i] != T{0};
  }
  return count;
}

/// `count` rows of indices: those in `row` before the last one.
HWY_INLINE void WriteRows(const std::int32_t* HWY_RESTRICT last_indices, std::int64_t count, const std::int32_t* row,
                          int rank, std::int32_t* HWY_RESTRICT y) {
  const hn::ScalableTag<std::int32_t> d;
  const std::int64_t width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto index = [&](int axis) HWY_ATTR { return hn::Set(d, row[axis]); };
  std::int64_t i = 0;
  if (rank <= 4)
    for (; i + width <= count; i += width, y += rank * width) {
      const auto last = hn::LoadU(d, last_indices + i);
      if (rank == 2) hn::StoreInterleaved2(index(0), last, d, y);
      else if (rank == 3) hn::StoreInterleaved3(index(0), index(1), last, d, y);
      else hn::StoreInterleaved4(index(0), index(1), index(2), last, d, y);
    }
  for (; i < count; ++i, y += rank) {
    std::copy_n(row, rank - 1, y);
    y[rank - 1] = last_indices[i];
  }
}

/// Exact. Reference: kernels/move/reference_nonzero.cc.
template <dtype Type, class T = storage_t<Type>>
void NonZero(const nonzero_geometry& g, const T* x, std::int32_t* y) {
  const std::int64_t columns = g.dims[g.rank - 1];
  if (g.rank == 1) {
    *g.count = Indices(x, columns, 0, y);
    return;
  }
  std::int64_t rows = 1, count = 0;
  for (int axis = 0; axis + 1 < g.rank; ++axis) rows *= g.dims[axis];
  std::int32_t row[max_rank] = {}, last_indices[run_length];
  for (std::int64_t r = 0; r < rows; ++r, x += columns) {
    for (std::int64_t begin = 0; begin < columns; begin += run_length) {
      const std::int64_t found =
          Indices(x + begin, std::min(run_length, columns - begin), static_cast<std::int32_t>(begin), last_indices);
      WriteRows(last_indices, found, row, g.rank, y + count * g.rank);
      count += found;
    }
    for (int axis = g.rank - 2; axis >= 0 && ++row[axis] == g.dims[axis]; --axis) row[axis] = 0;
  }
  *g.count = count;
}

}  // namespace

KG_DEFINE_KERNELS(KG_NONZERO_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_NONZERO_KERNELS)
}  // namespace kerngrad::kernels
#endif
