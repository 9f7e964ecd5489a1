// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/text/split.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/text/split.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_TEXT_SPLIT(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_TEXT_SPLIT_KERNELS(KG_DECLARE_TEXT_SPLIT)
#undef KG_DECLARE_TEXT_SPLIT

inline constexpr entry text_split_reference[] = {
#define KG_ENTRY_TEXT_SPLIT(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_TEXT_SPLIT_KERNELS(KG_ENTRY_TEXT_SPLIT)
#undef KG_ENTRY_TEXT_SPLIT
};

}  // namespace kerngrad::kernels::reference
