// SPDX-License-Identifier: Apache-2.0
// Random elements of further distributions: moments, Kolmogorov and Smirnov's test, identical bits everywhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using doubles = std::vector<double>;

constexpr double pi = 3.14159265358979323846;
constexpr std::int64_t count = 20000;

void expect_refused(const std::function<void()>& call, std::initializer_list<std::string_view> parts) {
  const std::string text = kgtest::refusal([&] { return call(), 0; });
  EXPECT_TRUE(kgtest::says(text, parts)) << text;
}

struct continuous {
  std::string name;
  std::function<tensor(const kg::shape&, std::int64_t seed, dtype type)> draw;
  std::function<tensor(const tensor&)> distribution;  // its distribution function
  double mean, variance;                              // NaN where there is none
};

tensor t_distribution(double degrees, const tensor& x) {
  // I(degrees / 2, 1/2) at degrees / (degrees + x^2) is the part outside of -|x| to |x|.
  const tensor outside = kg::betainc(tensor(degrees / 2), tensor(0.5), degrees / (degrees + x * x));
  return kg::where(x < 0, outside / 2, 1 - outside / 2);
}

// The integral of the density by the midpoint rule.
tensor von_mises_distribution(double mean, double concentration, const tensor& x) {
  constexpr int steps = 4000;
  doubles sums = {0};
  for (int i = 0; i < steps; ++i) {
    const double at = -pi + 2 * pi * (i + 0.5) / steps;
    sums.push_back(sums.back() + std::exp(concentration * (std::cos(at - mean) - 1)));
  }
  doubles result;
  for (const double v : x.to_doubles()) {
    const double place = std::clamp((v + pi) / (2 * pi) * steps, 0.0, steps - 1e-9);
    const std::size_t i = static_cast<std::size_t>(place);
    result.push_back((sums[i] + (place - static_cast<double>(i)) * (sums[i + 1] - sums[i])) / sums.back());
  }
  return tensor(result);
}

const std::vector<continuous>& continuous_ones() {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto gamma_part = [](double a) { return [=](const tensor& x) { return kg::gammainc(tensor(a), x); }; };
  const auto beta_of = [](double a, double b) {
    const double mean = a / (a + b);
    return continuous{"beta " + std::to_string(a),
                      [=](const kg::shape& d, std::int64_t s, dtype t) { return kg::random_beta(d, a, b, s, t); },
                      [=](const tensor& x) { return kg::betainc(tensor(a), tensor(b), x); }, mean,
                      mean * (1 - mean) / (a + b + 1)};
  };
  const auto t_of = [=](double n) {
    return continuous{
        "student_t", [=](const kg::shape& d, std::int64_t s, dtype t) { return kg::random_student_t(d, n, s, t); },
        [=](const tensor& x) { return t_distribution(n, x); }, n > 1 ? 0 : none, n > 4 ? n / (n - 2) : none};
  };
  const auto von_mises_of = [=](double mean, double k) {
    return continuous{
        "von_mises",
        [=](const kg::shape& d, std::int64_t s, dtype t) { return kg::random_von_mises(d, mean, k, s, t); },
        [=](const tensor& x) { return von_mises_distribution(mean, k, x); }, none, none};
  };
  static const std::vector<continuous> all = {
      {"exponential", [](const kg::shape& d, std::int64_t s, dtype t) { return kg::random_exponential(d, 4, s, t); },
       [](const tensor& x) { return -kg::expm1(x * -4); }, 0.25, 1.0 / 16},
      {"gamma", [](const kg::shape& d, std::int64_t s, dtype t) { return kg::random_gamma(d, 2.5, 1, s, t); },
       gamma_part(2.5), 2.5, 2.5},
      beta_of(0.5, 0.5),
      beta_of(2, 5),
      beta_of(40, 0.7),
      t_of(5),
      t_of(1),
      t_of(0.5),
      von_mises_of(0, 2),
      von_mises_of(2.5, 1e-7),
      von_mises_of(-3, 0.3),
      von_mises_of(1, 200),
      von_mises_of(1, 0)};
  return all;
}

// The largest distance of the sample's distribution function from the exact one is below 1.95 / sqrt(n) with a
// probability of 0.999. The seeds are fixed.
TEST(variates, pass_the_test_of_kolmogorov_and_smirnov) {
  for (const continuous& c : continuous_ones()) {
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const tensor drawn = c.draw({count}, 7, type);
      EXPECT_EQ(drawn.type(), type);
      doubles sample = drawn.to_doubles();
      std::ranges::sort(sample);
      const doubles exact = c.distribution(tensor(sample)).to_doubles();
      double distance = 0;
      for (std::size_t i = 0; i < sample.size(); ++i) {
        distance = std::max(distance, std::fabs(exact[i] - static_cast<double>(i) / count));
        distance = std::max(distance, std::fabs(exact[i] - static_cast<double>(i + 1) / count));
      }
      EXPECT_LT(distance, 1.95 / std::sqrt(count)) << c.name;
    }
  }
}

