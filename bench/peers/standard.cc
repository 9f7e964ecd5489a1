// SPDX-License-Identifier: Apache-2.0
// The C++ standard library's algorithms.
#include <numeric>

#include "bench/peers/case.h"

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    cases::add("cumsum", "1024x1024", [] {
      constexpr std::size_t n = cases::side * cases::side;
      return [x = cases::floats(0, n), y = cases::result(n)] {
        for (std::size_t i = 0; i < n; i += cases::side) std::partial_sum(x + i, x + i + cases::side, y + i);
      };
    });
  });
}
