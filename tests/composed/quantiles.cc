// SPDX-License-Identifier: Apache-2.0
// Quantiles of several shares, by each definition, and of elements next to NaN.
#include <algorithm>
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::quantile_method;
using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

// Hyndman and Fan 1996: with n * q + m = j + g the quantile is (1 - gamma) x_j + gamma x_{j + 1}, counted from 1.
double by_definition(doubles x, double q, quantile_method method) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  const auto element = [&](double j) { return x[static_cast<std::size_t>(std::clamp(j, 1.0, n)) - 1]; };
  const auto mixed = [&](double m, auto gamma) {
    const double at = n * q + m, j = std::floor(at);
    const double part = gamma(j, at - j);
    return (1 - part) * element(j) + part * element(j + 1);
  };
  const auto linear = [](double, double g) { return g; };
  const double from_zero = (n - 1) * q;
  switch (method) {
    case quantile_method::inverted_cdf: return mixed(0, [](double, double g) { return g > 0 ? 1.0 : 0.0; });
    case quantile_method::averaged_inverted_cdf: return mixed(0, [](double, double g) { return g > 0 ? 1 : 0.5; });
    case quantile_method::closest_observation:
      return mixed(-0.5, [](double j, double g) { return g == 0 && std::fmod(j, 2) == 0 ? 0.0 : 1.0; });
    case quantile_method::interpolated_inverted_cdf: return mixed(0, linear);
    case quantile_method::hazen: return mixed(0.5, linear);
    case quantile_method::weibull: return mixed(q, linear);
    case quantile_method::linear: return mixed(1 - q, linear);
    case quantile_method::median_unbiased: return mixed((q + 1) / 3, linear);
    case quantile_method::normal_unbiased: return mixed(q / 4 + 3.0 / 8, linear);
    case quantile_method::lower: return element(std::floor(from_zero) + 1);
    case quantile_method::higher: return element(std::ceil(from_zero) + 1);
    case quantile_method::midpoint: return (element(std::floor(from_zero) + 1) + element(std::ceil(from_zero) + 1)) / 2;
    case quantile_method::nearest: return element(std::nearbyint(from_zero) + 1);
  }
  return nan;
}

TEST(quantile, follows_every_definition) {
  const doubles few{7, 1, 3, 5}, more{2.5, -1, 8, 0.25, 3, 3, 11, -4, 6, 1};
  const doubles shares{0, 0.125, 0.25, 0.3, 0.5, 0.625, 0.75, 0.9, 1};
  for (const doubles& x : {few, more})
    for (int i = 0; i <= static_cast<int>(quantile_method::nearest); ++i) {
      const auto method = static_cast<quantile_method>(i);
      doubles wanted;
      for (const double q : shares) wanted.push_back(by_definition(x, q, method));
      SCOPED_TRACE(i);
      expect_values(kg::quantile(tensor(x), shares, kg::all_axes, false, method), {9}, wanted);
      expect_values(kg::quantile(tensor(x), 0.3, 0, true, method), {1}, {wanted[3]});
      expect_values(kg::percentile(tensor(x), 62.5, 0, false, method), {}, {wanted[5]});
    }
}

TEST(quantile, of_several_shares_has_them_first) {
  const tensor x = kg::reshape(kg::arange(0, 24, 1, kg::dtype::float64), {2, 3, 4});
  expect_values(kg::quantile(x, {0.0, 0.5}, {0, 2}), {2, 3}, {0, 4, 8, 7.5, 11.5, 15.5});
  expect_values(kg::quantile(x, {0.5}, -1, true), {1, 2, 3, 1}, {1.5, 5.5, 9.5, 13.5, 17.5, 21.5});
  expect_values(kg::percentile(x, {0, 100}), {2}, {0, 23});
  EXPECT_EQ(kg::quantile(x, std::span<const double>{}, 1).dims(), (kg::shape{0, 2, 4}));
  expect_values(kg::quantile(tensor({nan, 1.}), {0.0, 1.0}), {2}, {nan, nan});
  expect_values(kg::quantile(kg::zeros({0}), {0.0, 1.0}), {2}, {nan, nan});
  expect_values(kg::quantile(tensor({-inf, 0., inf}), {0.0, 0.25, 0.5, 1.0}), {4}, {-inf, -inf, 0, inf});
  EXPECT_EQ(kg::percentile(tensor({1, 2}), 50).type(), kg::dtype::float64);
  expect_refused("quantile", [&] { return kg::quantile(x, {0.5, 1.5}); }, {"q 1.5", "0 to 1"});
  expect_refused("percentile", [&] { return kg::percentile(x, 101); }, {"q 101", "0 to 100"});
}

TEST(nanquantile, passes_over_nan_in_each_row) {
  const tensor x({nan, 3., 1., nan, nan, nan, nan, nan, 7., 2., 4., 8.}, {3, 4});
  expect_values(kg::nanmedian(x, 1), {3}, {2, nan, 5.5});
  expect_values(kg::nanquantile(x, {0.0, 0.5, 1.0}, 1), {3, 3}, {1, nan, 2, 2, nan, 5.5, 3, nan, 8});
  expect_values(kg::nanmedian(x), {}, {3.5});
  expect_values(kg::nanpercentile(x, 25, 1, true), {3, 1}, {1.5, nan, 3.5});
  expect_values(kg::nanmedian(tensor({4, 1, 2})), {}, {2});
  expect_values(kg::nanmedian(kg::zeros({2, 0}), 1), {2}, {nan, nan});
  const auto hazen = quantile_method::hazen;
  expect_values(kg::nanquantile(tensor({7., nan, 1., 3., nan, 5.}), 0.3, 0, false, hazen), {},
                {by_definition({7, 1, 3, 5}, 0.3, hazen)});
}

TEST(nanquantile, is_differentiable_and_gives_nan_no_gradient) {
  const tensor x = kg::reshape(kg::cast(kg::permutation(12, 5), kg::dtype::float64) * 0.1, {3, 4});
  check_gradients("quantile", [](auto in) { return kg::square(kg::quantile(in[0], {0.3, 0.8}, 1)); }, {x});
  check_gradients("nanquantile", [](auto in) { return kg::square(kg::nanquantile(in[0], 0.4, 0)); }, {x});
  const auto slope = kg::grad([](const tensor& t) { return kg::nanquantile(t, 0.25); });
  expect_values(slope(tensor({nan, 1., 3.})), {3}, {0, 0.75, 0.25});
}

}  // namespace
