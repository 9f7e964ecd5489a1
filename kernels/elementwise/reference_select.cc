// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/reference_select.h"

#include <cstring>

#include "kernels/elementwise/binary.h"

namespace kerngrad::kernels::reference {
namespace {

// Walks every output index by division; the strides may be anything.
void select(const void* const* in, void* const* out, const void* geometry, std::size_t size) {
  const auto& g = *static_cast<const broadcast_geometry*>(geometry);
  std::int64_t total = 1;
  for (int axis = 0; axis < g.rank; ++axis) total *= g.dims[axis];
  for (std::int64_t index = 0; index < total; ++index) {
    std::int64_t rest = index, at[3] = {};
    for (int axis = g.rank - 1; axis >= 0; --axis) {
      for (int k = 0; k < 3; ++k) at[k] += rest % g.dims[axis] * g.strides[k][axis];
      rest /= g.dims[axis];
    }
    const int chosen = static_cast<const std::uint8_t*>(in[0])[at[0]] != 0 ? 1 : 2;
    std::memmove(static_cast<std::byte*>(out[0]) + static_cast<std::size_t>(index) * size,
                 static_cast<const std::byte*>(in[chosen]) + at[chosen] * static_cast<std::int64_t>(size), size);
  }
}

}  // namespace

#define KG_DEFINE(Name, type)                                                         \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    select(in, out, geometry, sizeof(storage_t<dtype::type>));                        \
  }
KG_SIZES(KG_DEFINE, Select)

}  // namespace kerngrad::kernels::reference
