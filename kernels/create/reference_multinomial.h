// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/create/multinomial.h once more, in plain C++: oracle of the tests and fallback.
#pragma once
#include "kernels/create/multinomial.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_MULTINOMIAL(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_FLOATS(KG_DECLARE_MULTINOMIAL, Multinomial)
#undef KG_DECLARE_MULTINOMIAL

inline constexpr entry multinomial_reference[] = {
#define KG_ENTRY_MULTINOMIAL(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FLOATS(KG_ENTRY_MULTINOMIAL, Multinomial)
#undef KG_ENTRY_MULTINOMIAL
};

}  // namespace kerngrad::kernels::reference
