// SPDX-License-Identifier: Apache-2.0
// The normalizations as programs call them: against the ops that they are made of, over several threads, and rejected.
// Properties of every op are tested in every_op.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

kg::tensor normal(const kg::shape& dims, int seed, kg::dtype type = kg::dtype::float64) {
  return kg::random_normal(dims, 0, 1, seed, type);
}
kg::tensor positive(const kg::shape& dims, int seed, kg::dtype type = kg::dtype::float64) {
  return kg::random_uniform(dims, 0.5, 2, seed, type);
}

void expect_near(const kg::tensor& got, const kg::tensor& wanted, double within = 1e-12) {
  ASSERT_EQ(got.dims(), wanted.dims());
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], within) << i;
}
bool same_bits(const kg::tensor& a, const kg::tensor& b) {
  return a.signature() == b.signature() &&
         std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * kg::size_of(a.type())) == 0;
}

TEST(batch_norm, is_what_its_formula_says_for_moments_of_every_shape) {
  const kg::tensor x = normal({2, 3, 4, 5}, 1);
  for (const kg::shape& of : {kg::shape{5}, {4, 5}, {3, 1, 1}, {2, 1, 1, 1}, {2, 3, 4, 5}, {}}) {
    const kg::tensor mean = normal(of, 2), variance = positive(of, 3), offset = normal(of, 4), scale = normal(of, 5);
    const kg::tensor plain = (x - mean) / kg::sqrt(variance + 0.25);
    expect_near(kg::batch_norm(x, mean, variance, {.offset = offset, .scale = scale, .epsilon = 0.25}),
                plain * scale + offset);
    expect_near(kg::batch_norm(x, mean, variance, {.scale = scale, .epsilon = 0.25}), plain * scale);
    expect_near(kg::batch_norm(x, mean, variance, {.offset = offset, .epsilon = 0.25}), plain + offset);
    expect_near(kg::batch_norm(x, mean, variance, {.epsilon = 0.25}), plain);
  }
}

TEST(layer_norm, is_what_its_formula_says) {
  const kg::tensor x = normal({3, 4, 7}, 1), scale = normal({7}, 2), offset = normal({7}, 3);
  const kg::tensor centred = x - kg::mean(x, -1, true);
  const kg::tensor plain = centred / kg::sqrt(kg::mean(kg::square(centred), -1, true) + 0.01);
  expect_near(kg::layer_norm(x, {.scale = scale, .offset = offset, .epsilon = 0.01}), plain * scale + offset);
  expect_near(kg::layer_norm(x, {.offset = offset, .epsilon = 0.01}), plain + offset);
  expect_near(kg::layer_norm(x, {.epsilon = 0.01}), plain);
}

TEST(layer_norm, has_the_gradients_of_its_parts) {
  const kg::tensor x = normal({3, 7}, 1), scale = normal({7}, 2), offset = normal({7}, 3), dy = normal({3, 7}, 4);
  const auto of = [&](auto f) { return kg::value_and_grads_of(f, std::vector{x, scale, offset}, dy).grads; };
  const auto got =
      of([](std::span<const kg::tensor> in) { return kg::layer_norm(in[0], {.scale = in[1], .offset = in[2]}); });
  const auto wanted = of([](std::span<const kg::tensor> in) {
    const kg::tensor centred = in[0] - kg::mean(in[0], -1, true);
    return centred * kg::rsqrt(kg::mean(kg::square(centred), -1, true) + 1e-3) * in[1] + in[2];
  });
  for (std::size_t i = 0; i < 3; ++i) expect_near(got[i], wanted[i]);
}

TEST(local_response_normalization, divides_by_a_power_of_the_squares_of_the_neighbouring_channels) {
  const kg::tensor x({1.f, 20.f, 300.f, 4.f}, {1, 1, 4});
  const std::vector<double> y = kg::local_response_normalization(x, {.depth_radius = 1, .beta = 0.5}).to_doubles();
  const double sums[] = {1 + 400, 1 + 400 + 90000, 400 + 90000 + 16, 90000 + 16};
  const double values[] = {1, 20, 300, 4};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], values[i] / std::sqrt(1 + sums[i]), 1e-6);
}

TEST(the_normalizations, have_the_same_bits_on_several_threads) {
  const auto all = [] {
    std::vector<kg::tensor> made;
    for (const kg::shape& dims : {kg::shape{1, 300, 70, 33}, {7, 5, 3, 4096}}) {
      const kg::tensor x = normal(dims, 1, kg::dtype::float32);
      for (const kg::shape& of : {kg::shape{dims[3]}, {dims[1], 1, 1}, dims}) {
        const kg::tensor mean = normal(of, 2, kg::dtype::float32), variance = positive(of, 3, kg::dtype::float32);
        made.push_back(kg::batch_norm(x, mean, variance, {.scale = variance}));
      }
      made.push_back(kg::layer_norm(x, {.scale = normal({dims[3]}, 4, kg::dtype::float32)}));
      made.push_back(kg::local_response_normalization(x));
    }
    return made;
  };
  const std::vector<kg::tensor> one = all();
  kg::set_num_threads(3);
  const std::vector<kg::tensor> three = all();
  kg::set_num_threads(1);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], three[i])) << i;
}

TEST(the_normalizations, refuse_what_does_not_fit_and_say_why) {
  const auto expect = [](const std::string& text, std::initializer_list<const char*> all) {
    for (const char* part : all) EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const kg::tensor x = kg::zeros({2, 3, 4}), four = kg::zeros({4}), three = kg::zeros({3});
  expect(kgtest::refusal([&] { kg::batch_norm(x, four, three); }),
         {"[kg::batch_norm]", "variance of shape [3]", "the shape of mean, [4]"});
  expect(kgtest::refusal([&] { kg::batch_norm(x, three, three); }), {"mean of shape [3]", "broadcasts", "[2, 3, 4]"});
  expect(kgtest::refusal([&] { kg::batch_norm(four, x, x); }), {"mean of shape [2, 3, 4]", "[4]"});
  expect(kgtest::refusal([&] { kg::batch_norm(x, four, four, {.epsilon = -1}); }), {"varianceEpsilon", "-1"});
  expect(kgtest::refusal([&] { kg::layer_norm(x, {.scale = three}); }),
         {"[kg::layer_norm]", "scale of shape [3]", "the last axis", "[4]"});
  expect(kgtest::refusal([&] { kg::layer_norm(kg::zeros({})); }), {"[kg::layer_norm]", "rank 1 or more"});
  expect(kgtest::refusal([&] { kg::local_response_normalization(four); }),
         {"[kg::local_response_normalization]", "[4]", "rank 3 or 4"});
  expect(kgtest::refusal([&] { kg::local_response_normalization(x, {.depth_radius = -1}); }), {"depthRadius", "-1"});
}

}  // namespace
