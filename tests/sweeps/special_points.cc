// SPDX-License-Identifier: Apache-2.0
// Values and slopes at zeros, infinities and ends of domains, against limits of the definitions.
#include <limits>
#include <optional>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::shape;
using kg::tensor;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// A function of one number. No slope: there is none that two libraries agree on.
struct point {
  std::string name;
  std::function<tensor(const tensor&)> of;
  double x, value;
  std::optional<double> slope{};
};

const point points[] = {
    {"exp", [](const tensor& x) { return kg::exp(x); }, -infinity, 0, 0},
    {"exp", [](const tensor& x) { return kg::exp(x); }, 710, infinity, infinity},
    {"expm1", [](const tensor& x) { return kg::expm1(x); }, -infinity, -1, 0},
    {"log", [](const tensor& x) { return kg::log(x); }, 0, -infinity, infinity},
    {"log", [](const tensor& x) { return kg::log(x); }, -1, nan},
    {"log1p", [](const tensor& x) { return kg::log1p(x); }, -1, -infinity, infinity},
    {"sqrt", [](const tensor& x) { return kg::sqrt(x); }, 0, 0, infinity},
    {"sqrt", [](const tensor& x) { return kg::sqrt(x); }, infinity, infinity, 0},
    {"rsqrt", [](const tensor& x) { return kg::rsqrt(x); }, infinity, 0},
    {"reciprocal", [](const tensor& x) { return kg::reciprocal(x); }, infinity, 0},
    {"tanh", [](const tensor& x) { return kg::tanh(x); }, infinity, 1, 0},
    {"atan", [](const tensor& x) { return kg::atan(x); }, -infinity, -std::acos(0.0), 0},
    {"erf", [](const tensor& x) { return kg::erf(x); }, infinity, 1, 0},
    {"erfc", [](const tensor& x) { return kg::erfc(x); }, -infinity, 2, 0},
    {"sigmoid", [](const tensor& x) { return kg::sigmoid(x); }, -infinity, 0, 0},
    {"sigmoid", [](const tensor& x) { return kg::sigmoid(x); }, infinity, 1, 0},
    {"softplus", [](const tensor& x) { return kg::softplus(x); }, -infinity, 0, 0},
    {"softplus", [](const tensor& x) { return kg::softplus(x); }, infinity, infinity, 1},
    {"log_sigmoid", [](const tensor& x) { return kg::log_sigmoid(x); }, -infinity, -infinity, 1},
    {"log_sigmoid", [](const tensor& x) { return kg::log_sigmoid(x); }, infinity, 0, 0},
    {"x^0", [](const tensor& x) { return kg::pow(x, 0.0); }, 0, 1, 0},
    {"x^1", [](const tensor& x) { return kg::pow(x, 1.0); }, 0, 0, 1},
    {"x^2", [](const tensor& x) { return kg::pow(x, 2.0); }, 0, 0, 0},
    {"x^3", [](const tensor& x) { return kg::pow(x, 3.0); }, -2, -8, 12},
    {"x^0.5", [](const tensor& x) { return kg::pow(x, 0.5); }, 0, 0, infinity},
    {"x^-1", [](const tensor& x) { return kg::pow(x, -1.0); }, -2, -0.5, -0.25},
    {"2^x", [](const tensor& x) { return kg::pow(2.0, x); }, -infinity, 0, 0},
    {"0^x", [](const tensor& x) { return kg::pow(0.0, x); }, 2, 0, 0},
    {"x log x", [](const tensor& x) { return kg::xlogy(x, x); }, 0, 0},
    {"0 log x", [](const tensor& x) { return kg::xlogy(0.0, x); }, 0, 0},
    {"div_no_nan(1, x)", [](const tensor& x) { return kg::div_no_nan(tensor(1.0), x); }, 0, 0, 0},
    {"div_no_nan(x, 0)", [](const tensor& x) { return kg::div_no_nan(x, tensor(0.0)); }, 3, 0, 0},
    {"square", [](const tensor& x) { return kg::square(x); }, 1e200, infinity, 2e200},
    {"cbrt", [](const tensor& x) { return kg::cbrt(x); }, -8, -2, 1.0 / 12},
    {"atan2(0, x)", [](const tensor& x) { return kg::atan2(0.0, x); }, -1, std::acos(-1.0)},
    {"hypot(x, inf)", [](const tensor& x) { return kg::hypot(x, infinity); }, 1, infinity},
    {"logsumexp(-inf, x)", [](const tensor& x) { return kg::logsumexp(kg::stack({tensor(-infinity), x})); }, 2, 2, 1},
    {"log_add_exp(-inf, x)", [](const tensor& x) { return kg::log_add_exp(tensor(-infinity), x); }, 2, 2, 1},
    {"log_add_exp(x, 800)", [](const tensor& x) { return kg::log_add_exp(x, tensor(800.0)); }, -800, 800, 0},
    {"clip", [](const tensor& x) { return kg::clip(x, -1, 1); }, infinity, 1, 0},
    {"clip", [](const tensor& x) { return kg::clip(x, -1, 1); }, nan, nan},
    {"relu", [](const tensor& x) { return kg::relu(x); }, nan, nan},
    {"relu", [](const tensor& x) { return kg::relu(x); }, 0, 0, 0},
    {"maximum(x, nan)", [](const tensor& x) { return kg::maximum(x, nan); }, 1, nan},
    {"mean of one", [](const tensor& x) { return kg::mean(kg::reshape(x, {1})); }, -infinity, -infinity, 1},
    {"mod(x, 3)", [](const tensor& x) { return kg::mod(x, 3.0); }, -1, 2, 1},
    {"fmod(x, 3)", [](const tensor& x) { return kg::fmod(x, 3.0); }, -1, -1, 1},
    {"floor_div(x, 3)", [](const tensor& x) { return kg::floor_div(x, 3.0); }, -1, -1, 0},
    {"sign", [](const tensor& x) { return kg::sign(x); }, 0, 0, 0},
};

template <class Table>
void expect_points(const Table& table) {
  for (const point& p : table) {
    SCOPED_TRACE(p.name + " at " + std::to_string(p.x));
    const double value = p.of(tensor(p.x)).item();
    EXPECT_TRUE(same_number(value, p.value) || std::fabs(value - p.value) <= 1e-15 * std::fabs(p.value)) << value;
    if (!p.slope) continue;
    const double slope = kg::grad(p.of)(tensor(p.x)).item();
    EXPECT_TRUE(same_number(slope, *p.slope) || std::fabs(slope - *p.slope) <= 1e-14 * std::fabs(*p.slope)) << slope;
  }
}

TEST(values_and_slopes, at_special_points_are_the_limits_of_the_definitions) { expect_points(points); }

// The other operand is infinite: no product of 0 and infinity may make NaN of what is known.
TEST(softmaxes, of_infinite_logits_are_shares_of_the_finite_ones) {
  const tensor x({-infinity, 1.0, -infinity, 1.0});
  expect_is(kg::softmax(x), {{4}, {0, 0.5, 0, 0.5}});
  expect_is(kg::log_softmax(x), {{4}, {-infinity, -std::log(2.0), -infinity, -std::log(2.0)}}, 1e-15);
  expect_is(kg::grad([](const tensor& t) { return kg::logsumexp(t); })(x), {{4}, {0, 0.5, 0, 0.5}}, 1e-15);
}

}  // namespace
