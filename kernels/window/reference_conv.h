// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/window/conv.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/window/conv.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_CONV(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_CONV_KERNELS(KG_DECLARE_CONV)
#undef KG_DECLARE_CONV

inline constexpr entry conv_reference[] = {
#define KG_ENTRY_CONV(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_CONV_KERNELS(KG_ENTRY_CONV)
#undef KG_ENTRY_CONV
};

}  // namespace kerngrad::kernels::reference
