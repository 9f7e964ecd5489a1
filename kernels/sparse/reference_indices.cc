// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/reference_indices.h"

#include <type_traits>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// Each index of the result by itself, with the elements of a step along its axis.
template <class T>
void SparseReshape(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const sparse_reshape_geometry*>(geometry);
  const auto step = [](const std::int64_t* dims, std::int64_t rank, std::int64_t axis) {
    std::int64_t elements = 1;
    for (std::int64_t after = axis + 1; after < rank; ++after) elements *= dims[after];
    return elements;
  };
  for (std::int64_t i = 0; i < g.count; ++i) {
    std::int64_t element = 0;
    for (std::int64_t axis = 0; axis < g.in_rank; ++axis)
      element += static_cast<const T*>(in[0])[i * g.in_rank + axis] * step(g.in_dims, g.in_rank, axis);
    for (std::int64_t axis = 0; axis < g.out_rank; ++axis)
      static_cast<T*>(out[0])[i * g.out_rank + axis] =
          static_cast<T>(element / step(g.out_dims, g.out_rank, axis) % g.out_dims[axis]);
  }
}

template <class T>
void RaggedRange(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const ragged_range_geometry*>(geometry);
  __extension__ using whole = __int128;
  using W = std::conditional_t<is_float<T>, long double, whole>;
  for (std::int64_t r = 0; r < g.rows; ++r)
    for (std::int32_t j = 0; g.splits[r] + j < g.splits[r + 1]; ++j) {
      const W start = static_cast<const T*>(in[0])[r * g.start_step],
              delta = static_cast<const T*>(in[2])[r * g.delta_step];
      static_cast<T*>(out[1])[g.splits[r] + j] = static_cast<T>(start + W(j) * delta);
    }
}

}  // namespace

#define KG_DEFINE_INDICES(Name, type)                                                 \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_SPARSE_INDICES_KERNELS(KG_DEFINE_INDICES)
#undef KG_DEFINE_INDICES

}  // namespace kerngrad::kernels::reference
