// SPDX-License-Identifier: Apache-2.0
// A gradient that wants more than the context.
// error: a gradient rule must be callable with the context `c` alone and give a tensor
import kerngrad;
#include "outside_op.h"

struct Own {
  static constexpr kg::op_row row = halve_row;
  static constexpr auto kernels = kg::kernel_list(halved);
#ifdef TWIN
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
#else
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::nothing, [](const auto& c, const kg::tensor&) { return c.dy(); }));
#endif
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
