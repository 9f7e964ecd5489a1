// SPDX-License-Identifier: Apache-2.0
// Scalar definitions of the comparisons of texts: std::lexicographical_compare of unsigned bytes, and every element
// found by division.
#include <algorithm>

#include "kernels/common/reference_scalar.h"
#include "kernels/elementwise/texts.h"

namespace kerngrad::kernels::reference {
namespace {

bool comes_before(text a, text b) {
  const auto byte_before = [](char l, char r) { return static_cast<unsigned char>(l) < static_cast<unsigned char>(r); };
  return std::lexicographical_compare(a.data(), a.data() + a.size(), b.data(), b.data() + b.size(), byte_before);
}
bool is_less(text a, text b) { return comes_before(a, b); }
bool is_greater(text a, text b) { return comes_before(b, a); }
bool is_equal(text a, text b) { return !comes_before(a, b) && !comes_before(b, a); }

template <class Holds>
void walk_texts(const broadcast_geometry& g, const void* a, const void* b, void* y, Holds holds) {
  std::int64_t total = 1;
  for (int axis = 0; axis < g.rank; ++axis) total *= g.dims[axis];
  for (std::int64_t index = 0; index < total; ++index) {
    std::int64_t rest = index, i = 0, j = 0;
    for (int axis = g.rank - 1; axis >= 0; --axis) {
      const std::int64_t at = rest % g.dims[axis];
      rest /= g.dims[axis];
      i += at * g.strides[0][axis];
      j += at * g.strides[1][axis];
    }
    put(y, index, static_cast<bool>(holds(get<text>(a, i), get<text>(b, j))));
  }
}

}  // namespace

#define KG_DEFINE_TEXTS(Name, condition)                                                \
  void Name##_text KG_FLAT2_PARAMETERS {                                                \
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i) {                   \
      const text l = get<text>(a, i), r = get<text>(b, i);                              \
      put(y, i, static_cast<bool>(condition));                                          \
    }                                                                                   \
  }                                                                                     \
  void Name##_text_run KG_RUN_PARAMETERS {                                              \
    walk_texts(*static_cast<const broadcast_geometry*>(geometry), in[0], in[1], out[0], \
               [](text l, text r) { return condition; });                               \
  }
KG_DEFINE_TEXTS(Equal, is_equal(l, r))
KG_DEFINE_TEXTS(NotEqual, !is_equal(l, r))
KG_DEFINE_TEXTS(Greater, is_greater(l, r))
KG_DEFINE_TEXTS(GreaterEqual, !is_less(l, r))
KG_DEFINE_TEXTS(Less, is_less(l, r))
KG_DEFINE_TEXTS(LessEqual, !is_greater(l, r))

}  // namespace kerngrad::kernels::reference
