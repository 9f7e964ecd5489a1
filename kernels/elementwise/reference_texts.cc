// SPDX-License-Identifier: Apache-2.0
// Scalar definitions of the comparisons of texts: std::lexicographical_compare of unsigned bytes, and every element
// found by division.
#include <algorithm>

#include "kernels/elementwise/reference_maps.h"
#include "kernels/elementwise/texts.h"

namespace kerngrad::kernels::reference {
namespace {

bool comes_before(text a, text b) {
  const auto byte_before = [](char l, char r) { return static_cast<unsigned char>(l) < static_cast<unsigned char>(r); };
  return std::lexicographical_compare(a.data(), a.data() + a.size(), b.data(), b.data() + b.size(), byte_before);
}
bool Equal(text a, text b) { return !comes_before(a, b) && !comes_before(b, a); }
bool NotEqual(text a, text b) { return !Equal(a, b); }
bool Greater(text a, text b) { return comes_before(b, a); }
bool GreaterEqual(text a, text b) { return !comes_before(a, b); }
bool Less(text a, text b) { return comes_before(a, b); }
bool LessEqual(text a, text b) { return !comes_before(b, a); }

}  // namespace

KG_TEXTS_KERNELS(KG_DEFINE_PLAIN_MAP2)

}  // namespace kerngrad::kernels::reference
