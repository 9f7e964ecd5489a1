// SPDX-License-Identifier: Apache-2.0
// Reductions, softmax, running sums and layer norm of matrices.
#include <span>

#include "bench/peers/case.h"
#include "bench/peers/kerngrad.h"
import kerngrad;

namespace {

kg::tensor matrix(cases::matrix_size s) {
  return kg::tensor(std::span<const float>(cases::floats(0, s.rows * s.columns), s.rows * s.columns),
                    {static_cast<std::int64_t>(s.rows), static_cast<std::int64_t>(s.columns)});
}

void add_one(const char* name, cases::matrix_size s, kg::tensor (*run)(const kg::tensor&)) {
  cases::add(name, s, [=] { return [run, x = matrix(s)] { benchmark::DoNotOptimize(run(x).address()); }; });
}

}  // namespace

void add_reduce_cases() {
  constexpr cases::matrix_size square{cases::side, cases::side};
  add_one("sum_last", square, [](const kg::tensor& x) { return kg::sum(x, 1); });
  add_one("sum_first", square, [](const kg::tensor& x) { return kg::sum(x, 0); });
  add_one("cumsum", square, [](const kg::tensor& x) { return kg::cumsum(x, 1); });
  for (cases::matrix_size s : cases::row_sizes) {
    add_one("softmax", s, [](const kg::tensor& x) { return kg::softmax(x); });
    add_one("logsumexp", s, [](const kg::tensor& x) { return kg::logsumexp(x); });
    add_one("argmax", s, [](const kg::tensor& x) { return kg::argmax(x, 1); });
  }
  cases::add("layernorm", square, [=] {
    const auto row = [](int operand_index) {
      return kg::tensor(std::span<const float>(cases::floats(operand_index, cases::side), cases::side), {cases::side});
    };
    return [x = matrix(square), weight = row(1), bias = row(2)] {
      benchmark::DoNotOptimize(kg::layer_norm(x, {.scale = weight, .offset = bias, .epsilon = 1e-5}).address());
    };
  });
}
