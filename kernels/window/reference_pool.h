// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/window/pool.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/window/pool.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_POOL(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_POOL_KERNELS(KG_DECLARE_POOL)
#undef KG_DECLARE_POOL

inline constexpr entry pool_reference[] = {
#define KG_ENTRY_POOL(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_POOL_KERNELS(KG_ENTRY_POOL)
#undef KG_ENTRY_POOL
};

}  // namespace kerngrad::kernels::reference
