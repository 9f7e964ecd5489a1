// SPDX-License-Identifier: Apache-2.0
// Windows and frames of signals, images of one and three channels, thresholds, and draws of further distributions.
#include <algorithm>
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

// ------------------------------------------------------------------------------------------ signals

TEST(windows, are_periodic_for_even_lengths_and_symmetric_for_odd_ones) {
  constexpr auto f64 = kg::dtype::float64;
  expect_values(kg::hann_window(4, f64), {4}, {0, 0.5, 1, 0.5});
  expect_values(kg::hann_window(5, f64), {5}, {0, 0.5, 1, 0.5, 0});
  expect_values(kg::hamming_window(4, f64), {4}, {0.08, 0.54, 1, 0.54});
  expect_values(kg::cosine_window(3, 2, 3, f64), {3}, {-1, 5, -1});
  expect_values(kg::hann_window(1, f64), {1}, {1});
  EXPECT_EQ(kg::hann_window(0).dims(), kg::shape{0});
  EXPECT_EQ(kg::hann_window(3).type(), kg::dtype::float32);
  expect_refused("hann_window", [] { return kg::hann_window(-1); }, {"length -1"});
  expect_refused("hamming_window", [] { return kg::hamming_window(3, kg::dtype::int32); }, {"dtype int32"});
}

TEST(frame, takes_stretches_that_begin_every_step) {
  const tensor x({1, 2, 3, 4, 5});
  expect_values(kg::frame(x, 3, 1), {3, 3}, {1, 2, 3, 2, 3, 4, 3, 4, 5});
  expect_values(kg::frame(x, 2, 2), {2, 2}, {1, 2, 3, 4});
  expect_values(kg::frame(x, 3, 2, {.pad_end = true, .pad_value = 9}), {3, 3}, {1, 2, 3, 3, 4, 5, 5, 9, 9});
  expect_values(kg::frame(x, 1, 3), {2, 1}, {1, 4});
  expect_values(kg::frame(x, 4, 2), {1, 4}, {1, 2, 3, 4});
  expect_values(kg::frame(x, 2, 4), {1, 2}, {1, 2});
  expect_values(kg::frame(kg::arange(7), 4, 2), {2, 4}, {0, 1, 2, 3, 2, 3, 4, 5});
  EXPECT_EQ(kg::frame(x, 7, 1, {.pad_end = true}).dims(), (kg::shape{5, 7}));
  EXPECT_EQ(kg::frame(x, 6, 1).dims(), (kg::shape{0, 6}));
  EXPECT_EQ(kg::frame(kg::zeros({0}), 2, 1, {.pad_end = true}).dims(), (kg::shape{0, 2}));
  expect_values(kg::frame(tensor({1, 2, 3, 4, 5, 6}, {2, 3}), 2, 1), {2, 2, 2}, {1, 2, 2, 3, 4, 5, 5, 6});
  expect_refused("frame", [&] { return kg::frame(x, 0, 1); }, {"length 0 and step 1"});
  expect_refused("frame", [&] { return kg::frame(tensor(1.0), 1, 1); }, {"operand signal", "rank 1"});
  check_gradients("frame", [](auto in) { return kg::square(kg::frame(in[0], 3, 2, {.pad_end = true})); },
                  {uniform({6}, 1)});
}

TEST(enclosing_power_of_two, is_the_least_that_is_not_below) {
  const std::int64_t cases[][2] = {{1, 1}, {2, 2},  {3, 4},
                                   {8, 8}, {9, 16}, {(std::int64_t{1} << 61) + 1, std::int64_t{1} << 62}};
  for (const auto& [value, wanted] : cases) EXPECT_EQ(kg::enclosing_power_of_two(value), wanted);
  expect_refused("enclosing_power_of_two", [] { return kg::enclosing_power_of_two(0); }, {"got 0"});
  expect_refused("enclosing_power_of_two",
                 [] { return kg::enclosing_power_of_two(std::numeric_limits<std::int64_t>::max()); }, {"2^62"});
}

// ------------------------------------------------------------------------------------------ images

TEST(grayscale_to_rgb, repeats_the_channel) {
  expect_values(kg::grayscale_to_rgb(tensor({1, 2}, {2, 1})), {2, 3}, {1, 1, 1, 2, 2, 2});
  EXPECT_EQ(kg::grayscale_to_rgb(kg::zeros({2, 4, 5, 1})).dims(), (kg::shape{2, 4, 5, 3}));
  expect_refused("grayscale_to_rgb", [] { return kg::grayscale_to_rgb(kg::zeros({1, 1, 3, 2})); }, {"size 1"});
  expect_refused("grayscale_to_rgb", [] { return kg::grayscale_to_rgb(kg::zeros({3})); }, {"rank 2 or more"});
}

TEST(rgb_to_grayscale, weighs_the_channels) {
  expect_values(kg::rgb_to_grayscale(tensor({100.0, 10.0, 1.0}, {1, 3})), {1, 1}, {29.89 + 5.87 + 0.114});
  const tensor whole = kg::rgb_to_grayscale(tensor({100, 10, 1, 255, 255, 255}, {2, 3}));
  EXPECT_EQ(whole.type(), kg::dtype::int32);
  EXPECT_EQ(whole.to_doubles()[0], 35);
  expect_refused("rgb_to_grayscale", [] { return kg::rgb_to_grayscale(kg::zeros({2, 2, 1})); }, {"size 3"});
  check_gradients("rgb_to_grayscale",
                  [](auto in) { return kg::square(kg::grayscale_to_rgb(kg::rgb_to_grayscale(in[0]))); },
                  {uniform({2, 2, 3}, 1)});
}

