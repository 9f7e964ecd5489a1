// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/text/hash.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/text/hash.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_TEXT_HASH(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_TEXT_HASH_KERNELS(KG_DECLARE_TEXT_HASH)
#undef KG_DECLARE_TEXT_HASH

inline constexpr entry text_hash_reference[] = {
#define KG_ENTRY_TEXT_HASH(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_TEXT_HASH_KERNELS(KG_ENTRY_TEXT_HASH)
#undef KG_ENTRY_TEXT_HASH
};

}  // namespace kerngrad::kernels::reference
