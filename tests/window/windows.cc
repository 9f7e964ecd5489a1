// SPDX-License-Identifier: Apache-2.0
// Window ops by their typed names: small examples that can be worked out by hand, their gradients, several threads, and
// what is refused. What holds for every op is checked in every_op.cc.
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
  EXPECT_TRUE(
      says(refusal([&] { kg::max_pool_with_argmax(kg::zeros({4, 4, 2}), 2); }), {"[MaxPoolWithArgmax]", "rank 4"}));
  EXPECT_TRUE(says(refusal([&] { kg::dilation2d(kg::zeros({4}), filter); }), {"[Dilation2D]", "[4]", "rank 4"}));
  EXPECT_TRUE(says(refusal([&] { kg::dilation2d(image, kg::zeros({2, 2, 2, 1})); }), {"filter of shape", "rank 3"}));
  EXPECT_TRUE(says(refusal([&] { kg::dilation2d(image, kg::zeros({2, 2, 3})); }), {"2 channels", "filter for 3"}));
  EXPECT_TRUE(says(refusal([&] { kg::dilation2d(image, kg::zeros({5, 2, 2})); }), {"a window of 5", "axis of 4"}));
  EXPECT_TRUE(
      says(refusal([&] { kg::call<"Dilation2DBackpropInput">(image, filter, image, kg::attr<"pad">("valid")); }),
           {"dy of shape", "[1, 3, 3, 2]"}));
}

}  // namespace
