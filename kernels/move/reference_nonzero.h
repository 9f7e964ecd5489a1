// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/move/nonzero.h once more, in plain C++: oracle of the tests and fallback.
#pragma once
#include "kernels/move/nonzero.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_NONZERO(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_ORDERED(KG_DECLARE_NONZERO, NonZero)
#undef KG_DECLARE_NONZERO

inline constexpr entry nonzero_reference[] = {
#define KG_ENTRY_NONZERO(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_ORDERED(KG_ENTRY_NONZERO, NonZero)
#undef KG_ENTRY_NONZERO
};

}  // namespace kerngrad::kernels::reference
