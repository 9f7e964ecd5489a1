// SPDX-License-Identifier: Apache-2.0
// A gradient with fewer parts than the row has operands.
// error: a gradient rule must have one part per operand of the op's row
import kerngrad;
#include "outside_op.h"

inline constexpr kg::operand both[] = {x_float[0], {"weight", kg::only(kg::dtype::float32)}};
struct Own {
#ifdef TWIN
  static constexpr kg::op_row row = halve_row;
#else
  static constexpr kg::op_row row = row_with([](kg::op_row& row) { row.operands = both; });
#endif
  static constexpr auto kernels = kg::kernel_list(halved);
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::nothing, pass));
};
void f() { kg::register_op<Own>(); }