struct moments {
  double mean = 0, variance = 0;
};
moments moments_of(const doubles& x) {
  moments m;
  for (const double v : x) m.mean += v / static_cast<double>(x.size());
  for (const double v : x) m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(x.size());
  return m;
}

TEST(variates, have_the_mean_and_the_variance_of_their_distribution) {
  for (const continuous& c : continuous_ones()) {
    const moments m = moments_of(c.draw({count}, 11, dtype::float64).to_doubles());
    if (!std::isnan(c.variance)) {
      EXPECT_NEAR(m.mean, c.mean, 4 * std::sqrt(c.variance / count)) << c.name;
      EXPECT_NEAR(m.variance, c.variance, 0.15 * c.variance) << c.name;
    }
  }
}

struct discrete {
  std::string name;
  std::function<tensor(const kg::shape&, std::int64_t seed, dtype type)> draw;
  std::function<double(std::int64_t)> log_weight;  // the logarithm of the probability
  double mean, variance;
};

discrete poisson_of(double mean) {
  return {"poisson " + std::to_string(mean),
          [=](const kg::shape& d, std::int64_t s, dtype t) { return kg::random_poisson(d, mean, s, t); },
          [=](std::int64_t k) {
            const double n = static_cast<double>(k);
            return n * std::log(mean) - mean - std::lgamma(n + 1);
          },
          mean, mean};
}
discrete binomial_of(std::int64_t trials, double p) {
  const double n = static_cast<double>(trials);
  return {"binomial " + std::to_string(trials),
          [=](const kg::shape& d, std::int64_t s, dtype t) { return kg::random_binomial(d, trials, p, s, t); },
          [=](std::int64_t k) {
            const double m = static_cast<double>(k);
            return std::lgamma(n + 1) - std::lgamma(m + 1) - std::lgamma(n - m + 1) + m * std::log(p) +
                   (n - m) * std::log1p(-p);
          },
          n * p, n * p * (1 - p)};
}

// Chi-squared of the counts, with rare numbers together in one class.
TEST(variates, of_whole_numbers_have_the_frequencies_of_their_distribution) {
  for (const discrete& c : {poisson_of(0.3), poisson_of(4), poisson_of(60), poisson_of(2000.5), binomial_of(1, 0.3),
                            binomial_of(20, 0.5), binomial_of(400, 0.02), binomial_of(1000, 0.97)}) {
    const tensor drawn = c.draw({count}, 5, dtype::int64);
    const std::vector<std::int64_t> sample(drawn.data<std::int64_t>().begin(), drawn.data<std::int64_t>().end());
    const auto [least, most] = std::ranges::minmax(sample);
    double chi_squared = 0, rare = count;
    std::int64_t classes = 0, rare_count = count;
    for (std::int64_t k = least; k <= most; ++k) {
      const double expected = count * std::exp(c.log_weight(k));
      if (expected < 8) continue;
      const std::int64_t found = std::ranges::count(sample, k);
      chi_squared += (static_cast<double>(found) - expected) * (static_cast<double>(found) - expected) / expected;
      rare -= expected, rare_count -= found, ++classes;
    }
    if (rare > 8)
      chi_squared += (static_cast<double>(rare_count) - rare) * (static_cast<double>(rare_count) - rare) / rare;
    const double n = static_cast<double>(classes);
    EXPECT_LT(chi_squared, n + 4 * std::sqrt(2 * n) + 8) << c.name;
    const moments m = moments_of(drawn.to_doubles());
    EXPECT_NEAR(m.mean, c.mean, 4 * std::sqrt(c.variance / count)) << c.name;
    EXPECT_NEAR(m.variance, c.variance, 0.1 * c.variance) << c.name;
  }
}

TEST(variates, of_whole_numbers_keep_to_their_ends) {
  const kg::shape dims = {100};
  EXPECT_EQ(kg::max(kg::random_poisson(dims, 0, 1)).item<std::int64_t>(), 0);
  EXPECT_EQ(kg::max(kg::random_binomial(dims, 9, 0, 1)).item<std::int64_t>(), 0);
  EXPECT_EQ(kg::min(kg::random_binomial(dims, 9, 1, 1)).item<std::int64_t>(), 9);
  EXPECT_EQ(kg::max(kg::random_binomial(dims, 0, 0.5, 1)).item<std::int64_t>(), 0);
  EXPECT_LE(kg::max(kg::random_binomial({10000}, 3, 0.99, 1)).item<std::int64_t>(), 3);
  const doubles large = kg::random_poisson({2000}, 1e9, 3).to_doubles();
  EXPECT_NEAR(moments_of(large).mean, 1e9, 4 * std::sqrt(1e9 / 2000));
  EXPECT_NEAR(moments_of(large).variance, 1e9, 0.2e9);
}

