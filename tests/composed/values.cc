// SPDX-License-Identifier: Apache-2.0
// Choices, rounding, angles, spaced numbers and flat indices.
#include <limits>
#include <numbers>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = std::numbers::pi;

TEST(nan_to_num, has_numbers_in_place_of_nan_and_infinities) {
  const double most = std::numeric_limits<double>::max();
  expect_values(kg::nan_to_num(tensor({nan, inf, -inf, 2.})), {4}, {0, most, -most, 2});
  expect_values(kg::nan_to_num(tensor({nan, inf, -inf}), {.nan = 1, .posinf = 2, .neginf = 3}), {3}, {1, 2, 3});
  const tensor single({static_cast<float>(inf)});
  expect_values(kg::nan_to_num(single), {1}, {std::numeric_limits<float>::max()});
  for (const kg::dtype half : {kg::dtype::float16, kg::dtype::bfloat16}) {
    const tensor y = kg::nan_to_num(kg::cast(single, half));
    EXPECT_EQ(y.type(), half);
    // The next number of the dtype would be infinite.
    EXPECT_TRUE(std::isfinite(y.item()) && std::isinf(kg::cast(kg::cast(y, kg::dtype::float64) * 1.01, half).item()));
  }
  expect_values(kg::nan_to_num(tensor({1, 2})), {2}, {1, 2});
  const auto slope = kg::grad([](const tensor& t) { return kg::sum(kg::nan_to_num(t)); });
  expect_values(slope(tensor({nan, inf, 2.})), {3}, {0, 0, 1});
}

TEST(round, keeps_a_number_of_decimals) {
  expect_values(kg::round(tensor({1.25, 2.71, -0.05, 1e300, nan}), 1), {5}, {1.2, 2.7, -0.0, 1e300, nan}, 1e-15);
  expect_values(kg::round(tensor({1234.5, -50., 150.}), -2), {3}, {1200, -0.0, 200});
  expect_values(kg::round(tensor({125, -17}), -1), {2}, {120, -20});
  EXPECT_EQ(kg::round(tensor({125}), -1).type(), kg::dtype::int32);
  expect_values(kg::round(tensor({2.5, 3.5}), 0), {2}, {2, 4});
  expect_values(kg::round(tensor({7}), 3), {1}, {7});
}

TEST(deg2rad, and_rad2deg_are_inverse) {
  expect_values(kg::deg2rad(tensor({180., -90.})), {2}, {pi, -pi / 2});
  EXPECT_EQ(kg::deg2rad(tensor({180})).type(), kg::dtype::float32);
  expect_values(kg::rad2deg(tensor({pi, 0.})), {2}, {180, 0});
  expect_values(kg::degrees(kg::radians(tensor({37.}))), {1}, {37});
}

TEST(sinc, is_smooth_at_0) {
  expect_values(kg::sinc(tensor({0., 0.5, 1., -1.5})), {4}, {1, 2 / pi, 0, -2 / (3 * pi)}, 1e-15);
  for (const double x : {1e-9, 0.01, 0.0317, 0.0319, 0.05}) {
    const long double angle = std::numbers::pi_v<long double> * x;
    expect_values(kg::sinc(tensor({x})), {1}, {static_cast<double>(std::sin(angle) / angle)}, 4e-16);
  }
  const auto slope = kg::grad([](const tensor& t) { return kg::sum(kg::sinc(t)); });
  const auto bend = kg::grad([&](const tensor& t) { return kg::sum(slope(t)); });
  expect_values(bend(tensor({0.})), {1}, {-pi * pi / 3}, 1e-14);
  check_gradients("sinc", [](auto in) { return kg::sinc(in[0]); }, {tensor({0., 0.02, 0.4, -2.3})});
}

TEST(heaviside, takes_the_middle_at_0) {
  expect_values(kg::heaviside(tensor({-2., 0., -0., 3., nan}), tensor(0.5)), {5}, {0, 0.5, 0.5, 1, nan});
  expect_values(kg::heaviside(tensor({0, 1}), tensor({7, 8})), {2}, {7, 1});
  const auto slope = kg::grad([](const tensor& m) { return kg::sum(kg::heaviside(tensor({-1., 0., 0.}), m)); });
  expect_values(slope(tensor({1., 2., 3.})), {3}, {0, 1, 1});
}

