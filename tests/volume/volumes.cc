// SPDX-License-Identifier: Apache-2.0
// Ops on volumes by their typed names: against ops on images, in both layouts, over several threads, and rejected.
// every_op.cc checks the rules that hold for every op.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using list = std::vector<double>;

tensor normal(const kg::shape& dims, int seed, kg::dtype type = kg::dtype::float64) {
  return kg::random_normal(dims, 0, 1, seed, type);
}
bool same_bits(const tensor& a, const tensor& b) {
  return a.signature() == b.signature() &&
         std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * kg::size_of(a.type())) == 0;
}
void expect_near(const tensor& got, const tensor& wanted) {
  ASSERT_EQ(got.dims(), wanted.dims());
  const list a = got.to_doubles(), b = wanted.to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12) << i;
}

TEST(volumes, of_one_slice_are_images) {
  const tensor x = normal({2, 5, 4, 3}, 1), filter = normal({3, 2, 3, 4}, 2);
  const auto slices = [](const tensor& image) { return kg::expand_dims(image, 1); };
  expect_near(kg::conv3d(slices(x), kg::expand_dims(filter, 0), {.strides = {1, 2, 1}, .pad = kg::same}),
              slices(kg::conv2d(x, filter, {.strides = {2, 1}, .pad = kg::same})));
  expect_near(kg::max_pool3d(slices(x), {1, 2, 2}), slices(kg::max_pool(x, 2)));
  expect_near(kg::avg_pool3d(slices(x), {1, 2, 2}, {.strides = 1, .pad = kg::same}),
              slices(kg::avg_pool(x, 2, {.strides = 1, .pad = kg::same})));
}

TEST(conv3d, adds_up_the_slices_under_the_filter) {
  const tensor x = normal({1, 4, 5, 4, 3}, 1), filter = normal({2, 3, 3, 3, 2}, 2);
  const tensor y = kg::conv3d(x, filter, {.pad = {{0, 0}, {1, 1}, {1, 1}}});
  const auto slice = [](const tensor& of, std::int64_t at, int axis) { return kg::gather(of, tensor(at), axis); };
  for (std::int64_t z = 0; z < 3; ++z) {
    tensor wanted = kg::conv2d(slice(x, z, 1), slice(filter, 0, 0), {.pad = kg::same});
    wanted = wanted + kg::conv2d(slice(x, z + 1, 1), slice(filter, 1, 0), {.pad = kg::same});
    expect_near(slice(y, z, 1), wanted);
  }
}

TEST(conv3d_transpose, is_the_adjoint_of_conv3d) {
  const kg::conv3d_options options{.strides = {2, 1, 2}, .pad = kg::same, .dilations = 1};
  const tensor x = normal({2, 5, 4, 3, 2}, 1), filter = normal({3, 2, 2, 2, 4}, 2), dy = normal({2, 3, 4, 2, 4}, 3);
  const double left = kg::sum(kg::conv3d(x, filter, options) * dy).item();
  const double right = kg::sum(x * kg::conv3d_transpose(dy, filter, x.dims(), options)).item();
  EXPECT_NEAR(left, right, 1e-10 * (1 + std::fabs(left)));
}

TEST(volumes, with_channels_first_give_the_same) {
  const tensor x = normal({2, 4, 3, 5, 3}, 1), filter = normal({2, 2, 2, 3, 4}, 2);
  const auto first = [](const tensor& of) { return kg::transpose(of, {0, 4, 1, 2, 3}); };
  EXPECT_TRUE(same_bits(kg::conv3d(first(x), filter, {.channels_first = true}), first(kg::conv3d(x, filter))));
  EXPECT_TRUE(same_bits(kg::max_pool3d(first(x), 2, {.channels_first = true}), first(kg::max_pool3d(x, 2))));
  EXPECT_TRUE(same_bits(kg::avg_pool3d(first(x), 2, {.channels_first = true}), first(kg::avg_pool3d(x, 2))));
}

TEST(poolings_of_volumes, give_zero_or_minus_infinity_for_windows_in_the_padding) {
  const tensor one({1.f}, {1, 1, 1, 1, 1});
  EXPECT_EQ(kg::avg_pool3d(one, 2, {.strides = 1, .pad = 2}).to_doubles()[0], 0);
  EXPECT_EQ(kg::max_pool3d(one, 2, {.strides = 1, .pad = 2}).to_doubles()[0], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(kg::avg_pool3d(one, {1, 1, 3}).dims(), (kg::shape{1, 1, 1, 0, 1}));
}

TEST(volumes, have_the_same_bits_on_several_threads) {
  const auto all = [] {
    std::vector<tensor> made;
    const tensor x = normal({2, 9, 20, 18, 16}, 1, kg::dtype::float32),
                 filter = normal({3, 3, 3, 16, 16}, 2, kg::dtype::float32);
    const auto add = [&](auto f, std::vector<tensor> of) {
      const tensor dy = normal(f(of).dims(), 3, kg::dtype::float32);
      const auto found = kg::value_and_grads_of(f, of, dy);
      made.push_back(found.value);
      made.insert(made.end(), found.grads.begin(), found.grads.end());
    };
    add([](std::span<const tensor> in) { return kg::conv3d(in[0], in[1], {.pad = kg::same}); }, {x, filter});
    add([](std::span<const tensor> in) { return kg::max_pool3d(in[0], 2, {.strides = 1, .pad = kg::same}); }, {x});
    add([](std::span<const tensor> in) { return kg::avg_pool3d(in[0], 2, {.strides = 1, .pad = kg::same}); }, {x});
    return made;
  };
  const std::vector<tensor> one = all();
  kg::set_num_threads(3);
  const std::vector<tensor> three = all();
  kg::set_num_threads(1);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], three[i])) << i;
}

TEST(volumes, refuse_what_does_not_fit_and_say_why) {
  const tensor x = kg::zeros({1, 4, 4, 4, 2}), filter = kg::zeros({2, 2, 2, 2, 3});
  EXPECT_TRUE(says(refusal([&] { kg::conv3d(kg::zeros({4, 4, 4, 2}), filter); }), {"[kg::conv3d]", "rank 5"}));
  EXPECT_TRUE(says(refusal([&] { kg::conv3d(x, kg::zeros({2, 2, 2, 3})); }), {"filter of shape", "rank 5"}));
  EXPECT_TRUE(says(refusal([&] { kg::conv3d(x, kg::zeros({2, 2, 2, 3, 3})); }), {"2 channels", "filter for 3"}));
  EXPECT_TRUE(says(refusal([&] { kg::conv3d(x, kg::zeros({5, 1, 1, 2, 3})); }), {"a window of 5", "axis of 4"}));
  EXPECT_TRUE(
      says(refusal([&] { kg::conv3d_transpose(x, filter, {1, 5, 5, 5, 2}); }), {"dy of shape", "[1, 4, 4, 4, 3]"}));
  EXPECT_TRUE(says(refusal([&] { kg::max_pool3d(kg::zeros({4}), 2); }), {"[kg::max_pool3d]", "[4]", "rank 5"}));
  EXPECT_TRUE(says(refusal([&] { kg::call<"AvgPool3D">(x, kg::attr<"filterSize">({2, 2}), kg::attr<"pad">("valid")); }),
                   {"filterSize of 2 values", "3 values"}));
  EXPECT_TRUE(says(refusal([&] { kg::call<"AvgPool3D">(x, kg::attr<"filterSize">(2), kg::attr<"pad">({0, 0, 1, 1})); }),
                   {"pad of 4 values", "each of the 5 axes"}));
}

}  // namespace
