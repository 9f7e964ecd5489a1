// SPDX-License-Identifier: Apache-2.0
// A kernel of a C++ type that no dtype stores.
// clang: because 'char' does not satisfy 'element'
import kerngrad;
#include "outside_op.h"

kg::dtype f() {
#ifdef TWIN
  constexpr auto kernel = kg::per_element<std::uint8_t>([](std::uint8_t x) { return x; });
#else
  constexpr auto kernel = kg::per_element<char>([](char x) { return x; });
#endif
  return kernel.type;
}
