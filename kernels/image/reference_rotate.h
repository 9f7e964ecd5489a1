// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/image/rotate.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/image/rotate.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_ROTATE(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_ROTATE_KERNELS(KG_DECLARE_ROTATE)
#undef KG_DECLARE_ROTATE

inline constexpr entry rotate_kernels[] = {
#define KG_KERNEL_ROTATE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_ROTATE_KERNELS(KG_KERNEL_ROTATE)
#undef KG_KERNEL_ROTATE
};
inline constexpr entry rotate_reference[] = {
#define KG_ENTRY_ROTATE(Name, type) serving(rotate_kernels, served_op{#Name, #Name}, dtype::type),
    KG_ALL(KG_ENTRY_ROTATE, RotateWithOffset) KG_FLOATS(KG_ENTRY_ROTATE, RotateWithOffsetGrad)
#undef KG_ENTRY_ROTATE
};

}  // namespace kerngrad::kernels::reference
