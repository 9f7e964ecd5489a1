// SPDX-License-Identifier: Apache-2.0
// Scalar reference of the random numbers; geometries and list as in kernels/create/random.h and
// kernels/create/random.inc.
#pragma once
#include "kernels/create/random.h"

namespace kerngrad::kernels::reference {

#define KG_RANDOM(Name, types) types(KG_DECLARE_REFERENCE, Name)
#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
#include "kernels/create/random.inc"
#undef KG_RANDOM
#undef KG_DECLARE_REFERENCE

inline constexpr entry random_reference[] = {
#define KG_RANDOM(Name, types) types(KG_ENTRY_REFERENCE, Name)
#define KG_ENTRY_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/create/random.inc"
};
#undef KG_RANDOM
#undef KG_ENTRY_REFERENCE

}  // namespace kerngrad::kernels::reference
