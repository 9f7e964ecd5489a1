// SPDX-License-Identifier: Apache-2.0
// The first call of a program. Prints the error that it throws, or the result.
#include <cstdio>
import kerngrad;

int main() {
  try {
    std::printf("%g\n", kg::sum(kg::exp(kg::zeros({17}))).item());
  } catch (const kg::error& e) {
    std::puts(e.what());
    return 1;
  }
}
