// SPDX-License-Identifier: Apache-2.0
// The programs of docs/linalg.md.
#include <iostream>

import kerngrad;
import kerngrad.linalg;

namespace la = kg::linalg;
using kg::tensor;

int main() {
  {
    const tensor a{{4.0, 2.0}, {2.0, 5.0}}, b({2.0, 3.0});
    std::cout << la::solve(a, b) << "\n" << la::cho_solve(la::cholesky(a), b) << "\n";
  }
  {
    const auto [lengths, directions] = la::eigh(tensor{{2.0, 1.0}, {1.0, 2.0}});
    const auto [u, s, vh] = la::svd(kg::ones({3, 2}, kg::dtype::float64));
    std::cout << lengths << "\n" << la::matrix_rank(kg::ones({3, 2})) << "\n";
  }
  {
    const auto logdet = [](const tensor& x) { return la::slogdet(x).logabsdet; };
    std::cout << kg::grad(logdet)(tensor{{4.0, 2.0}, {2.0, 5.0}}) << "\n";
  }
  {
    const tensor a({2.0, 0.0, 0.0, 4.0, 1.0, 1.0, 1.0, 1.0}, {2, 2, 2});
    try {
      la::inv(a);
    } catch (const kg::error& e) {
      std::cout << e.what() << "\n";
    }
    std::cout << la::det(la::inv(a, {.check = false})) << "\n";
  }
  {
    const tensor generator{{0.0, -1.0}, {1.0, 0.0}};
    std::cout << la::expm(generator) << "\n" << la::vector_norm(tensor({3.0, 4.0})) << "\n";
  }
  {
    // A matrix that is never made: a chain of springs, whose stiffness is an operand.
    const auto springs = [](const tensor& x, const tensor& stiffness) {
      const tensor stretch = kg::diff(kg::pad(x, {{1, 1}})) * stiffness;
      return -kg::diff(stretch);
    };
    const auto solve = la::cg(springs);
    const tensor force({0.0, 1.0, 0.0}), stiffness({1.0, 1.0, 2.0, 2.0});
    const auto middle = [&](const tensor& s) { return solve(force, s)(1); };
    std::cout << solve(force, stiffness) << "\n" << kg::grad(middle)(stiffness) << "\n";
    const auto [values, vectors] = la::eigsh(springs, {.k = 2, .smallest = true})(kg::zeros_like(force), stiffness);
    std::cout << values << "\n";
  }
}
