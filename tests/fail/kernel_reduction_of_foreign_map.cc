// SPDX-License-Identifier: Apache-2.0
// The map of a reduction with other parameters than it is called with: it must not be passed over.
// error: the map of a reduction is `template <class D, class V> static V map(D d, V x)`
#define KERNGRAD_FILE "kernel_reduction_of_foreign_map.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
struct Total {
  template <class T>
  static T identity() {
    return 0;
  }
#ifdef TWIN
  template <class D, class V>
  static V map(D, V x) {
    return hn::Mul(x, x);
  }
#else
  template <class V>
  static V map(V x) {
    return hn::Mul(x, x);
  }
#endif
  template <class D, class V>
  static V combine(D, V a, V b) {
    return hn::Add(a, b);
  }
};
KERNGRAD_REDUCTION(Total, float32)
KERNGRAD_END
