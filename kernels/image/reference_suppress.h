// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/image/suppress.h once more, in plain C++ from the definition: oracle of the tests and
// fallback.
#pragma once
#include "kernels/image/suppress.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_SUPPRESS(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_SUPPRESS_KERNELS(KG_DECLARE_SUPPRESS)
#undef KG_DECLARE_SUPPRESS

inline constexpr entry suppress_reference[] = {
#define KG_ENTRY_SUPPRESS(Name, type) {#Name, dtype::type, NonMaxSuppression_##type, nullptr, nullptr},
    KG_SUPPRESS_OPS(KG_ENTRY_SUPPRESS)
#undef KG_ENTRY_SUPPRESS
};

}  // namespace kerngrad::kernels::reference
