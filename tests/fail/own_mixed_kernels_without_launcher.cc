// SPDX-License-Identifier: Apache-2.0
// A row without a launcher, and a kernel that is not on_call.
// error: an op's row needs a name, a line of documentation, a shape rule and a launcher
import kerngrad;
#include "outside_op.h"

struct Own {
  static constexpr kg::operand operands[] = {{"x", kg::wide_floats}};
  static constexpr kg::op_row row{.name = "Twice",
                                  .doc = "2 * x.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .no_gradient = "the case is about kernels"};
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const auto x = kg::elements_in<T>(c, 0);
    const auto y = kg::elements_out<T>(c);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  };
#ifdef TWIN
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>(code<float>), kg::on_call<double>(code<double>));
#else
  static constexpr auto kernels =
      kg::kernel_list(kg::on_call<float>(code<float>), kg::per_element<double>([](double x) { return 2 * x; }));
#endif
};
kg::tensor f(const kg::tensor& x) { return kg::call<Own>(x); }
