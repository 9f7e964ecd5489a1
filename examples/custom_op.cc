// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <iostream>
#include <span>
import kerngrad;

// Softshrink: what is beyond lambda, moved towards 0 by lambda; 0 between.
kg::tensor_list softshrink(const kg::kernel_call& call) {
  const kg::tensor& x = call.input("x");
  const float lambda = static_cast<float>(call.attr("lambda", 0.5).as_number());
  return {kg::tensor::build<float>(x.dims(), [&](std::span<float> y) {
    for (std::size_t i = 0; const float v : x.data<float>())
      y[i++] = std::fabs(v) > lambda ? v - std::copysign(lambda, v) : 0;
  })};
}
// Its slope is 1 where something is left, 0 elsewhere.
std::vector<kg::named_operand> softshrink_gradient(const kg::gradient_call& call) {
  return {{"x", kg::where(call.output() != 0, call.dy(), kg::zeros_like(call.dy()))}};
}

int main() {
  kg::register_kernel({.name = "Softshrink", .run = softshrink});
  kg::register_gradient({.name = "Softshrink", .saves_outputs = true, .run = softshrink_gradient});
  const kg::tensor x({-2.f, -0.3f, 0.1f, 1.5f});
  auto f = [](const kg::tensor& t) { return kg::run_kernel("Softshrink", {{"x", t}}, {{"lambda", 0.5}}); };
  std::cout << f(x) << "\n";                                                                         // [-1.5, 0, 0, 1]
  std::cout << kg::grad([&](const kg::tensor& t) { return kg::sum(kg::square(f(t))); })(x) << "\n";  // [-3, 0, 0, 2]
}
