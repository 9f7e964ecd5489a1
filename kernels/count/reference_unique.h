// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/count/unique.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/count/unique.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_UNIQUE(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_UNIQUE_KERNELS(KG_DECLARE_UNIQUE)
#undef KG_DECLARE_UNIQUE

inline constexpr entry unique_reference[] = {
#define KG_ENTRY_UNIQUE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_UNIQUE_KERNELS(KG_ENTRY_UNIQUE)
#undef KG_ENTRY_UNIQUE
};

}  // namespace kerngrad::kernels::reference
