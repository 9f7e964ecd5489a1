// SPDX-License-Identifier: Apache-2.0
// The test kit of an installed library.
#include <iostream>
import kerngrad;
import kerngrad.testkit;

int main() {
  const kg::testkit::report found = kg::testkit::check_op("Softplus");
  std::cout << found << "\n";
  return found ? 0 : 1;
}
