// SPDX-License-Identifier: Apache-2.0
// The same for pairs.
// error: a kernel per pair must be a lambda without captures or an empty functor
import kerngrad;
#include "outside_op.h"

kg::dtype f() {
  constexpr float by = 2;
#ifdef TWIN
  static_cast<void>(by);
  constexpr auto kernel = kg::per_pair<float>([](float a, float b) { return a * b; });
#else
  constexpr auto kernel = kg::per_pair<float>([by](float a, float b) { return a * b * by; });
#endif
  return kernel.type;
}
