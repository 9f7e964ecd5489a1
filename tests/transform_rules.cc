// SPDX-License-Identifier: Apache-2.0
// Forward derivatives of every op with a gradient rule: they are derived from the rules, so a rule that is not linear
// in dy, or not differentiable in it, shows here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/differentiated.h"
#include "tests/support/numeric.h"

namespace {

using namespace kgtest;

// A sample along a direction: result k as one function.
struct directed {
  const differentiated& call;
  int k;

  std::vector<kg::tensor> direction() const {
    std::vector<kg::tensor> vs;
    for (std::size_t i = 0; i < call.leaves.size(); ++i) vs.push_back(weights_like(call.leaves[i], 91 + i));
    return vs;
  }
  kg::tensor operator()(std::span<const kg::tensor> xs) const { return call.function()(xs)[k]; }
};

// d/dt of f(x + t v) at 0 by the central stencil of order six.
std::vector<double> difference_along(const directed& f, const std::vector<kg::tensor>& vs, double step) {
  constexpr double weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  std::vector<double> slopes;
  for (int n = 1; n <= 3; ++n)
    for (int side : {1, -1}) {
      std::vector<kg::tensor> moved;
      for (std::size_t i = 0; i < vs.size(); ++i) {
        std::vector<double> at = doubles_of(f.call.leaves[i]);
        const std::vector<double> v = doubles_of(vs[i]);
        for (std::size_t e = 0; e < at.size(); ++e) at[e] += side * n * step * v[e];
        moved.push_back(from_doubles(at, vs[i].dims(), vs[i].type()));
      }
      const std::vector<double> values = doubles_of(f(moved));
      slopes.resize(values.size());
      for (std::size_t e = 0; e < values.size(); ++e) slopes[e] += side * weight[n - 1] * values[e] / step;
    }
  return slopes;
}

class every_forward_derivative : public ::testing::TestWithParam<std::string> {
 protected:
  template <class Check>
  void on_samples(Check check) {
    const kg::op_row& row = row_named(GetParam());
    const kg::dtype precise = precise_dtype(row);
    int checked = 0;
    for (kg::dtype type : {precise, kg::dtype::complex64}) {
      if (type != precise && !row.operands[0].types.has(type) && !row.operands.back().types.has(type)) continue;
      for (const sample& call : samples_of(row)) {
        const differentiated drawn = smooth_call(row, call, type);
        if (!has_smooth_results(drawn)) continue;
        const kg::tensor_list results = drawn.function()(drawn.leaves);
        for (int k = 0; k < results.size(); ++k) {
          if (!counts(results[k])) continue;
          SCOPED_TRACE(std::string(kg::name_of(type)) + " " + call.label + " result " + std::to_string(k));
          check(directed{drawn, k}, is_precise(drawn));
          ++checked;
        }
      }
      if (precise == kg::dtype::complex64) break;
    }
    EXPECT_GT(checked, 0) << "no sample has a differentiable result";
  }
};

TEST_P(every_forward_derivative, agrees_with_differences_along_the_direction) {
  on_samples([](const directed& f, bool precise) {
    const precision at = precise ? fine : coarse;
    const std::vector<kg::tensor> vs = f.direction();
    const kg::value_and_tangent got = kg::jvp_of(f, f.call.leaves, vs);
    EXPECT_EQ(doubles_of(got.value), doubles_of(f(f.call.leaves)));
    ASSERT_EQ(got.tangent.signature(), got.value.signature());
    const std::vector<double> tangent = doubles_of(got.tangent), expected = difference_along(f, vs, at.step);
    for (std::size_t e = 0; e < tangent.size(); ++e)
      ASSERT_NEAR(tangent[e], expected[e], at.tolerance * std::max(1.0, std::fabs(expected[e]))) << "element " << e;
  });
}

TEST_P(every_forward_derivative, is_the_transpose_of_the_gradient) {
  on_samples([](const directed& f, bool precise) {
    const std::vector<kg::tensor> vs = f.direction();
    const kg::value_and_tangent forward = kg::jvp_of(f, f.call.leaves, vs);
    const kg::value_and_pullback_list backward = kg::vjp_of(f, f.call.leaves);
    const kg::tensor dy = weights_like(forward.value, 5);
    const std::vector<kg::tensor> grads = backward.back(dy);
    double right = 0, size = 1;
    for (std::size_t i = 0; i < vs.size(); ++i) {
      right += weighted_number(grads[i], vs[i]);
      for (double g : doubles_of(grads[i])) size += std::fabs(g) * 1.5;
    }
    EXPECT_NEAR(weighted_number(forward.tangent, dy), right, (precise ? 1e-13 : 1e-5) * size);
  });
}

INSTANTIATE_TEST_SUITE_P(transforms, every_forward_derivative, ::testing::ValuesIn(op_names(true)),
                         [](const auto& info) { return info.param; });

TEST(forward_derivatives, show_a_rule_that_is_not_linear_in_dy) {
  const kg::op_row& row = row_named("Tanh");
  const differentiated call(row, samples_of(row)[0], kg::dtype::float64, 1);
  const directed f{call, 0};
  const auto off_by = [&] {
    const std::vector<double> got = doubles_of(kg::jvp_of(f, call.leaves, f.direction()).tangent);
    const std::vector<double> expected = difference_along(f, f.direction(), fine.step);
    double most = 0;
    for (std::size_t e = 0; e < got.size(); ++e) most = std::max(most, std::fabs(got[e] - expected[e]));
    return most;
  };
  EXPECT_LE(off_by(), fine.tolerance);
  kg::gradient_config wrong;
  wrong.name = "Tanh";
  wrong.saves_outputs = true;
  wrong.run = [](const kg::gradient_call& given) -> std::vector<kg::named_operand> {
    return {{"x", given.dy() * given.dy() * (1 - kg::square(given.output()))}};
  };
  kg::register_gradient(wrong, kg::existing::replace);
  EXPECT_GT(off_by(), 1000 * fine.tolerance);
  kg::unregister_gradient("Tanh");
}

}  // namespace
