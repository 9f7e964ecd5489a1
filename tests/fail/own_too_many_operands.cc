// SPDX-License-Identifier: Apache-2.0
// A row with more operands than the engine takes.
// error: an op's row may have up to 8 operands, 8 named results and 16 attributes
import kerngrad;
#include "outside_op.h"

inline constexpr kg::operand one{"x", kg::only(kg::dtype::float32)};
inline constexpr kg::operand nine[] = {one, one, one, one, one, one, one, one, one};
struct Own {
#ifdef TWIN
  static constexpr kg::op_row row = halve_row;
#else
  static constexpr kg::op_row row = row_with([](kg::op_row& row) { row.operands = nine; });
#endif
  static constexpr auto kernels = kg::kernel_list(halved);
  static constexpr auto gradient = [] {
    const auto part = kg::wrt(kg::keep::nothing, pass);
#ifdef TWIN
    return kg::gradient_of(part);
#else
    return kg::gradient_of(part, part, part, part, part, part, part, part, part);
#endif
  }();
};
void f() { kg::register_op<Own>(); }
