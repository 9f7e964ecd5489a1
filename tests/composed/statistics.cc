// SPDX-License-Identifier: Apache-2.0
// Moments, moving averages, places among the largest, and composed functions of single elements.
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();

TEST(moments, are_mean_and_variance_over_any_axes) {
  const tensor x({1.0, 2.0, 6.0, 4.0, 4.0, 10.0}, {2, 3});
  const auto all = kg::moments(x);
  expect_values(all.mean, {}, {4.5});
  expect_values(all.variance, {}, {(12.25 + 6.25 + 2.25 + 0.25 + 0.25 + 30.25) / 6});
  const auto rows = kg::moments(x, 1, true);
  expect_values(rows.mean, {2, 1}, {3, 6});
  expect_values(rows.variance, {2, 1}, {14.0 / 3, 8});
  const auto columns = kg::moments(kg::cast(x, kg::dtype::int32), {0});
  EXPECT_EQ(columns.variance.type(), kg::dtype::float64);
  expect_values(columns.mean, {3}, {2.5, 3, 8});
  expect_values(columns.variance, {3}, {2.25, 1, 4});
  EXPECT_TRUE(std::isnan(kg::moments(kg::zeros({0})).variance.item()));
  // A large mean cancels nothing.
  expect_values(kg::moments(tensor({1e8 + 1, 1e8 + 2, 1e8 + 3})).variance, {}, {2.0 / 3});
  expect_refused("moments", [&] { return kg::moments(x, 2).mean; }, {"axis 2"});
}

TEST(variance, divides_by_the_number_of_elements_less_ddof) {
  const tensor x({1.0, 2.0, 6.0, 4.0, 4.0, 10.0}, {2, 3});
  expect_values(kg::variance(x, 1), {2}, {14.0 / 3, 8});
  expect_values(kg::variance(x, 1, true, 1), {2, 1}, {7, 12});
  expect_values(kg::standard_deviation(x, -1, false, 1), {2}, {std::sqrt(7), std::sqrt(12)});
  expect_values(kg::variance(tensor({5.0}), 0, false, 1), {}, {nan});
  expect_values(kg::variance(tensor({5.0, 7.0}), 0, false, 3), {}, {inf});
  expect_refused("standard_deviation", [&] { return kg::standard_deviation(x, {0, 0}); }, {"twice"});
}

TEST(moving_average, of_a_constant_is_that_constant_from_the_first_step) {
  tensor v = kg::zeros({2}, kg::dtype::float64), plain = v;
  const tensor x({1.0, -3.0});
  for (int step = 1; step <= 5; ++step) {
    // Debiased as TensorFlow.js does it: the change is divided, v itself is not.
    const double share = (1 - 0.6) / (1 - std::pow(0.6, step));
    const double before = v.to_doubles()[0];
    v = kg::moving_average(v, x, 0.6, {.step = static_cast<double>(step)});
    EXPECT_NEAR(v.to_doubles()[0], before + (1 - before) * share, 1e-15);
    plain = kg::moving_average(plain, x, 0.6, {.zero_debias = false});
    EXPECT_NEAR(plain.to_doubles()[1], -3 * (1 - std::pow(0.6, step)), 1e-14);
  }
  expect_values(v, {2}, {1, -3});
}

TEST(moving_average, refuses_no_step_other_shapes_dtypes_and_decays) {
  const tensor v = kg::zeros({2, 2}), x = kg::ones({1, 2});
  const auto call = [](const tensor& a, const tensor& b, double decay, const kg::moving_average_options& how) {
    return [=] { return kg::moving_average(a, b, decay, how); };
  };
  expect_refused("moving_average", call(v, v, 0.6, {}), {"no step"});
  expect_refused("moving_average", call(v, x, 0.6, {.step = 1.0}), {"operand x", "one shape"});
  expect_refused("moving_average", call(v, kg::cast(v, kg::dtype::float64), 0.6, {.step = 1.0}), {"one dtype"});
  expect_refused("moving_average", call(v, v, 0.5, {.step = 0.0}), {"step 0"});
  expect_refused("moving_average", call(v, v, 1.5, {.step = 1.0}), {"decay 1.5"});
}

