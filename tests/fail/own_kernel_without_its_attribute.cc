// SPDX-License-Identifier: Apache-2.0
// A kernel that does not take the attribute that the row has.
// error: a kernel per element must take as many numbers as the op's row has attributes
import kerngrad;
#include "outside_op.h"

inline constexpr kg::attr_spec by[] = {{"by", kg::attr_kind::number, "what to divide by", false, 2}};
struct Own {
#ifdef TWIN
  static constexpr kg::op_row row = halve_row;
#else
  static constexpr kg::op_row row = row_with([](kg::op_row& row) { row.attrs = by; });
#endif
  static constexpr auto kernels = kg::kernel_list(halved);
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