TEST(threshold, splits_at_a_value_or_where_otsu_does) {
  const tensor x({0, 127, 128, 255}, {2, 2, 1});
  const tensor y = kg::threshold(x);
  EXPECT_EQ(y.type(), kg::dtype::int32);
  expect_values(y, {2, 2, 1}, {0, 0, 255, 255});
  expect_values(kg::threshold(x, {.inverted = true}), {2, 2, 1}, {255, 255, 0, 0});
  expect_values(kg::threshold(x, {.value = 0}), {2, 2, 1}, {0, 255, 255, 255});
  const tensor dark({1, 2, 3, 2, 50, 52}, {2, 3, 1});
  expect_values(kg::threshold(dark, {.otsu = true}), {2, 3, 1}, {0, 0, 0, 0, 255, 255});
  expect_values(kg::threshold(kg::cast(kg::grayscale_to_rgb(dark), kg::dtype::float32), {.otsu = true}), {2, 3, 1},
                {0, 0, 0, 0, 255, 255});
  expect_values(kg::threshold(tensor({7, 7}, {1, 2, 1}), {.otsu = true}), {1, 2, 1}, {255, 255});
  expect_refused("threshold", [] { return kg::threshold(kg::zeros({2, 2})); }, {"operand image", "rank 3"});
  expect_refused("threshold", [] { return kg::threshold(kg::zeros({2, 2, 1}, kg::dtype::float64)); }, {"float64"});
  expect_refused("threshold", [&] { return kg::threshold(x, {.value = 2}); }, {"value 2"});
}

// ------------------------------------------------------------------------------------------ draws

struct found {
  double mean = 0, variance = 0, least = 0, most = 0;
};
found measured(const tensor& x) {
  const auto [mean, variance] = kg::moments(kg::cast(x, kg::dtype::float64));
  return {mean.item(), variance.item(), kg::min(x).item(), kg::max(x).item()};
}

TEST(truncated_normal, stays_within_two_standard_deviations) {
  for (kg::dtype type : {kg::dtype::float32, kg::dtype::float64}) {
    const tensor x = kg::truncated_normal({200, 100}, 3, 2, 5, type);
    EXPECT_EQ(x.type(), type);
    const found f = measured(x);
    EXPECT_NEAR(f.mean, 3, 0.05);
    EXPECT_NEAR(f.variance, 4 * 0.7737, 0.1);  // that of the standard one between -2 and 2
    EXPECT_TRUE(f.least >= -1 && f.most <= 7) << f.least << " " << f.most;
    EXPECT_EQ(kg::truncated_normal({200, 100}, 3, 2, 5, type).to_doubles(), x.to_doubles());
  }
  expect_values(kg::truncated_normal({3}, 4, 0, 1), {3}, {4, 4, 4});
  EXPECT_EQ(kg::truncated_normal({0}, 0, 1, 1).dims(), kg::shape{0});
  expect_refused("truncated_normal", [] { return kg::truncated_normal({2}, 0, -1, 1); }, {"stddev -1"});
  expect_refused("truncated_normal", [] { return kg::truncated_normal({2}, 0, 1, 1, kg::dtype::int32); }, {"int32"});
}

TEST(random_uniform_int, gives_every_number_of_the_range_as_often) {
  const tensor x = kg::random_uniform_int({6000}, -2, 4, 9);
  EXPECT_EQ(x.type(), kg::dtype::int32);
  int counts[6] = {};
  for (double value : x.to_doubles()) ++counts[static_cast<int>(value) + 2];
  for (int count : counts) EXPECT_NEAR(count, 1000, 150);
  const found f = measured(kg::random_uniform_int({1000}, -2147483648, 2147483648, 1));
  EXPECT_TRUE(f.least < -2e9 && f.most > 2e9);
  expect_refused("random_uniform_int", [] { return kg::random_uniform_int({2}, 3, 3, 1); }, {"low 3 and high 3"});
  expect_refused("random_uniform_int", [] { return kg::random_uniform_int({2}, 0, std::int64_t{1} << 40, 1); },
                 {"high"});
}

TEST(random_gamma, has_the_mean_and_variance_of_its_distribution) {
  const double cases[][2] = {{0.5, 1}, {1, 2}, {2, 2}, {7.5, 0.5}};
  for (const auto& [alpha, beta] : cases) {
    SCOPED_TRACE(alpha);
    const tensor x = kg::random_gamma({200, 200}, alpha, beta, 11);
    EXPECT_EQ(x.type(), kg::dtype::float32);
    const found f = measured(x);
    EXPECT_NEAR(f.mean * beta / alpha, 1, 0.03);
    EXPECT_NEAR(f.variance * beta * beta / alpha, 1, 0.1);
    EXPECT_GE(f.least, 0);
    EXPECT_EQ(kg::random_gamma({200, 200}, alpha, beta, 11).to_doubles(), x.to_doubles());
  }
  expect_refused("random_gamma", [] { return kg::random_gamma({2}, 0, 1, 1); }, {"alpha 0"});
  expect_refused("random_gamma", [] { return kg::random_gamma({2}, 1, -1, 1); }, {"beta -1"});
}

TEST(rand, calls_the_function_for_each_element) {
  double next = 0;
  expect_values(kg::rand({2, 2}, [&] { return ++next; }), {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(kg::rand({1}, [] { return 2.5; }, kg::dtype::int32).item<std::int32_t>(), 2);
  expect_refused("rand", [] { return kg::rand({1}, {}); }, {"an empty function"});
}

}  // namespace
