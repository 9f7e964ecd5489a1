// SPDX-License-Identifier: Apache-2.0
// Texts are compared one by one: what takes time is to reach their bytes, which vectors do no sooner.
#include "kernels/elementwise/texts.h"

namespace kerngrad::kernels {
namespace {

template <class Holds>
void compare_flat(const void* a, const void* b, void* y, std::size_t n, Holds holds) {
  const text *left = static_cast<const text*>(a), *right = static_cast<const text*>(b);
  auto* to = static_cast<bool*>(y);
  for (std::size_t i = 0; i < n; ++i) to[i] = holds(left[i], right[i]);
}

// Runs along the innermost axis, whose strides are 0 or 1; the axes around it are counted as an odometer is.
template <class Holds>
void compare_broadcast(const void* const* in, void* const* out, const void* geometry, Holds holds) {
  const auto& g = *static_cast<const broadcast_geometry*>(geometry);
  const int last = g.rank - 1;
  const auto *a = static_cast<const text*>(in[0]), *b = static_cast<const text*>(in[1]);
  auto* y = static_cast<bool*>(out[0]);
  for (int axis = 0; axis < g.rank; ++axis)
    if (g.dims[axis] == 0) return;
  std::int64_t at[max_rank] = {};
  for (;;) {
    for (std::int64_t i = 0; i < g.dims[last]; ++i) *y++ = holds(a[i * g.strides[0][last]], b[i * g.strides[1][last]]);
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      a += g.strides[0][axis], b += g.strides[1][axis];
      if (++at[axis] < g.dims[axis]) break;
      a -= g.strides[0][axis] * g.dims[axis], b -= g.strides[1][axis] * g.dims[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace

#define KG_DEFINE_TEXTS(Name, condition)                                                      \
  void Name##_text(const void* a, const void* b, void* y, std::size_t n) {                    \
    compare_flat(a, b, y, n, [](text l, text r) { return condition; });                       \
  }                                                                                           \
  void Name##_text_broadcast(const void* const* in, void* const* out, const void* geometry) { \
    compare_broadcast(in, out, geometry, [](text l, text r) { return condition; });           \
  }
KG_DEFINE_TEXTS(Equal, l == r)
KG_DEFINE_TEXTS(NotEqual, !(l == r))
KG_DEFINE_TEXTS(Greater, compare(l, r) > 0)
KG_DEFINE_TEXTS(GreaterEqual, compare(l, r) >= 0)
KG_DEFINE_TEXTS(Less, compare(l, r) < 0)
KG_DEFINE_TEXTS(LessEqual, compare(l, r) <= 0)

}  // namespace kerngrad::kernels
