// SPDX-License-Identifier: Apache-2.0
// Registering an op is as strict as calling it.
// error: a user-defined op needs a member `gradient`, or in its row the reason for having none, not both
import kerngrad;
#include "outside_op.h"

struct Own {
  static constexpr kg::op_row row = halve_row;
  static constexpr auto kernels = kg::kernel_list(halved);
#ifdef TWIN
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
#endif
};
kg::registration f() { return kg::scoped_op<Own>(); }
