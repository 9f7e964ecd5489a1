// SPDX-License-Identifier: Apache-2.0
// A program that sees kerngrad through the consumer's own modules.
import training;
#include <cstdio>

int main() {
  const layer hidden(4, 8);
  const int variables = trained(hidden, kg::ones({2, 4}));
  std::puts(variables == 2 ? "right" : "wrong");
  return variables == 2 && hidden.variables().size() == 2 ? 0 : 1;
}
