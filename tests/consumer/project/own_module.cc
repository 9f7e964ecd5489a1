// SPDX-License-Identifier: Apache-2.0
// A program that sees kerngrad through the consumer's own module.
#include <cstdio>
import model;

int main() {
  const layer hidden(4, 8);
  const kg::tensor x = kg::ones({2, 4});
  const auto result = kg::variable_grads([&] { return kg::sum(hidden(x)); });
  std::puts(result.grads.size() == 2 ? "right" : "wrong");
  return result.grads.size() == 2 && hidden.variables().size() == 2 ? 0 : 1;
}
