// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial/2-ops.md.
#include <array>
#include <iostream>
#include <span>

import kerngrad;

int main() {
  const kg::tensor x = kg::reshape(kg::arange(6), {2, 3});
  const kg::tensor row({10.f, 20.f, 30.f});
  std::cout << x * 2 + row << "\n" << kg::sqrt(x) << "\n" << kg::maximum(x, 2) << "\n";

  try {
    x + kg::tensor({1.f, 2.f});
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }

  const kg::tensor n({1, 2, 4});
  std::cout << n * 2 << "\n" << n / 2 << "\n" << n + kg::tensor({0.5, 0.5, 0.5}) << "\n" << kg::floor_div(n, 2) << "\n";

  std::cout << ((n > 1) & (n < 4)) << "\n" << kg::where(n > 1, n, 0) << "\n";

  std::cout << kg::sum(x) << "\n" << kg::mean(x, 0) << "\n" << kg::max(x, -1, true) << "\n" << kg::argmax(x, 1) << "\n";

  const kg::tensor tall = kg::transpose(x);
  std::cout << tall << "\n"
            << kg::to_string(kg::expand_dims(x, -1).dims()) << "\n"
            << kg::concat({x, x}, 0) << "\n"
            << kg::stack({row, row * 2}) << "\n";

  std::cout << kg::matmul(x, tall) << "\n" << kg::matmul(x, row) << "\n" << kg::einsum("ij,j->i", x, row) << "\n";

  const kg::tensor scores({0.1f, 0.7f, 0.4f, 0.9f});
  const auto [values, places] = kg::top_k(scores, 2);
  std::cout << values << "\n" << places << "\n" << kg::sort(scores, {.descending = true}) << "\n";

  const kg::tensor by_name = kg::run_kernel("LeakyRelu", {{"x", x - 3}}, {{"alpha", 0.5}});
  const std::array<float, 3> a{1, 2, 3}, b{4, 5, 6};
  std::array<float, 3> sum{};
  kg::kernel<"Add">(std::span<const float>(a), std::span<const float>(b), std::span<float>(sum));
  std::cout << by_name << "\n" << sum[0] << " " << sum[1] << " " << sum[2] << "\n";
}
