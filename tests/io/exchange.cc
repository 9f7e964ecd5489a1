// SPDX-License-Identifier: Apache-2.0
// exchange FROM TO...: reads each file FROM and writes what it holds to TO.
#include <cstdlib>
#include <iostream>
#include <string>

import kerngrad;
import kerngrad.io;

int main(int count, char** arguments) {
  try {
    for (int i = 1; i + 1 < count; i += 2) kg::io::save(arguments[i + 1], kg::io::load(arguments[i]));
  } catch (const kg::error& e) {
    std::cerr << e.what() << "\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
