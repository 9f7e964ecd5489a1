// SPDX-License-Identifier: Apache-2.0
// A gradient that asks for an attribute that the row does not have.
// error: a gradient rule asks for an attribute that its op's row does not have
import kerngrad;
#include "outside_op.h"

struct Own {
  static constexpr kg::op_row row = halve_row;
  static constexpr auto kernels = kg::kernel_list(halved);
#ifdef TWIN
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
#else
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * c.template attr<"alpha">().as_number(); }));
#endif
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
