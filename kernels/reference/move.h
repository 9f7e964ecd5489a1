// SPDX-License-Identifier: Apache-2.0
// Scalar reference of the kernels that move elements; geometries and list as in kernels/move.h and kernels/move.inc.
#pragma once
#include "kernels/move.h"

namespace kerngrad::kernels::reference {

#define KG_MOVE(Name, types) types(KG_DECLARE_REFERENCE, Name)
#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
#include "kernels/move.inc"
#undef KG_MOVE
#undef KG_DECLARE_REFERENCE

inline constexpr entry move_reference[] = {
#define KG_MOVE_OP(Op, Name, types) types(KG_ENTRY_REFERENCE, (Op, Name))
#define KG_ENTRY_REFERENCE(names, type) KG_ENTRY_REFERENCE_OF(KG_MOVE_FIRST names, KG_MOVE_SECOND names, type)
#define KG_ENTRY_REFERENCE_OF(op, name, type) KG_ENTRY_REFERENCE_ROW(op, name, type)
#define KG_ENTRY_REFERENCE_ROW(op, name, type) {#op, dtype::type, name##_##type, nullptr, nullptr},
#define KG_MOVE_FIRST(op, name) op
#define KG_MOVE_SECOND(op, name) name
#include "kernels/move.inc"
};
#undef KG_MOVE_OP
#undef KG_ENTRY_REFERENCE
#undef KG_ENTRY_REFERENCE_OF
#undef KG_ENTRY_REFERENCE_ROW
#undef KG_MOVE_FIRST
#undef KG_MOVE_SECOND

}  // namespace kerngrad::kernels::reference
