// SPDX-License-Identifier: Apache-2.0
// Draws from discrete distributions on every target: which outcomes come, how often, and that they are the same ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "kernels/common/parallel.h"
#include "kernels/create/multinomial.h"
#include "kernels/create/random.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kgtest::guarded;

template <class T>
constexpr auto of_type = [](const auto& table) {
  for (const entry& e : table)
    if (e.type == (sizeof(T) == 4 ? kerngrad::dtype::float32 : kerngrad::dtype::float64)) return e.run;
  return run_fn{};
};

template <class T>
std::vector<std::int32_t> draws(const std::vector<T>& logits, multinomial_geometry g, bool simd = true) {
  g.outcomes = static_cast<std::int64_t>(logits.size()) / g.rows;
  guarded<T> x(logits.size());
  std::copy(logits.begin(), logits.end(), x.begin());
  guarded<std::int32_t> y(static_cast<std::size_t>(g.rows * g.samples));
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  (simd ? of_type<T>(multinomial_simd) : of_type<T>(reference::multinomial_reference))(in, out, &g);
  return {y.begin(), y.end()};
}

// How often each outcome comes, as parts of all draws.
std::vector<double> shares(const std::vector<std::int32_t>& drawn, std::size_t outcomes) {
  std::vector<double> all(outcomes);
  for (const std::int32_t e : drawn) all.at(static_cast<std::size_t>(e)) += 1.0 / static_cast<double>(drawn.size());
  return all;
}

TEST(kernels_multinomial, draw_outcomes_as_often_as_their_weights_say) {
  const std::vector<double> weights = {1, 0, 2, 4, 0.5, 0, 0.5, 0};
  std::vector<float> logits;
  for (const double w : weights) logits.push_back(static_cast<float>(std::log(w)) + 3);  // -infinity where it is 0
  constexpr std::int64_t samples = 200000;
  kgtest::on_every_target([&](const char*) {
    const auto by_logits = shares(draws(logits, {1, 0, samples, 11, false}), weights.size());
    const auto by_weights = shares(draws(weights, {1, 0, samples, 12, true}), weights.size());
    for (std::size_t e = 0; e < weights.size(); ++e) {
      const double p = weights[e] / 8, deviation = std::sqrt(p * (1 - p) / samples);
      EXPECT_NEAR(by_logits[e], p, 4 * deviation) << e;
      EXPECT_NEAR(by_weights[e], p, 4 * deviation) << e;
    }
  });
}

TEST(kernels_multinomial, compare_the_stream_of_random_uniform_with_sums_of_weights) {
  // The stream is that of float64 draws, so that thresholds on those say which outcome comes.
  constexpr std::int64_t samples = 1500;
  std::vector<double> uniform(2 * samples);
  const random_geometry whole{.count = 2 * samples, .seed = 77, .offset = 0, .low = 0, .high = 1};
  void* to[] = {uniform.data()};
  kgtest::on_every_target([&](const char*) {
    RandomUniform_float64(nullptr, to, &whole);
    const auto drawn = draws<double>({1, 2, 5, 4, 2, 2}, {2, 0, samples, 77, true});
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const double u = uniform[i], first = i < samples ? 0.125 : 0.5, second = i < samples ? 0.375 : 0.75;
      ASSERT_EQ(drawn[i], u < first ? 0 : u < second ? 1 : 2) << i;
    }
  });
}

TEST(kernels_multinomial, of_the_reference_draw_the_same_outcomes) {
  std::vector<float> logits;
  for (int e = 0; e < 3 * 131; ++e) logits.push_back(static_cast<float>(e * 37 % 101) / 25 - 2);
  const std::vector<double> precise(logits.begin(), logits.end());
  kgtest::on_every_target([&](const char*) {
    for (const std::int64_t samples : {1, 2, 511, 1100}) {
      const multinomial_geometry g{3, 0, samples, 0x123456789abcdef, false};
      EXPECT_EQ(draws(logits, g), draws(logits, g, false));
      EXPECT_EQ(draws(precise, g), draws(precise, g, false));
    }
  });
}

TEST(kernels_multinomial, draw_the_last_outcome_that_has_weight_at_the_end_of_the_range) {
  const float least = std::numeric_limits<float>::denorm_min();
  kgtest::on_every_target([&](const char*) {
    for (const std::int32_t e : draws<float>({0, least, 0, 0}, {1, 0, 3000, 5, true})) ASSERT_EQ(e, 1);
    for (const std::int32_t e : draws<double>({-1e300, 1e300, -1e300}, {1, 0, 3000, 5, false})) ASSERT_EQ(e, 1);
  });
}

TEST(kernels_multinomial, give_the_same_draws_with_any_number_of_threads) {
  const std::size_t before = threads_allowed();
  const std::vector<float> logits(4 * 1000, 0.5f);
  std::vector<std::int32_t> first;
  for (const std::size_t threads : {1, 2, 3}) {
    allow_threads(threads);
    const auto drawn = draws(logits, {4, 0, 70001, 9, false});
    if (first.empty()) first = drawn;
    EXPECT_EQ(drawn, first) << threads;
  }
  allow_threads(before);
}

TEST(kernels_multinomial, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(multinomial_simd), std::size(reference::multinomial_reference));
  for (std::size_t i = 0; i < std::size(multinomial_simd); ++i)
    EXPECT_EQ(multinomial_simd[i].type, reference::multinomial_reference[i].type);
}

}  // namespace
