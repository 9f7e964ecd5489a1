// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/elementwise/reference_maps.h"
#include "kernels/elementwise/select.h"

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type>
void Select(const broadcast_geometry& g, const std::uint8_t* flags, const std::byte* t, const std::byte* e,
            std::byte* y) {
  constexpr std::size_t size = sizeof(storage_t<Type>);
  walk<3>(g, [&](const std::int64_t* at, std::int64_t index) {
    const bool chosen = flags[at[0]] != 0;
    std::memmove(y + static_cast<std::size_t>(index) * size,
                 (chosen ? t : e) + (chosen ? at[1] : at[2]) * static_cast<std::int64_t>(size), size);
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SELECT_KERNELS)

}  // namespace kerngrad::kernels::reference
