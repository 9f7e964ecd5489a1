// SPDX-License-Identifier: Apache-2.0
// Costs for a consumer: a program that calls five ops. tools/bench/footprint.py compiles, links and weighs it.
#include <cstdio>
import kerngrad;

int main() {
  const kg::tensor x({1.f, 2.f, 3.f, 4.f}), y({4.f, 3.f, 2.f, 1.f});
  const kg::tensor row = kg::reshape(kg::relu(x - y), {1, 4});
  std::printf("%g\n", kg::sum(kg::matmul(row, kg::transpose(row))).item());
}
