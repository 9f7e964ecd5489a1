// SPDX-License-Identifier: Apache-2.0
// Derivatives of elementwise ops against formulas in long double, where a rule that is right on paper would overflow,
// cancel, or has lost the digits that it needs. tests/elementwise/gradients.cc has all of them at other operands.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using doubles = std::vector<double>;
using wide = long double;

constexpr wide ln_2 = 0.693147180559945309417232121458176568L, ln_10 = 2.302585092994045684017991454684364208L;
constexpr wide pi = 3.141592653589793238462643383279502884L;
constexpr wide selu_scale = 1.0507009873554804934193349852946L, selu_alpha = 1.6732632423543772848170429916717L;

// The distance in units in the last place of the dtype at the expected value; 0 for equal infinities.
double ulps(double got, wide expected, dtype type) {
  const bool single = type == dtype::float32;
  const wide most = single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  if (std::fabs(expected) > most) return std::isinf(got) && (got > 0) == (expected > 0) ? 0 : 1e9;
  if (!std::isfinite(got)) return 1e9;
  int exponent = 0;
  std::frexp(expected, &exponent);
  const int digits = single ? 24 : 53, least = single ? -149 : -1074;
  const wide unit = std::ldexp(wide{1}, std::max(exponent - digits, least));
  return static_cast<double>(std::fabs(static_cast<wide>(got) - expected) / unit);
}

struct derivative {
  std::string name;
  std::function<tensor(const tensor&)> f;
  wide (*first)(wide);
  doubles at;  ///< operands whose derivative used to be wrong, and ordinary ones
  double ulp;
};

wide one_less_square(wide x) { return (1 - x) * (1 + x); }
wide normal_density(wide x) { return std::exp(-x * x / 2) / std::sqrt(2 * pi); }

const std::vector<derivative>& derivatives() {
  static const std::vector<derivative> all = {
      {"exp2",
       [](const tensor& x) { return kg::exp2(x); },
       [](wide x) { return ln_2 * std::exp2(x); },
       {-3.5, 0, 1e-4, 10, 127.9, 128, 128.3, 1023.9, 1024, 1024.4},
       4},
      {"expm1",
       [](const tensor& x) { return kg::expm1(x); },
       [](wide x) { return std::exp(x); },
       {-40, -80, -700, -1, -1e-6, 0, 2, 80},
       2},
      {"log2",
       [](const tensor& x) { return kg::log2(x); },
       [](wide x) { return 1 / (x * ln_2); },
       {1e-38, 1e-3, 1, 2.9e38},
       2},
      {"log10",
       [](const tensor& x) { return kg::log10(x); },
       [](wide x) { return 1 / (x * ln_10); },
       {1.5e-39, 1e-3, 1, 2.9e38},
       2},
      {"asin",
       [](const tensor& x) { return kg::asin(x); },
       [](wide x) { return 1 / std::sqrt(one_less_square(x)); },
       {0, 1e-5, 0.5, -0.9, 0.9999, 0.999999, -0.99999994, 1},
       4},
      {"acos",
       [](const tensor& x) { return kg::acos(x); },
       [](wide x) { return -1 / std::sqrt(one_less_square(x)); },
       {0, 1e-5, 0.5, -0.9, 0.9999, 0.999999, -0.99999994, 1},
       4},
      {"atanh",
       [](const tensor& x) { return kg::atanh(x); },
       [](wide x) { return 1 / one_less_square(x); },
       {0, 1e-5, 0.5, -0.9, 0.9999, 0.999999, -0.99999994, 1},
       3},
      {"acosh",
       [](const tensor& x) { return kg::acosh(x); },
       [](wide x) { return 1 / (std::sqrt(x - 1) * std::sqrt(x + 1)); },
       {1, 1.0000001192092896, 1.0001, 1.5, 40, 1e10, 3e19, 1e30, 3e38},
       6},
      {"asinh",
       [](const tensor& x) { return kg::asinh(x); },
       [](wide x) { return 1 / std::hypot(x, wide{1}); },
       {0, 1e-30, -0.5, 7, -1e10, 3e19, 1e30, 3e38},
       3},
      {"elu",
       [](const tensor& x) { return kg::elu(x); },
       [](wide x) { return x > 0 ? 1 : std::exp(x); },
       {-16, -80, -1, -1e-6, 0, 1e-6, 100},
       2},
      {"selu",
       [](const tensor& x) { return kg::selu(x); },
       [](wide x) { return x > 0 ? selu_scale : selu_scale * selu_alpha * std::exp(x); },
       {-16, -80, -700, -1000, -1, -1e-6, 0, 1e-6, 100},
       4},
      {"sigmoid",
       [](const tensor& x) { return kg::sigmoid(x); },
       [](wide x) { return 1 / (2 + std::exp(x) + std::exp(-x)); },
       {-80, -37.4, -3, 0, 1e-4, 3, 17, 37.4, 80},
       5},
      {"tanh",
       [](const tensor& x) { return kg::tanh(x); },
       [](wide x) { return 4 / (2 + std::exp(2 * x) + std::exp(-2 * x)); },
       {-40, -9, -3, 0, 1e-4, 0.5, 3, 9, 40},
       5},
      {"rsqrt",
       [](const tensor& x) { return kg::rsqrt(x); },
       [](wide x) { return -1 / (2 * x * std::sqrt(x)); },
       {1.3e-26, 1e-3, 1, 2.9e20},
       6},
      {"gelu",
       [](const tensor& x) { return kg::gelu(x); },
       [](wide x) { return std::erfc(-x / std::sqrt(wide{2})) / 2 + x * normal_density(x); },
       {-6, -4, -12, -2, 0, 0.3, 3, 6},
       64},
  };
  return all;
}

