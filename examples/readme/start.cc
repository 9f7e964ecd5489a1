// SPDX-License-Identifier: Apache-2.0
#include <iostream>
import kerngrad;

int main() {
  const kg::tensor x = kg::reshape(kg::arange(6), {2, 3});      // [[0, 1, 2], [3, 4, 5]]
  const kg::tensor y = x * 2 + kg::tensor({10.f, 20.f, 30.f});  // the row is broadcast
  std::cout << y << "\n" << y(kg::all, -1) << "\n";             // y[:, -1] of NumPy
  std::cout << y(y > 25) << "\n" << kg::sum(y, 0) << "\n";      // a mask; the sum over axis 0
  const auto loss = [](const kg::tensor& t) { return kg::sum(t * t); };
  std::cout << kg::grad(loss)(x) << "\n";
}
