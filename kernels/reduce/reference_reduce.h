// SPDX-License-Identifier: Apache-2.0
// Scalar reference of the reductions; geometries and list as in kernels/reduce/reduce.h and kernels/reduce/reduce.inc.
#pragma once
#include "kernels/reduce/reduce.h"

namespace kerngrad::kernels::reference {

#define KG_REDUCE(Name, types, shape) types(KG_DECLARE_REFERENCE, Name)
#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
#include "kernels/reduce/reduce.inc"
#undef KG_REDUCE
#undef KG_DECLARE_REFERENCE

inline constexpr entry reduce_reference[] = {
#define KG_REDUCE(Name, types, shape) types(KG_ENTRY_REFERENCE, Name)
#define KG_ENTRY_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/reduce/reduce.inc"
};
#undef KG_REDUCE
#undef KG_ENTRY_REFERENCE

}  // namespace kerngrad::kernels::reference
