// SPDX-License-Identifier: Apache-2.0
// A user-defined op whose kernel takes the whole call, in a fused expression.
// error: [fuse] an op whose kernel takes the whole call cannot be fused
import kerngrad;

struct Twice {
  static constexpr kg::operand x[] = {{"x", kg::floating}};
  static constexpr kg::op_row row{.name = "Twice",
                                  .doc = "2 * x.",
                                  .group = kg::family::elementwise,
                                  .operands = x,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary,
                                  .no_gradient = "this is an example"};
#ifdef TWIN
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x) { return 2 * x; }),
                                                  kg::per_element<double>([](double x) { return 2 * x; }));
#else
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>([](const kg::launch_call&) {}),
                                                  kg::on_call<double>([](const kg::launch_call&) {}));
#endif
};

kg::tensor f(const kg::tensor& x) {
  return kg::fuse([](auto a) { return kg::call<Twice>(a); })(x);
}
