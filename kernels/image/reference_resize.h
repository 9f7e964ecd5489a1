// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/image/resize.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/image/resize.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_RESIZE(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_RESIZE_KERNELS(KG_DECLARE_RESIZE, KG_DECLARE_RESIZE)
#undef KG_DECLARE_RESIZE

inline constexpr entry resize_kernels[] = {
#define KG_KERNEL_RESIZE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_RESIZE_KERNELS(KG_KERNEL_RESIZE, KG_KERNEL_RESIZE)
#undef KG_KERNEL_RESIZE
};

inline constexpr entry resize_reference[] = {
#define KG_ENTRY_RESIZE(Name, type) serving(resize_kernels, served_op{#Name, #Name}, dtype::type),
    KG_RESIZE_OPS(KG_ENTRY_RESIZE)
#undef KG_ENTRY_RESIZE
};

}  // namespace kerngrad::kernels::reference
