// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/image/warp.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/image/warp.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_WARP(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_WARP_KERNELS(KG_DECLARE_WARP)
#undef KG_DECLARE_WARP

inline constexpr entry warp_reference[] = {
#define KG_ENTRY_WARP(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_WARP_KERNELS(KG_ENTRY_WARP)
#undef KG_ENTRY_WARP
};

}  // namespace kerngrad::kernels::reference
