// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/indices.h"

#include <type_traits>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// Each index of the result by itself, with the elements of a step along its axis.
template <dtype Type, class T = storage_t<Type>>
void SparseReshape(const sparse_reshape_geometry& g, const T* x, T* y) {
  const auto step = [](const std::int64_t* dims, std::int64_t rank, std::int64_t axis) {
    std::int64_t elements = 1;
    for (std::int64_t after = axis + 1; after < rank; ++after) elements *= dims[after];
    return elements;
  };
  for (std::int64_t i = 0; i < g.count; ++i) {
    std::int64_t element = 0;
    for (std::int64_t axis = 0; axis < g.in_rank; ++axis)
      element += x[i * g.in_rank + axis] * step(g.in_dims, g.in_rank, axis);
    for (std::int64_t axis = 0; axis < g.out_rank; ++axis)
      y[i * g.out_rank + axis] = static_cast<T>(element / step(g.out_dims, g.out_rank, axis) % g.out_dims[axis]);
  }
}

template <dtype Type, class T = storage_t<Type>>
void RaggedRange(const ragged_range_geometry& g, const T* starts, const void*, const T* deltas, void*, T* y) {
  __extension__ using whole = __int128;
  using W = std::conditional_t<is_float<T>, long double, whole>;
  for (std::int64_t r = 0; r < g.rows; ++r)
    for (std::int32_t j = 0; g.splits[r] + j < g.splits[r + 1]; ++j) {
      const W start = starts[r * g.start_step], delta = deltas[r * g.delta_step];
      y[g.splits[r] + j] = static_cast<T>(start + W(j) * delta);
    }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SPARSE_INDICES_KERNELS)

}  // namespace kerngrad::kernels::reference
