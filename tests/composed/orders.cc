// SPDX-License-Identifier: Apache-2.0
// Quantiles and differences of lists.
#include <algorithm>
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::expect_refused;
using kgtest::expect_values;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

TEST(quantile, interpolates_between_the_sorted_elements) {
  const tensor x({7., 1., 3., 5.});
  expect_values(kg::quantile(x, 0), {}, {1});
  expect_values(kg::quantile(x, 1), {}, {7});
  expect_values(kg::quantile(x, 0.5), {}, {4});
  expect_values(kg::quantile(x, 0.1), {}, {1.6});
  expect_values(kg::median(tensor({4., 9., 2.})), {}, {4});
  expect_values(kg::median(tensor(3.)), {}, {3});
}

TEST(quantile, is_taken_over_any_axes) {
  const tensor x = kg::reshape(kg::arange(0, 24, 1, kg::dtype::float64), {2, 3, 4});
  expect_values(kg::median(x, 2), {2, 3}, {1.5, 5.5, 9.5, 13.5, 17.5, 21.5});
  expect_values(kg::median(x, {0, 2}), {3}, {7.5, 11.5, 15.5});
  expect_values(kg::median(x, {0, 2}, true), {1, 3, 1}, {7.5, 11.5, 15.5});
  expect_values(kg::quantile(x, 0.25, {-3, 1}), {4}, {5, 6, 7, 8});
  expect_values(kg::median(x, {}), {2, 3, 4}, x.to_doubles());
}

TEST(quantile, is_nan_of_nan_and_of_nothing_and_keeps_infinities) {
  expect_values(kg::median(tensor{{1., nan, 2.}, {1., inf, -inf}}, 1), {2}, {nan, 1});
  expect_values(kg::quantile(tensor({-inf, 0., inf}), 0.5), {}, {0});
  expect_values(kg::quantile(tensor({1., inf}), 0.5), {}, {inf});
  expect_values(kg::median(kg::zeros({2, 0}), 1), {2}, {nan, nan});
  EXPECT_EQ(kg::median(kg::zeros({0, 2}), 1).dims(), kg::shape{0});
  EXPECT_EQ(kg::median(tensor({1, 2})).type(), kg::dtype::float64);
  expect_values(kg::median(tensor({1, 2})), {}, {1.5});
  expect_values(kg::median(kg::full({3}, 16777217, kg::dtype::int32)), {}, {16777217});  // no float32
}

TEST(quantile, refuses_shares_and_axes_that_are_none) {
  const tensor x({1., 2.});
  expect_refused("quantile", [&] { return kg::quantile(x, 1.5); }, {"q 1.5", "0 to 1"});
  expect_refused("quantile", [&] { return kg::quantile(x, nan); }, {"q "});
  expect_refused("median", [&] { return kg::median(x, 1); }, {"axis 1"});
  expect_refused("median", [] { return kg::median(tensor()); }, {"operand x"});
}

TEST(quantile, is_differentiable) {
  check_gradients("quantile", [](std::span<const tensor> in) { return kg::square(kg::quantile(in[0], 0.3, {0, 2})); },
                  {kg::reshape(kg::cast(kg::permutation(24, 5), kg::dtype::float64) * 0.1, {3, 2, 4})});
}

TEST(list_difference, keeps_order_and_repetitions) {
  const auto [values, indices] = kg::list_difference(tensor({5, 1, 2, 5, 3, 9}), tensor({3, 1, 7}));
  expect_values(values, {4}, {5, 2, 5, 9});
  expect_values(indices, {4}, {0, 2, 3, 5});
  EXPECT_EQ(indices.type(), kg::dtype::int32);
}

TEST(list_difference, takes_every_order_and_equates_nan_and_zeros) {
  const auto floats = kg::list_difference(tensor({nan, 0., -1., inf}), tensor({inf, nan, -0.}));
  expect_values(floats.values, {1}, {-1});
  expect_values(kg::list_difference(tensor({true, false}), tensor({true})).values, {1}, {0});
  expect_values(kg::list_difference(tensor({4, 2}), kg::zeros({0}, kg::dtype::int32)).values, {2}, {4, 2});
  expect_values(kg::list_difference(kg::zeros({0}), tensor({1.f})).values, {0}, {});
}

TEST(list_difference, refuses_what_is_no_list_and_two_dtypes) {
  expect_refused("list_difference", [] { return kg::list_difference(kg::zeros({2, 2}), kg::zeros({1})).values; },
                 {"operand x", "[2, 2]"});
  expect_refused("list_difference", [] { return kg::list_difference(tensor({1}), tensor({1.f})).values; },
                 {"int32 and float32"});
}

}  // namespace
