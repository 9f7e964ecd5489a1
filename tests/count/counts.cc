// SPDX-License-Identifier: Apache-2.0
// Counts and distinct slices as programs call them: results, gradients, and what is rejected.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using list = std::vector<double>;

const tensor elements({1, 1, 5, 1, 2}, {5});
const tensor weights({0.5f, 0.25f, 9.f, 0.25f, 0.125f}, {5});

TEST(bincount, counts_what_there_is_and_drops_what_has_no_bin) {
  EXPECT_EQ(kg::bincount(elements, 4).to_doubles(), (list{0, 3, 1, 0}));
  EXPECT_EQ(kg::bincount(kg::reshape(elements, {5, 1}), 2).to_doubles(), (list{0, 3}));
  EXPECT_EQ(kg::bincount(elements, 3, weights).to_doubles(), (list{0, 1, 0.125}));
  EXPECT_EQ(kg::bincount(elements, 0).dims(), (kg::shape{0}));
  EXPECT_EQ(kg::bincount(kg::zeros({0}, dtype::int32), 2).to_doubles(), (list{0, 0}));
}

TEST(bincount, has_the_dtype_of_the_weights_or_an_integer_one) {
  EXPECT_EQ(kg::bincount(elements, 4).type(), dtype::int32);
  EXPECT_EQ(kg::bincount(kg::cast(elements, dtype::uint8), 4).type(), dtype::int32);
  EXPECT_EQ(kg::bincount(kg::cast(elements, dtype::int64), 4).type(), dtype::int64);
  const tensor none = kg::zeros({0}), some({1, 2, 3, 4, 5}, {5});
  EXPECT_EQ(kg::bincount(elements, 4, none).signature(), (kg::signature{{4}, dtype::float32}));
  EXPECT_EQ(kg::bincount(elements, 4, none).to_doubles(), (list{0, 3, 1, 0}));
  EXPECT_EQ(kg::bincount(elements, 4, some).signature(), (kg::signature{{4}, dtype::int32}));
  EXPECT_EQ(kg::bincount(elements, 4, some).to_doubles(), (list{0, 7, 5, 0}));
}

TEST(dense_bincount, counts_each_row) {
  const tensor x({0, 2, 2, 1, 0, 7}, {2, 3}), w({1., 2., 4., 8., 16., 32.}, {2, 3});
  EXPECT_EQ(kg::dense_bincount(x, 3).to_doubles(), (list{1, 0, 2, 1, 1, 0}));
  EXPECT_EQ(kg::dense_bincount(x, 3, {.weights = w}).to_doubles(), (list{1, 0, 6, 16, 8, 0}));
  EXPECT_EQ(kg::dense_bincount(x, 3, {.weights = w, .binary = true}).to_doubles(), (list{1, 0, 1, 1, 1, 0}));
  EXPECT_EQ(kg::dense_bincount(kg::reshape(x, {2, 1, 3}), 3).dims(), (kg::shape{2, 1, 3}));
  EXPECT_EQ(kg::dense_bincount(kg::zeros({2, 0}, dtype::int32), 2).to_doubles(), (list{0, 0, 0, 0}));
}

TEST(bincount, gives_each_weight_the_gradient_of_its_bin) {
  const tensor dy({1.f, 2.f, 3.f}, {3});
  const auto of = [&](auto f) { return kg::value_and_grads_of(f, std::vector{weights}, dy).grads[0].to_doubles(); };
  EXPECT_EQ(of([](std::span<const tensor> in) { return kg::bincount(elements, 3, in[0]); }), (list{2, 2, 0, 2, 3}));
  EXPECT_EQ(of([](std::span<const tensor> in) {
              return kg::dense_bincount(elements, 3, {.weights = in[0], .binary = true});
            }),
            (list{0, 0, 0, 0, 0}));
}

TEST(unique, gives_back_its_operand_by_its_numbers) {
  const tensor x({3.f, 1.f, 3.f, 2.f, 1.f}, {5});
  const auto [values, numbers] = kg::unique(x);
  EXPECT_EQ(values.to_doubles(), (list{3, 1, 2}));
  EXPECT_EQ(numbers.to_doubles(), (list{0, 1, 0, 2, 1}));
  EXPECT_EQ(numbers.type(), dtype::int32);
  EXPECT_EQ(kg::gather(values, numbers).to_doubles(), x.to_doubles());
}

TEST(unique, compares_slices_along_any_axis) {
  const tensor x({1, 0, 1, 0, 2, 0, 2, 0, 1, 5, 1, 5}, {3, 2, 2});
  for (const int axis : {0, 1, 2, -1}) {
    const auto [values, numbers] = kg::unique(x, axis);
    EXPECT_EQ(kg::gather(values, numbers, axis).to_doubles(), x.to_doubles()) << axis;
    EXPECT_EQ(values.dims()[axis < 0 ? 2 : axis], axis == 0 ? 3 : axis == 1 ? 1 : 2) << axis;
  }
  EXPECT_EQ(kg::unique(kg::zeros({3, 0}), 0)[0].dims(), (kg::shape{1, 0})) << "slices without elements are equal";
  EXPECT_EQ(kg::unique(kg::zeros({0, 3}), 0)[0].dims(), (kg::shape{0, 3}));
}

