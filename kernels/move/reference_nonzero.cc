// SPDX-License-Identifier: Apache-2.0
// The elements that are not zero, one by one: the position of each is taken apart into indices.
#include "kernels/move/nonzero.h"

#include <cstdint>

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void NonZero(const nonzero_geometry& g, const T* x, std::int32_t* y) {
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

KG_DEFINE_PLAIN_KERNELS(KG_NONZERO_KERNELS)

}  // namespace kerngrad::kernels::reference
