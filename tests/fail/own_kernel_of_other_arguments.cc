// SPDX-License-Identifier: Apache-2.0
// A kernel per element that takes a tensor.
// error: a kernel per element must take one element and up to two numbers, and give an element
import kerngrad;
#include "outside_op.h"

kg::dtype f() {
#ifdef TWIN
  constexpr auto kernel = kg::per_element<float>([](float x) { return x; });
#else
  constexpr auto kernel = kg::per_element<float>([](const kg::tensor& x) { return x; });
#endif
  return kernel.type;
}
