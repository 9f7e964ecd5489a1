// SPDX-License-Identifier: Apache-2.0
#include <iostream>
import kerngrad;

// A custom op is a type that the compiler checks: towards 0 by a half, and its gradient.
struct softshrink {
  static constexpr kg::operand operands[] = {{"x", kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "Softshrink",
                                  .doc = "Moved towards 0 by a half; 0 where it would pass it.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x) {
    return x > 0.5f ? x - 0.5f : x < -0.5f ? x + 0.5f : 0;
  }));
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::out0, [](const auto& c) { return kg::where(c.out() == 0, kg::zeros_like(c.dy()), c.dy()); }));
};

int main() {
  const kg::tensor x{{-2.f, -0.3f, 0.1f}, {1.5f, 0.4f, 3.f}};
  std::cout << x(kg::all, -1) << "\n"  // [0.1, 3]
            << x(x > 1) << "\n";       // [1.5, 3]
  // One pass over memory, and one over its gradient.
  constexpr auto penalty = kg::fuse([](auto t, auto weight) { return kg::square(kg::call<softshrink>(t)) * weight; });
  std::cout << penalty(x(1), 2) << "\n";                                                             // [2, 0, 12.5]
  std::cout << kg::grad([&](const kg::tensor& t) { return kg::sum(penalty(t, 2)); })(x(1)) << "\n";  // [4, 0, 10]
}
