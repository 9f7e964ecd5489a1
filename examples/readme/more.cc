// SPDX-License-Identifier: Apache-2.0
// The examples of README.md after the quick start: a custom op, a fused function, a training loop.
#include <cmath>
#include <iostream>

import kerngrad;

struct Bump {  // exp(-x * x)
  static constexpr kg::operand operands[] = {{"x", kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "Bump",
                                  .doc = "exp(-x * x)",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  static constexpr auto kernels = kg::kernel_list(kg::per_element<float>([](float x) { return std::exp(-x * x); }));
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::in0 | kg::keep::out0, [](const auto& c) { return c.dy() * c.in(0) * c.out() * -2; }));
};

kg::tensor bump(const kg::tensor& x) { return kg::call<Bump>(x); }

int main() {
  const kg::tensor x({-1.f, 0.f, 2.f});
  std::cout << bump(x) << "\n" << kg::grad(bump)(x) << "\n";

  constexpr auto area = kg::fuse([](auto t, auto w) { return kg::sum(kg::call<Bump>(t) * kg::sin(t) * w); });
  const auto result = area.value_and_grads(x, kg::tensor({1.f, 2.f, 3.f}));
  std::cout << result.value << "\n" << result.grads[0] << "\n" << result.grads[1] << "\n";

  kg::generator random(7);
  const kg::tensor inputs = random.uniform({256, 1}, -1, 1), targets = inputs * 3 + 0.5;
  const kg::variable slope(kg::zeros({1, 1})), offset(kg::zeros({1}));
  kg::adam optimizer(0.05);
  for (int epoch = 0; epoch < 50; ++epoch)
    for (const auto& [in, out] : kg::batches({.size = 32, .shuffle = &random}, inputs, targets))
      optimizer.minimize([&] { return kg::mean_squared_error(out, kg::matmul(in, slope) + offset); });
  std::cout << kg::round(slope.value() * 100) / 100 << "\n" << kg::round(offset.value() * 100) / 100 << "\n";
}
