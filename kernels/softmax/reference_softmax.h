// SPDX-License-Identifier: Apache-2.0
// Scalar reference of the softmax family; geometries and list as in kernels/softmax/softmax.h and
// kernels/softmax/softmax.inc.
#pragma once
#include "kernels/softmax/softmax.h"

namespace kerngrad::kernels::reference {

#define KG_SOFTMAX(Name, types) types(KG_DECLARE_REFERENCE, Name)
#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
#include "kernels/softmax/softmax.inc"
#undef KG_SOFTMAX
#undef KG_DECLARE_REFERENCE

inline constexpr entry softmax_reference[] = {
#define KG_SOFTMAX(Name, types) types(KG_ENTRY_REFERENCE, Name)
#define KG_ENTRY_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/softmax/softmax.inc"
};
#undef KG_SOFTMAX
#undef KG_ENTRY_REFERENCE

}  // namespace kerngrad::kernels::reference
