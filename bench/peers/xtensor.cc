// SPDX-License-Identifier: Apache-2.0
// xtensor: the reductions and broadcasts in which it is ahead of the other peers.
#include <algorithm>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

#include "bench/peers/case.h"

namespace {

using matrix = xt::xtensor<float, 2>;
using vector = xt::xtensor<float, 1>;

matrix square(int operand_index) {
  matrix x = xt::xtensor<float, 2>::from_shape({cases::side, cases::side});
  std::copy_n(cases::floats(operand_index, x.size()), x.size(), x.data());
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    cases::add("sum_first", "1024x1024", [] {
      return [x = square(0)] {
        const vector y = xt::sum(x, {0}, xt::evaluation_strategy::immediate);
        benchmark::DoNotOptimize(y.data());
      };
    });
    cases::add("bcast_add", "1024x1024", [] {
      vector b = vector::from_shape({cases::side});
      std::copy_n(cases::floats(1, cases::side), cases::side, b.data());
      return [a = square(0), b, y = square(30)]() mutable { xt::noalias(y) = a + b; };
    });
  });
}
