// SPDX-License-Identifier: Apache-2.0
// Entry points of the comparisons of texts: by their bytes, as numbers from 0 to 255, and of a text and a longer one
// that begins with it the first is less. Of UTF-8 that is the order of the code points.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"

namespace kerngrad::kernels {

#define KG_TEXT_COMPARISONS(X) X(Equal) X(NotEqual) X(Greater) X(GreaterEqual) X(Less) X(LessEqual)

#define KG_DECLARE_TEXTS(Name)                                            \
  void Name##_text(const void* a, const void* b, void* y, std::size_t n); \
  void Name##_text_broadcast(const void* const* in, void* const* out, const void* geometry);
#define KG_ENTRY_TEXTS(Name) {#Name, dtype::text, Name##_text_broadcast, nullptr, Name##_text},

KG_TEXT_COMPARISONS(KG_DECLARE_TEXTS)

/// As binary_simd, one function for every target.
inline constexpr entry texts_simd[] = {KG_TEXT_COMPARISONS(KG_ENTRY_TEXTS)};

namespace reference {
KG_TEXT_COMPARISONS(KG_DECLARE_TEXTS)
inline constexpr entry texts_reference[] = {KG_TEXT_COMPARISONS(KG_ENTRY_TEXTS)};
}  // namespace reference

#undef KG_ENTRY_TEXTS
#undef KG_DECLARE_TEXTS

}  // namespace kerngrad::kernels
