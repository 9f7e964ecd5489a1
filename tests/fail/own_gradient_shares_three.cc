// SPDX-License-Identifier: Apache-2.0
// A gradient that shares more values among its operands than a walk keeps at a node.
// error: a gradient rule shares two values at most: once<0> and once<1>
import kerngrad;
#include "outside_op.h"

struct Own {
  static constexpr kg::op_row row = halve_row;
  static constexpr auto kernels = kg::kernel_list(halved);
#ifdef TWIN
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::nothing, [](const auto& c) { return c.template once<1>([&] { return c.dy(); }); }));
#else
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::nothing, [](const auto& c) { return c.template once<2>([&] { return c.dy(); }); }));
#endif
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
