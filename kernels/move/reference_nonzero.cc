// SPDX-License-Identifier: Apache-2.0
// The elements that are not zero, one by one: the place of each is taken apart into indices.
#include "kernels/move/reference_nonzero.h"

#include <cstdint>

namespace kerngrad::kernels::reference {
namespace {

template <class T>
void nonzero(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const nonzero_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  std::int32_t* y = static_cast<std::int32_t*>(out[0]);
  std::int64_t size = 1, count = 0;
  for (int axis = 0; axis < g.rank; ++axis) size *= g.dims[axis];
  for (std::int64_t i = 0; i < size; ++i) {
    if (x[i] == T{0}) continue;
    std::int64_t left = i;
    for (int axis = g.rank - 1; axis >= 0; left /= g.dims[axis], --axis)
      y[count * g.rank + axis] = static_cast<std::int32_t>(left % g.dims[axis]);
    ++count;
  }
  *g.count = count;
}

}  // namespace

#define KG_DEFINE_NONZERO(Name, type)                                                 \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    nonzero<storage_t<dtype::type>>(in, out, geometry);                               \
  }
KG_ORDERED(KG_DEFINE_NONZERO, NonZero)
#undef KG_DEFINE_NONZERO

}  // namespace kerngrad::kernels::reference
