// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/elementwise/select.h"

namespace kerngrad::kernels::reference {
namespace {

// Finds the index of each result by division; the strides may be anything.
template <dtype Type>
void Select(const broadcast_geometry& g, const std::uint8_t* flags, const std::byte* t, const std::byte* e,
            std::byte* y) {
  constexpr std::size_t size = sizeof(storage_t<Type>);
  std::int64_t total = 1;
  for (int axis = 0; axis < g.rank; ++axis) total *= g.dims[axis];
  for (std::int64_t index = 0; index < total; ++index) {
    std::int64_t rest = index, at[3] = {};
    for (int axis = g.rank - 1; axis >= 0; --axis) {
      for (int k = 0; k < 3; ++k) at[k] += rest % g.dims[axis] * g.strides[k][axis];
      rest /= g.dims[axis];
    }
    const bool chosen = flags[at[0]] != 0;
    std::memmove(y + static_cast<std::size_t>(index) * size,
                 (chosen ? t : e) + (chosen ? at[1] : at[2]) * static_cast<std::int64_t>(size), size);
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SELECT_KERNELS)

}  // namespace kerngrad::kernels::reference
