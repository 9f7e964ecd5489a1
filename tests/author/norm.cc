// SPDX-License-Identifier: Apache-2.0
#define KERNGRAD_FILE "norm.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
// The square root of the sum of squares.
struct Norm {
  template <class T>
  static T identity() {
    return 0;
  }
  template <class D, class V>
  static V map(D, V x) {
    return hn::Mul(x, x);
  }
  template <class D, class V>
  static V combine(D, V a, V b) {
    return hn::Add(a, b);
  }
  template <class D, class V>
  static V finish(D, V all, std::int64_t) {
    return hn::Sqrt(all);
  }
};
KERNGRAD_REDUCTION(Norm, float32)
KERNGRAD_REDUCTION(Norm, float64)
KERNGRAD_END
