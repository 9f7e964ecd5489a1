// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/text/ngrams.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/text/ngrams.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_TEXT_NGRAMS(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_TEXT_NGRAMS_KERNELS(KG_DECLARE_TEXT_NGRAMS)
#undef KG_DECLARE_TEXT_NGRAMS

inline constexpr entry text_ngrams_reference[] = {
#define KG_ENTRY_TEXT_NGRAMS(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_TEXT_NGRAMS_KERNELS(KG_ENTRY_TEXT_NGRAMS)
#undef KG_ENTRY_TEXT_NGRAMS
};

}  // namespace kerngrad::kernels::reference
