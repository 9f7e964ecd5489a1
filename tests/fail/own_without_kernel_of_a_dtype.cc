// SPDX-License-Identifier: Apache-2.0
// A dtype that the row takes, without a kernel.
// error: a dtype that the op's row accepts has no kernel: add one, or narrow the operand's dtypes
import kerngrad;
#include "outside_op.h"

inline constexpr kg::operand x_both[] = {{"x", kg::floating}};
struct Own {
#ifdef TWIN
  static constexpr kg::op_row row = halve_row;
#else
  static constexpr kg::op_row row = row_with([](kg::op_row& row) { row.operands = x_both; });
#endif
  static constexpr auto kernels = kg::kernel_list(halved);
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
