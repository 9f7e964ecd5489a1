// SPDX-License-Identifier: Apache-2.0
// case.h by itself: meson.build compiles it in the dialect of each peer.
#include "bench/peers/case.h"

int run_without_cases(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    cases::add("nothing", std::size_t{1}, [] { return [] {}; });
    cases::add("nothing", cases::matrix_size{1, 1}, [] { return [] {}; });
  });
}
