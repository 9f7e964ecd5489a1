// SPDX-License-Identifier: Apache-2.0
// A list of tensors before another operand: its tensors would be taken for that one.
// error: a wrong number of operands: see the op's row
import kerngrad;
#include "outside_op.h"

inline constexpr kg::operand one_and_list[] = {{.name = "x", .types = kg::only(kg::dtype::float32)},
                                               {.name = "ys", .types = kg::only(kg::dtype::float32), .list = true}};
struct Join {
  static void launch(const kg::launch_call&) {}
  static constexpr kg::op_row row = row_with([](kg::op_row& row) {
    row.operands = one_and_list;
    row.convention = kg::convention::custom;
    row.launch = launch;
    row.no_gradient = "the case needs none";
  });
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>([](const kg::launch_call&) {}));
};
kg::tensor f(const std::vector<kg::tensor>& ys, const kg::tensor& x) {
#ifdef TWIN
  return kg::call<Join>(x, ys);
#else
  return kg::call<Join>(ys, x);
#endif
}
