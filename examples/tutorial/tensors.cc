// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial/1-tensors.md.
#include <cstddef>
#include <iostream>
#include <span>

import kerngrad;

int main() {
  const kg::tensor v({1.f, 2.5f, -3.f});
  const kg::tensor m{{1, 2}, {3, 4}, {5, 6}};
  std::cout << v << "\n" << m << "\n";

  const kg::tensor grid({1.0, 2.0, 3.0, 4.0}, {2, 2});
  const kg::tensor x = kg::reshape(kg::arange(12), {3, 4});
  const kg::tensor steps = kg::linspace(0, 1, 5, kg::dtype::float64);
  std::cout << grid << "\n" << x << "\n" << steps << "\n" << kg::eye(2) << "\n";

  std::cout << x.rank() << " axes, " << x.size() << " elements, " << kg::to_string(x.dims()) << ", "
            << kg::name_of(x.type()) << "\n";

  std::cout << x(1, 2) << "\n"                                        // a scalar tensor
            << x(-1) << "\n"                                          // the last row
            << x(kg::all, 0) << "\n"                                  // the first column
            << x(kg::range(0, 3, 2), kg::range(-2, kg::end)) << "\n"  // x[0:3:2, -2:]
            << x(x > 8) << "\n";                                      // a mask

  std::cout << x.item<float>(1, 2) << " " << kg::sum(x).item() << "\n";

  const kg::tensor changed = x.at(kg::all, 0).set(-1);
  std::cout << changed << "\n" << x(0) << "\n";

  double sum = 0;
  for (const float element : x.data<float>()) sum += element;
  const kg::tensor squares = kg::tensor::build<float>({5}, [](std::span<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i * i);
  });
  std::cout << sum << "\n" << squares << "\n";
}
