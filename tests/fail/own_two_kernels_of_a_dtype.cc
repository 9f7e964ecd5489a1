// SPDX-License-Identifier: Apache-2.0
// Two kernels of one dtype.
// error: an op has two kernels for one dtype: keep one
import kerngrad;
#include "outside_op.h"

struct Own {
  static constexpr kg::op_row row = halve_row;
#ifdef TWIN
  static constexpr auto kernels = kg::kernel_list(halved);
#else
  static constexpr auto kernels = kg::kernel_list(halved, halved);
#endif
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
