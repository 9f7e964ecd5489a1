// SPDX-License-Identifier: Apache-2.0
// Scalar reference of the kernels that create elements; see kernels/create/create.h and kernels/create/create.inc.
#pragma once
#include "kernels/create/create.h"

namespace kerngrad::kernels::reference {

#define KG_CREATE(Name, types) types(KG_DECLARE_REFERENCE, Name)
#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
#include "kernels/create/create.inc"
#undef KG_CREATE
#undef KG_DECLARE_REFERENCE

inline constexpr entry create_kernels[] = {
#define KG_CREATE(Name, types) types(KG_KERNEL_REFERENCE, Name)
#define KG_KERNEL_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/create/create.inc"
};
#undef KG_CREATE
#undef KG_KERNEL_REFERENCE

inline constexpr entry create_reference[] = {
#define KG_CREATE_OP(Op, Name, types) types(KG_ENTRY_REFERENCE, (#Op, #Name))
#define KG_ENTRY_REFERENCE(names, type) serving(create_kernels, served_op names, dtype::type),
#include "kernels/create/create.inc"
};
#undef KG_CREATE_OP
#undef KG_ENTRY_REFERENCE

}  // namespace kerngrad::kernels::reference