TEST(variates, of_dirichlet_are_shares_with_the_marginals_of_beta) {
  const tensor alpha(doubles{0.02, 1, 3.5});
  const tensor rows = kg::random_dirichlet({count}, alpha, 9, dtype::float64);
  EXPECT_EQ(rows.dims(), (kg::shape{count, 3}));
  for (const double total : kg::sum(rows, 1).to_doubles()) EXPECT_NEAR(total, 1, 1e-14);
  EXPECT_GE(kg::min(rows).item<double>(), 0);
  const doubles mean = kg::mean(rows, 0).to_doubles(), parts = alpha.to_doubles();
  for (std::size_t i = 0; i < 3; ++i) {
    const double share = parts[i] / 4.52;
    EXPECT_NEAR(mean[i], share, 4 * std::sqrt(share * (1 - share) / 5.52 / count));
  }
}

// Every draw of this file, as its bits.
std::vector<doubles> all_draws() {
  std::vector<doubles> all;
  const kg::shape dims = {300, 70};
  for (const continuous& c : continuous_ones()) {
    if (c.name != "gamma") all.push_back(c.draw(dims, 3, dtype::float64).to_doubles());
  }
  all.push_back(kg::random_poisson(dims, 7, 3).to_doubles());
  all.push_back(kg::random_binomial(dims, 50, 0.3, 3).to_doubles());
  all.push_back(kg::random_dirichlet(dims, tensor(doubles{0.3, 2}), 3, dtype::float64).to_doubles());
  return all;
}

TEST(variates, have_the_same_bits_on_every_target_and_any_number_of_threads) {
  const std::vector<doubles> first = all_draws();
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    EXPECT_EQ(all_draws(), first) << target.name;
  }
  kg::set_simd_target("");
  kg::set_num_threads(3);
  EXPECT_EQ(all_draws(), first);
  kg::set_num_threads(1);
}

TEST(variates, of_other_seeds_differ_and_the_first_ones_do_not_depend_on_the_number) {
  for (const continuous& c : continuous_ones()) {
    const doubles some = c.draw({50}, 3, dtype::float64).to_doubles(),
                  more = c.draw({99}, 3, dtype::float64).to_doubles();
    EXPECT_TRUE(std::equal(some.begin(), some.end(), more.begin())) << c.name;
    EXPECT_NE(some, c.draw({50}, 4, dtype::float64).to_doubles()) << c.name;
  }
}

TEST(variates, of_parameters_outside_their_range_are_rejected) {
  const kg::shape dims = {3};
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, inf, nan}) {
    expect_refused([&] { kg::random_exponential(dims, bad, 1); }, {"random_exponential", "rate"});
    expect_refused([&] { kg::random_beta(dims, bad, 1, 1); }, {"random_beta"});
    expect_refused([&] { kg::random_beta(dims, 1, bad, 1); }, {"random_beta"});
    expect_refused([&] { kg::random_student_t(dims, bad, 1); }, {"degrees"});
    expect_refused([&] { kg::random_dirichlet(dims, tensor(doubles{1, bad}), 1); }, {"random_dirichlet"});
  }
  expect_refused([&] { kg::random_von_mises(dims, 4, 1, 1); }, {"mean"});
  expect_refused([&] { kg::random_von_mises(dims, 0, -1, 1); }, {"concentration"});
  expect_refused([&] { kg::random_poisson(dims, -1, 1); }, {"mean"});
  expect_refused([&] { kg::random_poisson(dims, 2e9, 1); }, {"mean"});
  expect_refused([&] { kg::random_poisson(dims, 5, 1, dtype::float32); }, {"int64"});
  expect_refused([&] { kg::random_binomial(dims, -1, 0.5, 1); }, {"trials"});
  expect_refused([&] { kg::random_binomial(dims, 5, 1.5, 1); }, {"probability"});
  expect_refused([&] { kg::random_binomial(dims, std::int64_t{1} << 40, 0.5, 1); }, {"variance"});
  expect_refused([&] { kg::random_exponential(dims, 1, 1, dtype::float16); }, {"random_exponential"});
}

}  // namespace
