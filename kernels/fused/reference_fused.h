// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/fused/fused.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/fused/fused.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_FUSED(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_FUSED_KERNELS(KG_DECLARE_FUSED)
#undef KG_DECLARE_FUSED

inline constexpr entry fused_reference[] = {
#define KG_ENTRY_FUSED(op, type) {op, dtype::type, FinishLayer_##type, nullptr, nullptr},
#define KG_ENTRIES_FUSED(Name, type) KG_FUSED_OPS(KG_ENTRY_FUSED, type)
    KG_FUSED_KERNELS(KG_ENTRIES_FUSED)
#undef KG_ENTRIES_FUSED
#undef KG_ENTRY_FUSED
};

}  // namespace kerngrad::kernels::reference
