// SPDX-License-Identifier: Apache-2.0
// An op of one operand whose kernel takes two elements.
// error: a kernel does not take what its row's calling convention gives
import kerngrad;

struct Halved {
  static constexpr kg::operand operands[] = {{"x", kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "Halved",
                                  .doc = "x / 2.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
#ifdef TWIN
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x) { return x / 2; }));
#else
  static constexpr auto kernels = kg::kernel_list(kg::per_pair<float>([](float a, float b) { return a / b; }));
#endif
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() / 2; }));
};

kg::tensor halved(const kg::tensor& x) { return kg::call<Halved>(x); }