TEST(in_top_k, counts_the_predictions_above_that_of_the_target) {
  const tensor p({20.0, 10.0, 40.0, 30.0, 30.0, 50.0, -20.0, 10.0}, {2, 4});
  expect_values(kg::in_top_k(p, tensor({2, 0})), {2}, {1, 0});
  expect_values(kg::in_top_k(p, tensor({3, 0}), 2), {2}, {1, 1});
  expect_values(kg::in_top_k(p, tensor({1, 2}), 3), {2}, {0, 0});
  expect_values(kg::in_top_k(tensor({5.0, 5.0, 5.0}), tensor(2), 1), {}, {1});
  expect_values(kg::in_top_k(tensor({nan, 1.0, nan, 1.0}, {2, 2}), tensor({0, 1}), 2), {2}, {0, 1});
  EXPECT_EQ(kg::in_top_k(kg::zeros({0, 3}), kg::zeros({0}, kg::dtype::int32)).dims(), kg::shape{0});
  const auto call = [&](const tensor& targets, std::int64_t k) { return [=] { return kg::in_top_k(p, targets, k); }; };
  expect_refused("in_top_k", call(tensor({0}), 1), {"operand targets", "one target for each row"});
  expect_refused("in_top_k", call(tensor({0.f, 1.f}), 1), {"operand targets of dtype float32"});
  expect_refused("in_top_k", call(tensor({0, 4}), 1), {"target 4"});
  expect_refused("in_top_k", call(tensor({-1, 0}), 1), {"target -1"});
  expect_refused("in_top_k", call(tensor({0, 0}), 5), {"k 5"});
}

// ------------------------------------------------------------------------------------------ single elements

TEST(div_no_nan, is_0_where_the_divisor_is) {
  expect_values(kg::div_no_nan(tensor({1.0, -1.0, 0.0, nan, 6.0}), tensor({0.0, 0.0, -0.0, 0.0, 3.0})), {5},
                {0, 0, 0, 0, 2});
  expect_values(kg::div_no_nan(tensor({1, 2}), tensor({0, 4}, {2, 1})), {2, 2}, {0, 0, 0.25, 0.5});
  const tensor slope =
      kg::grad([](const tensor& b) { return kg::sum(kg::div_no_nan(tensor({1.0, 1.0}), b)); })(tensor({0.0, 2.0}));
  expect_values(slope, {2}, {0, -0.25});
  expect_refused("div_no_nan", [] { return kg::div_no_nan(kg::ones({2}), kg::ones({3})); }, {"operand a", "broadcast"});
}

TEST(log_sigmoid, is_accurate_in_both_tails) {
  expect_values(kg::log_sigmoid(tensor({0.0, inf, -inf, -800.0})), {4}, {-std::log(2), 0, -inf, -800});
  EXPECT_NEAR(kg::log_sigmoid(tensor(50.0)).item() / -std::exp(-50), 1, 1e-12);
  expect_refused("log_sigmoid", [] { return kg::log_sigmoid(tensor()); }, {"operand x"});
}

TEST(composed_statistics, are_differentiable) {
  const tensor x = uniform({2, 3}, 1), y = uniform({2, 3}, 2, 0.5, 1);
  check_gradients("moments",
                  [](auto in) {
                    const auto [mean, variance] = kg::moments(in[0], 1);
                    return mean * variance;
                  },
                  {x});
  check_gradients("standard_deviation", [](auto in) { return kg::standard_deviation(in[0], 1, true, 1); }, {x});
  check_gradients("moving_average",
                  [](auto in) { return kg::square(kg::moving_average(in[0], in[1], 0.3, {.step = 2.0})); }, {x, y});
  check_gradients("div_no_nan", [](auto in) { return kg::div_no_nan(in[0], in[1]); }, {x, y});
  check_gradients("log_sigmoid", [](auto in) { return kg::log_sigmoid(in[0]); }, {x});
}

}  // namespace
