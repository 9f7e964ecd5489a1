// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial/5-fusion.md.
#include <cmath>
#include <iostream>

import kerngrad;

namespace {

// A generic lambda without captures: what it needs are its operands.
constexpr auto swish_gate = [](auto x, auto gate, auto bias) { return x * kg::sigmoid(gate) + bias; };
constexpr auto fused_gate = kg::fuse(swish_gate);

constexpr auto squared_error = kg::fuse([](auto a, auto b) { return kg::mean(kg::square(a - b)); });

}  // namespace

int main() {
  const kg::tensor x = kg::random_normal({64, 1000}, 0, 1, 1), gate = kg::random_normal({64, 1000}, 0, 1, 2);
  const kg::tensor bias = kg::linspace(-1, 1, 1000);
  const kg::tensor together = fused_gate(x, gate, bias), one_by_one = swish_gate(x, gate, bias);
  std::cout << kg::to_string(together.dims()) << ", "
            << (kg::all(together == one_by_one).item() != 0 ? "the same bits" : "other bits") << "\n";

  std::cout << squared_error(kg::tensor({1.f, 2.f, 4.f}), kg::tensor({1.f, 1.f, 1.f})) << "\n";

  const auto loss = [](const kg::tensor& a) { return squared_error(a, kg::tensor({1.f, 1.f, 1.f})); };
  std::cout << kg::grad(loss)(kg::tensor({1.f, 2.f, 4.f})) << "\n";

  const auto at_once = squared_error.value_and_grads(kg::tensor({1.f, 2.f, 4.f}), kg::tensor({1.f, 1.f, 1.f}));
  std::cout << at_once.value << "\n" << at_once.grads[0] << "\n" << at_once.grads[1] << "\n";

  constexpr auto wave = kg::fuse([](auto t) { return kg::sin(t) * t; });
  const auto [height, slope] = wave.value_and_grads(2.0);
  std::cout << height << " " << slope[0] << ", by hand " << std::cos(2.0) * 2 + std::sin(2.0) << "\n";
}
