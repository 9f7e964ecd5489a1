// SPDX-License-Identifier: Apache-2.0
// Indices of sparse tensors in another shape, and ranges. Vectors have no division of integers, so that SparseReshape
// goes index by index; it divides numbers of 32 bits where the shape has no more elements.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sparse/indices.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/sparse/indices.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Number: an unsigned integer that holds the number of elements.
template <class Number, class T>
HWY_INLINE void reshape_indices(const sparse_reshape_geometry& g, const T* x, T* y) {
  for (std::int64_t i = 0; i < g.count; ++i, x += g.in_rank, y += g.out_rank) {
    Number element = 0;
    for (std::int64_t axis = 0; axis < g.in_rank; ++axis)
      element = element * static_cast<Number>(g.in_dims[axis]) + static_cast<Number>(x[axis]);
    for (std::int64_t axis = g.out_rank - 1; axis > 0; --axis) {
      const Number size = static_cast<Number>(g.out_dims[axis]), rest = element / size;
      y[axis] = static_cast<T>(element - rest * size);
      element = rest;
    }
    if (g.out_rank > 0) y[0] = static_cast<T>(element);
  }
}

template <dtype Type, class T = storage_t<Type>>
void SparseReshape(const sparse_reshape_geometry& g, const T* x, T* y) {
  if (std::equal(g.in_dims, g.in_dims + g.in_rank, g.out_dims, g.out_dims + g.out_rank)) {
    std::copy_n(x, g.count * g.in_rank, y);
    return;
  }
  std::int64_t elements = 1;
  for (std::int64_t axis = 0; axis < g.in_rank; ++axis) elements *= g.in_dims[axis];
  if (elements <= std::int64_t{UINT32_MAX}) reshape_indices<std::uint32_t>(g, x, y);
  else reshape_indices<std::uint64_t>(g, x, y);
}

/// y[j] = start + j * delta.
template <class T>
HWY_INLINE void range_run(T start, T delta, T* y, std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    const hn::ScalableTag<double> d;
    const hn::Rebind<T, decltype(d)> to;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const double first = static_cast<double>(start), step = static_cast<double>(delta);
    std::int64_t j = 0;
    if (n >= lanes) {
      const auto base = hn::Set(d, first), slope = hn::Set(d, step), advance = hn::Set(d, static_cast<double>(lanes));
      auto index = hn::Iota(d, 0.0);
      for (; j + lanes <= n; j += lanes, index = hn::Add(index, advance)) {
        const auto value = hn::Add(base, hn::Mul(index, slope));
        if constexpr (std::is_same_v<T, double>) hn::StoreU(value, d, y + j);
        else hn::StoreU(hn::DemoteTo(to, value), to, y + j);
      }
    }
    double position = static_cast<double>(j);
    for (; j < n; ++j, position += 1) y[j] = static_cast<T>(first + position * step);
  } else {
    using U = std::make_unsigned_t<T>;
    U value = static_cast<U>(start);
    for (std::int64_t j = 0; j < n; ++j, value += static_cast<U>(delta)) y[j] = static_cast<T>(value);
  }
}

/// RaggedRange: one rounding more than the definition has. Reference: kernels/sparse/reference_indices.cc.
template <dtype Type, class T = storage_t<Type>>
void RaggedRange(const ragged_range_geometry& g, const T* starts, const void*, const T* deltas, void*, T* y) {
  for (std::int64_t r = 0; r < g.rows; ++r)
    range_run(starts[r * g.start_step], deltas[r * g.delta_step], y + g.splits[r],
              std::int64_t{g.splits[r + 1]} - g.splits[r]);
}

}  // namespace

KG_DEFINE_KERNELS(KG_SPARSE_INDICES_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_SPARSE_INDICES_KERNELS)
}  // namespace kerngrad::kernels
#endif
