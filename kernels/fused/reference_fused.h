// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/fused/fused.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/fused/fused.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_FUSED(type) void FinishLayer_##type(const void* const* in, void* const* out, const void* geometry);
KG_FUSED_TYPES(KG_DECLARE_FUSED)
#undef KG_DECLARE_FUSED

inline constexpr entry fused_reference[] = {
#define KG_ENTRY_FUSED(op, type) {op, dtype::type, FinishLayer_##type, nullptr, nullptr},
#define KG_ENTRIES_FUSED(type) KG_FUSED_OPS(KG_ENTRY_FUSED, type)
    KG_FUSED_TYPES(KG_ENTRIES_FUSED)
#undef KG_ENTRIES_FUSED
#undef KG_ENTRY_FUSED
};

}  // namespace kerngrad::kernels::reference
