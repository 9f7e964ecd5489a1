// SPDX-License-Identifier: Apache-2.0
// Regular expressions of an installed library.
#include <iostream>
import kerngrad;
import kerngrad.regex;

int main() {
  const kg::tensor y = kg::static_regex_replace(kg::tensor({"an  installed   library"}), " +", " ");
  std::cout << y << "\n";
  return y.item<std::string>() == "an installed library" ? 0 : 1;
}
