// SPDX-License-Identifier: Apache-2.0
// Window ops by their typed names: small examples that can be worked out by hand, their gradients, several threads, and
// what is rejected. every_op.cc checks the rules that hold for every op.
#include <gtest/gtest.h>

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

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

bool same_bits(const tensor& a, const tensor& b) {
  return a.signature() == b.signature() &&
         std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * kg::size_of(a.type())) == 0;
}

// A convolution of groups by its definition: one of each group of channels, joined.
template <class F>
tensor of_each_group(const tensor& x, const tensor& filter, int groups, int axis, F convolve) {
  const kg::tensor_list xs = kg::split(x, groups, axis), filters = kg::split(filter, groups, filter.rank() - 1);
  std::vector<tensor> parts;
  for (int i = 0; i < groups; ++i) parts.push_back(convolve(xs[i], filters[i]));
  return kg::concat(parts, axis);
}

void expect_near(const tensor& got, const tensor& wanted) {
  ASSERT_EQ(got.signature(), wanted.signature());
  EXPECT_LT(kg::max(kg::abs(got - wanted)).item(), 1e-5);
}

TEST(conv2d, of_groups_is_a_convolution_of_each_group_of_channels) {
  const tensor x = kg::random_normal({2, 6, 5, 6}, 0, 1, 1);
  for (const int groups : {2, 3, 6}) {
    const tensor filter = kg::random_normal({3, 2, 6 / groups, 12}, 0, 1, 2);
    const kg::conv_options how{.strides = {1, 2}, .pad = kg::same};
    const auto convolve = [&](const tensor& a, const tensor& w) { return kg::conv2d(a, w, how); };
    const tensor y = kg::conv2d(x, filter, how);
    expect_near(y, of_each_group(x, filter, groups, 3, convolve));
    // Its image gradient, which is the transposed convolution, takes the groups of the result.
    const auto back = [&](const tensor& dy, const tensor& w) {
      return kg::conv2d_transpose(dy, w, {2, 6, 5, 6 / groups}, how);
    };
    expect_near(kg::conv2d_transpose(y, filter, x.dims(), how), of_each_group(y, filter, groups, 3, back));
    const tensor bias = kg::random_normal({12}, 0, 1, 3);
    expect_near(
        kg::fused_conv2d(x, filter,
                         {.bias = bias, .activation = kg::activation::relu, .strides = how.strides, .pad = how.pad}),
        kg::relu(y + bias));
  }
}

TEST(conv2d, takes_groups_of_channels_that_come_first_and_of_sequences) {
  const tensor x = kg::random_normal({2, 4, 5, 6}, 0, 1, 1), filter = kg::random_normal({2, 3, 2, 6}, 0, 1, 2);
  const kg::conv_options first{.channels_first = true};
  const auto convolve = [&](const tensor& a, const tensor& w) { return kg::conv2d(a, w, first); };
  expect_near(kg::conv2d(x, filter, first), of_each_group(x, filter, 2, 1, convolve));
  const tensor sequences = kg::random_normal({2, 9, 4}, 0, 1, 3), taps = kg::random_normal({3, 2, 6}, 0, 1, 4);
  const auto along = [](const tensor& a, const tensor& w) { return kg::conv1d(a, w, {.pad = kg::same}); };
  expect_near(along(sequences, taps), of_each_group(sequences, taps, 2, 2, along));
}

TEST(max_pool_with_argmax, numbers_the_elements_of_each_image_or_of_all) {
  const tensor x({1.f, 5.f, 2.f, 4.f, nan, nan, 7.f, 7.f}, {2, 2, 2, 1});
  const kg::pooled_maxima each = kg::max_pool_with_argmax(x, 2);
  EXPECT_EQ(each.result.to_doubles(), (list{5, 7}));
  EXPECT_EQ(each.indexes.type(), kg::dtype::int32);
  EXPECT_EQ(each.indexes.to_doubles(), (list{1, 2}));
  EXPECT_EQ(kg::max_pool_with_argmax(x, 2, {.include_batch_in_index = true}).indexes.to_doubles(), (list{1, 6}));
  EXPECT_EQ(kg::max_pool_with_argmax(x, 1).indexes.to_doubles(), (list{0, 1, 2, 3, -1, -1, 2, 3}));
}

TEST(max_pool_with_argmax, gives_its_gradient_to_the_positions) {
  const tensor x = kg::random_normal({2, 6, 5, 3}, 0, 1, 7), dy = kg::random_normal({2, 3, 2, 3}, 0, 1, 8);
  const auto pooled = [](std::span<const tensor> in) { return kg::max_pool_with_argmax(in[0], 2).result; };
  const tensor got = kg::value_and_grads_of(pooled, std::vector{x}, dy).grads[0];
  const list at = kg::max_pool_with_argmax(x, 2, {.include_batch_in_index = true}).indexes.to_doubles();
  list wanted(static_cast<std::size_t>(x.size()));
  for (std::size_t i = 0; i < at.size(); ++i) wanted[static_cast<std::size_t>(at[i])] += dy.to_doubles()[i];
  EXPECT_EQ(got.to_doubles(), wanted);
}

