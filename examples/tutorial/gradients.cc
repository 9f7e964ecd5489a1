// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial/3-gradients.md.
#include <iostream>
#include <map>
#include <string>

import kerngrad;

int main() {
  const auto f = [](const kg::tensor& x) { return kg::sum(x * x * x); };
  const kg::tensor x({1.f, 2.f, 3.f});
  std::cout << kg::grad(f)(x) << "\n";

  const auto loss = [](const kg::tensor& w, const kg::tensor& b) {
    const kg::tensor points({0.f, 1.f, 2.f}), heights({1.f, 3.f, 5.f});
    return kg::mean(kg::square(points * w + b - heights));
  };
  const auto [value, slopes] = kg::value_and_grads(loss)(kg::tensor(1.f), kg::tensor(0.f));
  std::cout << value << "\n" << slopes[0] << "\n" << slopes[1] << "\n";

  const std::map<std::string, kg::tensor> parameters{{"b", kg::tensor(0.f)}, {"w", kg::tensor(1.f)}};
  const auto of_map = [&](const std::map<std::string, kg::tensor>& p) { return loss(p.at("w"), p.at("b")); };
  for (const auto& [name, slope] : kg::grad(of_map)(parameters)) std::cout << name << ": " << slope.item() << "\n";

  const auto second = kg::grad([&](const kg::tensor& t) { return kg::sum(kg::grad(f)(t)); });
  std::cout << second(x) << "\n" << kg::hessian(f)(x) << "\n" << kg::hvp(f)(x, kg::tensor({1.f, 0.f, 0.f})) << "\n";

  const auto swap = [](const kg::tensor& t) { return kg::stack({t(1) * t(1), t(0) * 3}); };
  const kg::tensor at({2.f, 5.f});
  const auto [moved, tangent] = kg::jvp(swap)(at, kg::tensor({1.f, 0.f}));
  const auto [same, back] = kg::vjp(swap)(at);
  std::cout << kg::jacobian(swap)(at) << "\n" << tangent << "\n" << back(kg::tensor({1.f, 1.f}))[0] << "\n";

  const auto half = [](const kg::tensor& t) { return kg::sum(t * kg::stop_gradient(t)); };
  std::cout << kg::grad(half)(x) << "\n";
}
