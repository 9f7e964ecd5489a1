// SPDX-License-Identifier: Apache-2.0
// Elements of tensors: what indices take, what is changed at them, rows, and their gradients.
#include <iostream>

import kerngrad;

int main() {
  const kg::tensor x = kg::reshape(kg::arange(12), {3, 4});
  std::cout << x(1, 2) << "\n"                                             // 6
            << x(-1, kg::all) << "\n"                                      // the last row, sharing memory
            << x(kg::range(0, 3, 2), kg::range(-2, kg::end)) << "\n"       // [[2, 3], [10, 11]]
            << x(kg::range(-1, kg::end, -1), 0) << "\n"                    // the first column from below
            << x(kg::newaxis, kg::ellipsis, 0).dims().rank() << " axes\n"  // [1, 3]
            << x(x > 8) << "\n"                                            // [9, 10, 11]
            << x(kg::tensor({2, 0}), kg::all) << "\n"                      // rows 2 and 0
            << x(kg::tensor({2, 0}), kg::tensor({1, 3})) << "\n";          // [9, 3]

  std::cout << x.at(kg::all, 0).set(-1) << "\n"  // new tensors; x is what it was
            << x.at(x > 8).multiply(10) << "\n"
            << kg::zeros({3}).at(kg::tensor({0, 2, 0})).add(1) << "\n";  // [2, 0, 1]: both came

  double sum = 0;
  for (const kg::tensor& row : x) sum += kg::max(row).item();
  std::cout << sum << ", " << x.item<float>(1, 2) << "\n";  // 21, 6

  // A moving average in place: each step changes one element of a tensor that nobody else holds.
  kg::tensor smooth = kg::zeros({12});
  const kg::tensor all = kg::reshape(x, {12});
  for (int i = 1; i < 11; ++i) smooth = std::move(smooth).at(i).set(kg::mean(all(kg::range(i - 1, i + 2))));
  std::cout << smooth << "\n";

  // Indices differentiate: the sum of the squares of the steps along a path.
  const auto roughness = [](const kg::tensor& path) {
    return kg::sum(kg::square(path(kg::range(1, kg::end)) - path(kg::range(0, -1))));
  };
  const kg::tensor slope = kg::grad(roughness)(kg::tensor({0.0, 1.0, 3.0}));
  std::cout << slope << "\n";  // [-2, -2, 4]
  return slope.item<double>(2) == 4 && smooth.item<float>(5) == 5 ? 0 : 1;
}
