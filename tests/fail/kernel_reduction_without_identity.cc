// SPDX-License-Identifier: Apache-2.0
// A reduction that says nothing of zero elements.
// error: a reduction wants `template <class T> static T identity()`, the value that combine leaves alone
#define KERNGRAD_FILE "kernel_reduction_without_identity.cc"
#include <kerngrad/kernel.h>

KERNGRAD_BEGIN(my)
struct Total {
#ifdef TWIN
  template <class T>
  static T identity() {
    return 0;
  }
#endif
  template <class D, class V>
  static V combine(D, V a, V b) {
    return hn::Add(a, b);
  }
};
KERNGRAD_REDUCTION(Total, float32)
KERNGRAD_END
