// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/matmul/matmul.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/matmul/matmul.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_MATMUL(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_MATMUL_KERNELS(KG_DECLARE_MATMUL)
#undef KG_DECLARE_MATMUL

inline constexpr entry matmul_reference[] = {
#define KG_ENTRY_MATMUL(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_MATMUL_KERNELS(KG_ENTRY_MATMUL)
#undef KG_ENTRY_MATMUL
};

}  // namespace kerngrad::kernels::reference
