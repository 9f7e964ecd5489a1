// SPDX-License-Identifier: Apache-2.0
// Scalar reference of the kernels that move elements; geometries and list as in kernels/move/move.h and
// kernels/move/move.inc.
#pragma once
#include "kernels/move/move.h"

namespace kerngrad::kernels::reference {

#define KG_MOVE(Name, types) types(KG_DECLARE_REFERENCE, Name)
#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
#include "kernels/move/move.inc"
#undef KG_MOVE
#undef KG_DECLARE_REFERENCE

inline constexpr entry move_kernels[] = {
#define KG_MOVE(Name, types) types(KG_KERNEL_REFERENCE, Name)
#define KG_KERNEL_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/move/move.inc"
};
#undef KG_MOVE
#undef KG_KERNEL_REFERENCE

inline constexpr entry move_reference[] = {
#define KG_MOVE_OP(Op, Name, types) types(KG_ENTRY_REFERENCE, (#Op, #Name))
#define KG_ENTRY_REFERENCE(names, type) serving(move_kernels, served_op names, dtype::type),
#include "kernels/move/move.inc"
};
#undef KG_MOVE_OP
#undef KG_ENTRY_REFERENCE

}  // namespace kerngrad::kernels::reference
