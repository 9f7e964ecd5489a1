// SPDX-License-Identifier: Apache-2.0
// An op with a gradient and a reason for having none.
// error: a user-defined op needs a member `gradient`, or in its row the reason for having none, not both
import kerngrad;
#include "outside_op.h"

struct Own {
#ifdef TWIN
  static constexpr kg::op_row row = halve_row;
#else
  static constexpr kg::op_row row = row_with([](kg::op_row& row) { row.no_gradient = "it is a step"; });
#endif
  static constexpr auto kernels = kg::kernel_list(halved);
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