doubles derivative_of(const std::function<tensor(const tensor&)>& f, const doubles& at, dtype type) {
  return kg::grad(f)(kg::cast(tensor(at), type)).to_doubles();
}

TEST(first_derivatives, keep_their_digits_where_the_operand_or_the_result_is_large_small_or_near_a_pole) {
  for (const derivative& d : derivatives())
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const doubles at = kg::cast(tensor(d.at), type).to_doubles(), got = derivative_of(d.f, d.at, type);
      for (std::size_t i = 0; i < at.size(); ++i)
        EXPECT_LE(ulps(got[i], d.first(at[i]), type), d.ulp)
            << d.name << " of " << kg::name_of(type) << " at " << at[i] << ": " << got[i] << " is not "
            << static_cast<double>(d.first(at[i]));
    }
}

TEST(the_derivatives_of_atan2, are_right_at_every_scale) {
  for (const auto& [type, from, to] : {std::tuple{dtype::float32, -37, 37}, std::tuple{dtype::float64, -300, 300}})
    for (int power = from; power <= to; ++power) {
      const wide scale = std::pow(wide{10}, power);
      for (const auto& [y, x] : {std::pair{3, 4}, std::pair{-5, 12}, std::pair{8, -1}}) {
        const tensor a = kg::cast(tensor(static_cast<double>(y * scale)), type),
                     b = kg::cast(tensor(static_cast<double>(x * scale)), type);
        const wide p = a.item(), q = b.item(), length = std::hypot(p, q);
        const auto g = kg::grads([](const tensor& s, const tensor& t) { return kg::atan2(s, t); })(a, b);
        EXPECT_LE(ulps(g[0].item(), q / length / length, type), 4) << y << ", " << x << " times 10^" << power;
        EXPECT_LE(ulps(g[1].item(), -p / length / length, type), 4) << y << ", " << x << " times 10^" << power;
      }
    }
}

TEST(the_gradient_of_logsumexp, is_the_softmax_however_large_the_operands_are) {
  for (const double base : {0.0, 1e7, -1e7, 3e37}) {
    const tensor x = kg::cast(tensor({base, base}), dtype::float32);
    EXPECT_EQ(kg::grad([](const tensor& t) { return kg::logsumexp(t); })(x).to_doubles(), (doubles{0.5, 0.5})) << base;
  }
  const tensor rows({1e7f, 1e7f, 2e7f, 3.0f, 3.0f, 3.0f}, {2, 3});
  const tensor weights({2.0f, 3.0f});
  const doubles g = kg::grad([](const tensor& t) { return kg::logsumexp(t, 1); })(rows, weights).to_doubles();
  const doubles wanted = {0, 0, 2, 1, 1, 1};
  for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], wanted[i], 1e-6);
}

// The gradient of a branch that is not taken is 0 times its derivative, which is NaN where that is infinite or NaN.
TEST(the_gradient_of_where, is_nan_where_a_branch_that_is_not_taken_has_no_finite_derivative) {
  const tensor x({-1.f, 0.f, 4.f});
  const auto root = [](const tensor& t) { return kg::where(t > 0, kg::sqrt(t), kg::zeros_like(t)); };
  const auto safe = [](const tensor& t) {
    const tensor inside = kg::where(t > 0, t, kg::ones_like(t));
    return kg::where(t > 0, kg::sqrt(inside), kg::zeros_like(t));
  };
  EXPECT_EQ(root(tensor({-1.f, 0.f, 4.f})).to_doubles(), (doubles{0, 0, 2}));
  const doubles wrong = kg::grad(root)(x).to_doubles(), right = kg::grad(safe)(x).to_doubles();
  EXPECT_TRUE(std::isnan(wrong[0]) && std::isnan(wrong[1]) && wrong[2] == 0.25);
  EXPECT_EQ(right, (doubles{0, 0, 0.25}));
}

}  // namespace
