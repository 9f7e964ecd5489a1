// SPDX-License-Identifier: Apache-2.0
// Fits a line by gradient descent. Built by make, CMake or Meson against an installed kerngrad: docs/install.md.
#include <cmath>
#include <iostream>
import kerngrad;

int main() {
  const kg::tensor x = kg::linspace(-1, 1, 50);
  const kg::tensor wanted = x * 3 - 1;
  const kg::variable slope(kg::zeros({})), offset(kg::zeros({}));
  kg::sgd optimizer(0.3);
  for (int step = 0; step < 100; ++step)
    (void)optimizer.minimize([&] { return kg::mean(kg::square(x * slope + offset - wanted)); });
  std::cout << "slope " << kg::tensor(slope).item() << ", offset " << kg::tensor(offset).item() << "\n";
  const auto near = [](const kg::tensor& got, double value) { return std::fabs(got.item() - value) < 1e-3; };
  return near(slope, 3) && near(offset, -1) ? 0 : 1;
}
