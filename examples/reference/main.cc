// SPDX-License-Identifier: Apache-2.0
// Runs the examples of the program, each under a line `== NAMES`.
#include <exception>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "example.h"

namespace {

std::vector<std::pair<std::string_view, void (*)()>>& examples() {
  static std::vector<std::pair<std::string_view, void (*)()>> all;
  return all;
}

}  // namespace

example::example(std::string_view names, void (*run)()) { examples().emplace_back(names, run); }

int main() {
  for (const auto& [names, run] : examples()) {
    std::cout << "== " << names << "\n";
    try {
      run();
    } catch (const std::exception& problem) {
      std::cerr << names << ": " << problem.what() << "\n";
      return 1;
    }
  }
}
