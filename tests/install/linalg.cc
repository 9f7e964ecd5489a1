// SPDX-License-Identifier: Apache-2.0
// Linear algebra of an installed library, with a gradient.
#include <cmath>
#include <iostream>
import kerngrad;
import kerngrad.linalg;

int main() {
  const kg::tensor a{{4.0, 2.0}, {2.0, 5.0}}, b({2.0, 3.0});
  const kg::tensor x = kg::linalg::solve(a, b);
  const kg::tensor g = kg::grad([](const kg::tensor& m) { return kg::linalg::slogdet(m).logabsdet; })(a);
  std::cout << x << "\n" << g << "\n";
  const double off = kg::max(kg::abs(kg::matmul(a, x) - b)).item() + std::fabs(g.to_doubles()[0] - 5.0 / 16);
  return off < 1e-14 ? 0 : 1;
}