TEST(dilation2d, takes_the_largest_sum_under_the_filter) {
  const tensor x({1.f, 2.f, 3.f, 4.f}, {1, 2, 2, 1}), filter({4.f, 0.f, 1.f, 3.f}, {2, 2, 1});
  EXPECT_EQ(kg::dilation2d(x, filter).to_doubles(), (list{7}));
  EXPECT_EQ(kg::dilation2d(x, filter, {.pad = kg::same}).to_doubles(), (list{7, 6, 7, 8}));
  EXPECT_EQ(kg::dilation2d(kg::cast(x, kg::dtype::int32), kg::cast(filter, kg::dtype::int32)).type(), kg::dtype::int32);
}

TEST(dilation2d, gives_its_gradients_to_the_first_of_equal_sums) {
  const tensor x({1.f, 1.f, nan, 0.f}, {1, 2, 2, 1}), filter({0.f, 0.f, 5.f, 1.f}, {2, 2, 1});
  const auto dilated = [](std::span<const tensor> in) { return kg::dilation2d(in[0], in[1]); };
  const auto grads = kg::value_and_grads_of(dilated, std::vector{x, filter}, tensor({3.f}, {1, 1, 1, 1})).grads;
  EXPECT_EQ(grads[0].to_doubles(), (list{3, 0, 0, 0}));
  EXPECT_EQ(grads[1].to_doubles(), (list{3, 0, 0, 0}));
}

TEST(window_ops, have_the_same_bits_on_several_threads) {
  const auto all = [] {
    const tensor x = kg::random_normal({3, 70, 65, 9}, 0, 1, 1), filter = kg::random_normal({3, 2, 9}, 0, 1, 2);
    const auto dilated = [](std::span<const tensor> in) { return kg::dilation2d(in[0], in[1], {.pad = kg::same}); };
    auto found = kg::value_and_grads_of(dilated, std::vector{x, filter}, kg::random_normal(x.dims(), 0, 1, 3));
    std::vector<tensor> made = {found.value, found.grads[0], found.grads[1]};
    for (const bool together : {false, true}) {
      const kg::pooled_maxima maxima =
          kg::max_pool_with_argmax(x, 3, {.strides = 2, .pad = kg::same, .include_batch_in_index = together});
      made.insert(made.end(), {maxima.result, maxima.indexes});
    }
    const auto grouped = [](std::span<const tensor> in) { return kg::conv2d(in[0], in[1], {.pad = kg::same}); };
    const std::vector operands = {kg::random_normal({3, 40, 40, 12}, 0, 1, 4),
                                  kg::random_normal({3, 3, 4, 24}, 0, 1, 5)};
    found = kg::value_and_grads_of(grouped, operands, kg::random_normal({3, 40, 40, 24}, 0, 1, 6));
    made.insert(made.end(), {found.value, found.grads[0], found.grads[1]});
    return made;
  };
  const std::vector<tensor> one = all();
  kg::set_num_threads(3);
  const std::vector<tensor> three = all();
  kg::set_num_threads(1);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], three[i])) << i;
}

TEST(window_ops, refuse_what_does_not_fit_and_say_why) {
  const tensor image = kg::zeros({1, 4, 4, 2}), filter = kg::zeros({2, 2, 2});
  EXPECT_TRUE(says(refusal([&] { kg::max_pool_with_argmax(kg::zeros({4, 4, 2}), 2); }),
                   {"[kg::max_pool_with_argmax]", "rank 4"}));
  EXPECT_TRUE(says(refusal([&] { kg::dilation2d(kg::zeros({4}), filter); }), {"[kg::dilation2d]", "[4]", "rank 4"}));
  EXPECT_TRUE(says(refusal([&] { kg::dilation2d(image, kg::zeros({2, 2, 2, 1})); }), {"filter of shape", "rank 3"}));
  EXPECT_TRUE(says(refusal([&] { kg::dilation2d(image, kg::zeros({2, 2, 3})); }), {"2 channels", "filter for 3"}));
  EXPECT_TRUE(says(refusal([&] { kg::dilation2d(image, kg::zeros({5, 2, 2})); }), {"a window of 5", "axis of 4"}));
  const tensor channels = kg::zeros({1, 4, 4, 6});
  EXPECT_TRUE(says(refusal([&] { kg::conv2d(channels, kg::zeros({2, 2, 4, 6})); }), {"6 channels", "filter for 4"}));
  EXPECT_TRUE(says(refusal([&] { kg::conv2d(channels, kg::zeros({2, 2, 0, 6})); }), {"6 channels", "filter for 0"}));
  EXPECT_TRUE(says(refusal([&] { kg::conv2d(kg::zeros({1, 4, 4, 0}), kg::zeros({2, 2, 3, 6})); }), {"0 channels"}));
  EXPECT_TRUE(says(refusal([&] { kg::conv2d(channels, kg::zeros({2, 2, 2, 4})); }), {"gives 4 channels", "3 groups"}));
  EXPECT_TRUE(says(refusal([&] { kg::depthwise_conv2d(channels, kg::zeros({2, 2, 3, 1})); }),
                   {"6 channels", "equal numbers of channels"}));
  EXPECT_TRUE(
      says(refusal([&] { kg::call<"Dilation2DBackpropInput">(image, filter, image, kg::attr<"pad">("valid")); }),
           {"dy of shape", "[1, 3, 3, 2]"}));
}

}  // namespace