TEST(unique, without_an_axis_is_of_all_elements) {
  const auto [values, numbers] = kg::unique(tensor{{3, 1}, {1, 2}});
  EXPECT_EQ(values.to_doubles(), (list{3, 1, 2}));
  EXPECT_EQ(numbers.to_doubles(), (list{0, 1, 1, 2}));
  EXPECT_EQ(kg::unique(tensor(5))[0].dims(), kg::shape{1});
}

TEST(unique, sorts_if_it_is_told) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto [values, numbers] = kg::unique(tensor({3., nan, -1., 3., nan, -2.}, {6}), {.sorted = true});
  EXPECT_EQ(kg::slice(values, {0}, {3}).to_doubles(), (list{-2, -1, 3}));
  EXPECT_EQ(values.size(), 4) << "and NaN, the last one";
  EXPECT_EQ(numbers.to_doubles(), (list{2, 3, 1, 2, 3, 0}));
  const tensor x({2, 1, 0, 5, 2, 0, 1, 5}, {4, 2});
  const auto [columns, places] = kg::unique(x, 1, {.sorted = true});
  EXPECT_EQ(columns.to_doubles(), (list{1, 2, 5, 0, 0, 2, 5, 1})) << "the first row decides";
  EXPECT_EQ(places.to_doubles(), (list{1, 0}));
  EXPECT_EQ(kg::unique(tensor({true, false}), {.sorted = true})[0].to_doubles(), (list{0, 1}));
  EXPECT_EQ(kg::unique(kg::tensor({"b", "ab", "b"}), {.sorted = true})[1].to_doubles(), (list{1, 0, 1}));
}

TEST(unique, takes_nan_for_equal_to_nan_in_every_float) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const dtype type : {dtype::float32, dtype::float64, dtype::float16, dtype::bfloat16}) {
    const auto [values, numbers] = kg::unique(kg::cast(tensor({nan, 0., nan, -0., 1.}, {5}), type));
    EXPECT_EQ(values.type(), type);
    EXPECT_EQ(numbers.to_doubles(), (list{0, 1, 0, 1, 2})) << kg::name_of(type);
  }
}

TEST(unique, gives_the_gradient_to_the_slice_that_came_first) {
  const tensor x({1., 2., 1., 3., 2., 1.}, {1, 6}), dy({10., 20., 30.}, {1, 3});
  const auto grads =
      kg::value_and_grads_of([](std::span<const tensor> in) { return kg::unique(in[0], 1)[0]; }, std::vector{x}, dy)
          .grads;
  EXPECT_EQ(grads[0].to_doubles(), (list{10, 20, 0, 30, 0, 0}));
}

TEST(the_counts, have_the_same_bits_on_several_threads) {
  const auto all = [] {
    const tensor x = kg::cast(kg::random_uniform({40, 3000}, 0, 90, 1), dtype::int32);
    const tensor w = kg::random_normal({40, 3000}, 0, 1, 2);
    return std::vector{kg::dense_bincount(x, 80, {.weights = w}), kg::bincount(x, 80, w), kg::unique(x, 1)[0]};
  };
  const std::vector<tensor> one = all();
  kg::set_num_threads(3);
  const std::vector<tensor> three = all();
  kg::set_num_threads(1);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].to_doubles(), three[i].to_doubles()) << i;
}

TEST(the_counts, refuse_what_does_not_fit_and_say_why) {
  const tensor two({0.5f, 0.5f}, {2});
  EXPECT_TRUE(says(refusal([] { return kg::bincount(tensor({2, 0, -3}, {3}), 4); }),
                   {"[kg::bincount]", "-3", "at 2", "0 or more"}));
  EXPECT_TRUE(says(refusal([&] { return kg::bincount(elements, 4, two); }), {"weights of shape [2]", "[5]"}));
  EXPECT_TRUE(says(refusal([] { return kg::bincount(elements, -1); }), {"size", "-1"}));
  EXPECT_TRUE(says(refusal([&] { return kg::bincount(two, 4); }), {"[kg::bincount]", "float32", "int32"}));
  EXPECT_TRUE(says(refusal([] { return kg::dense_bincount(kg::zeros({}, dtype::int32), 4); }), {"rank 1 or more"}));
  EXPECT_TRUE(says(refusal([] { return kg::unique(kg::zeros({}), 0); }), {"[kg::unique]", "rank 1 or more"}));
  EXPECT_TRUE(says(refusal([] { return kg::unique(kg::zeros({2}), 1); }), {"[kg::unique]", "axis 1"}));
}

}  // namespace