TEST(logspace, and_geomspace_multiply_by_a_constant) {
  expect_values(kg::logspace(0, 2, 3, 10, kg::dtype::float64), {3}, {1, 10, 100});
  expect_values(kg::logspace(1, 3, 3, 2), {3}, {2, 4, 8});
  expect_values(kg::geomspace(1, 8, 4, kg::dtype::float64), {4}, {1, 2, 4, 8}, 1e-14);
  expect_values(kg::geomspace(-0.3, -300, 4, kg::dtype::float64), {4}, {-0.3, -3, -30, -300}, 1e-13);
  expect_values(kg::geomspace(0.3, 7, 1, kg::dtype::float64), {1}, {0.3});
  EXPECT_EQ(kg::geomspace(1, 2, 0).dims(), kg::shape{0});
  EXPECT_EQ(kg::logspace(1, 2, 0).dims(), kg::shape{0});
  expect_refused("geomspace", [] { return kg::geomspace(-1, 1); }, {"one sign"});
  expect_refused("logspace", [] { return kg::logspace(0, 1, -1); }, {"count -1"});
}

TEST(eye, takes_a_dtype_second) {
  const tensor y = kg::eye(2, kg::dtype::int32);
  EXPECT_EQ(y.type(), kg::dtype::int32);
  expect_values(y, {2, 2}, {1, 0, 0, 1});
}

TEST(select, takes_the_first_condition_that_holds) {
  const tensor x({-1., 0.5, 3., nan});
  expect_values(kg::select({x < 0, x < 1}, {x * 0, x}, tensor(1.)), {4}, {-0.0, 0.5, 1, 1});
  expect_values(kg::select({tensor({true, false})}, {tensor(1)}, tensor({{2.5}, {3.5}})), {2, 2}, {1, 2.5, 1, 3.5});
  expect_values(kg::select({x < 0, x < 1}, {x * 0, x}, 1), {4}, {-0.0, 0.5, 1, 1});
  EXPECT_EQ(kg::select({tensor({true})}, {tensor({1.f})}, 0.5).type(), kg::dtype::float32);
  expect_refused("select", [] { return kg::select(std::span<const tensor>{}, std::span<const tensor>{}, 1.0); },
                 {"no choices"});
  const auto slope = kg::grad([](const tensor& t) { return kg::sum(kg::select({t < 1}, {t * t}, tensor(0.))); });
  expect_values(slope(tensor({0.5, 2.})), {2}, {1, 0});
  expect_refused("select", [&] { return kg::select({x < 0}, {x, x}, x); }, {"1 conditions", "2 choices"});
  expect_refused("select", [&] { return kg::select({x}, {x}, x); }, {"float64", "bool"});
}

TEST(piecewise, takes_the_last_condition_that_holds) {
  const tensor x({-2., 0.5, 3.});
  const auto negated = [](const tensor& t) { return -t; };
  const auto ten = [](const tensor&) { return tensor(10.); };
  expect_values(kg::piecewise(x, {x < 0, x > 1}, {negated, ten}), {3}, {2, 0, 10});
  expect_values(kg::piecewise(x, {x < 0}, {negated, [](const tensor& t) { return t * t; }}), {3}, {2, 0.25, 9});
  expect_values(kg::piecewise(x, {x < 1, x < 0}, {ten, negated}), {3}, {2, 10, 0});
  const auto squared = [](const tensor& t) { return t * t; };
  check_gradients("piecewise", [&](auto in) { return kg::piecewise(in[0], {in[0] < 0}, {negated, squared}); }, {x});
  expect_refused("piecewise", [&] { return kg::piecewise(x, {x < 0}, {ten, ten, ten}); }, {"3 functions"});
}

TEST(unravel_index, is_the_inverse_of_ravel_multi_index) {
  const kg::shape dims{2, 3, 4};
  const tensor flat({0, 5, 23, 12}, {2, 2});
  const kg::tensor_list at = kg::unravel_index(flat, dims);
  ASSERT_EQ(at.size(), 3u);
  expect_values(at[0], {2, 2}, {0, 0, 1, 1});
  expect_values(at[1], {2, 2}, {0, 1, 2, 0});
  expect_values(at[2], {2, 2}, {0, 1, 3, 0});
  EXPECT_EQ(at[0].type(), kg::dtype::int32);
  const tensor again = kg::ravel_multi_index(at, dims);
  expect_values(again, {2, 2}, flat.to_doubles());
  EXPECT_EQ(again.type(), kg::dtype::int64);
  expect_refused("unravel_index", [&] { return kg::unravel_index(tensor({24}), dims); }, {"index 24", "23"});
  expect_refused("ravel_multi_index", [&] { return kg::ravel_multi_index({tensor({0})}, dims); }, {"1 lists"});
  expect_refused("ravel_multi_index", [] { return kg::ravel_multi_index({tensor({-1})}, {3}); }, {"index -1"});
}

}  // namespace
