// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/norm/response.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/norm/response.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_RESPONSE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_RESPONSES(KG_DECLARE_RESPONSE)
#undef KG_DECLARE_RESPONSE

inline constexpr entry response_reference[] = {
#define KG_ENTRY_RESPONSE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_RESPONSES(KG_ENTRY_RESPONSE)};
#undef KG_ENTRY_RESPONSE

}  // namespace kerngrad::kernels::reference
