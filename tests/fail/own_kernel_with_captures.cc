// SPDX-License-Identifier: Apache-2.0
// A kernel that captures: its code has to stand alone.
// error: a kernel per element must be a lambda without captures or an empty functor
import kerngrad;
#include "outside_op.h"

kg::dtype f() {
  constexpr float by = 2;
#ifdef TWIN
  static_cast<void>(by);
  constexpr auto kernel = kg::per_element<float>([](float x) { return x * 2; });
#else
  constexpr auto kernel = kg::per_element<float>([by](float x) { return x * by; });
#endif
  return kernel.type;
}
