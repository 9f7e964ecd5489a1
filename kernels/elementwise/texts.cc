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
void compare_broadcast(const broadcast_geometry& g, const text* a, const text* b, bool* y, Holds holds) {
  const int last = g.rank - 1;
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

#define KG_DEFINE_TEXTS(kind, Name, types, condition)                                                     \
  void Name##_text KG_FLAT2_PARAMETERS {                                                                  \
    compare_flat(a, b, y, n, [](text l, text r) { return condition; });                                   \
  }                                                                                                       \
  void Name##_text_run KG_RUN_PARAMETERS {                                                                \
    compare_broadcast(*static_cast<const broadcast_geometry*>(geometry), static_cast<const text*>(in[0]), \
                      static_cast<const text*>(in[1]), static_cast<bool*>(out[0]),                        \
                      [](text l, text r) { return condition; });                                          \
  }
KG_TEXTS_KERNELS(KG_DEFINE_TEXTS)

}  // namespace kerngrad::kernels
