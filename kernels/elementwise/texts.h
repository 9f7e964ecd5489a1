// SPDX-License-Identifier: Apache-2.0
// Entry points of the comparisons of texts: by their bytes, as numbers from 0 to 255, and of a text and a longer one
// that begins with it the first is less. For UTF-8 this is the order of the code points.
#pragma once
#include "kernels/elementwise/binary.h"

namespace kerngrad::kernels {

// X(kind, name, dtypes, condition on texts `l` and `r`)
#define KG_TEXT(X, Name) X(Name, text, any)
#define KG_TEXTS_KERNELS(X)                          \
  X(TEXT, Equal, KG_TEXT, l == r)                    \
  X(TEXT, NotEqual, KG_TEXT, !(l == r))              \
  X(TEXT, Greater, KG_TEXT, compare(l, r) > 0)       \
  X(TEXT, GreaterEqual, KG_TEXT, compare(l, r) >= 0) \
  X(TEXT, Less, KG_TEXT, compare(l, r) < 0)          \
  X(TEXT, LessEqual, KG_TEXT, compare(l, r) <= 0)

// One function serves every CPU target.
KG_DECLARE_LIST(texts, KG_TEXTS_KERNELS, KG_DECLARE_MAP2, KG_ENTRY_MAP)

}  // namespace kerngrad::kernels
