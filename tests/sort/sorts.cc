// SPDX-License-Identifier: Apache-2.0
// The ops that order elements by their typed names: small examples, gradients through places, and what is rejected.
// every_op.cc checks the rules that hold for every op.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using list = std::vector<double>;

const float nan = std::numeric_limits<float>::quiet_NaN();
const tensor matrix({3.f, 1.f, 2.f, 0.f, 5.f, 4.f}, {2, 3});

TEST(sorted, are_rows_or_columns_in_both_directions) {
  EXPECT_EQ(kg::sort(matrix).to_doubles(), (list{1, 2, 3, 0, 4, 5}));
  EXPECT_EQ(kg::sort(matrix, {.descending = true}).to_doubles(), (list{3, 2, 1, 5, 4, 0}));
  EXPECT_EQ(kg::sort(matrix, {.axis = 0}).to_doubles(), (list{0, 1, 2, 3, 5, 4}));
  EXPECT_EQ(kg::sort(matrix, 0).to_doubles(), (list{0, 1, 2, 3, 5, 4}));
  EXPECT_EQ(kg::sort(matrix, {0}).to_doubles(), (list{0, 1, 2, 3, 5, 4}));
  EXPECT_EQ(kg::sort(matrix, {}).to_doubles(), (list{1, 2, 3, 0, 4, 5}));
  EXPECT_EQ(kg::argsort(matrix, 0).to_doubles(), kg::argsort(matrix, {.axis = 0}).to_doubles());
  EXPECT_EQ(kg::argsort(matrix).to_doubles(), (list{1, 2, 0, 0, 2, 1}));
  EXPECT_EQ(kg::argsort(matrix, {.axis = 0, .descending = true}).to_doubles(), (list{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(kg::argsort(matrix).type(), kg::dtype::int32);
  EXPECT_EQ(kg::sort(tensor({2.f}, {})).to_doubles(), (list{2}));
  EXPECT_EQ(kg::argsort(tensor({2.f}, {})).to_doubles(), (list{0}));
}

TEST(sorted, are_elements_of_every_dtype_with_an_order) {
  for (const kg::dtype type : {kg::dtype::float64, kg::dtype::float16, kg::dtype::bfloat16, kg::dtype::int32,
                               kg::dtype::int64, kg::dtype::uint8}) {
    const tensor x = kg::cast(matrix, type);
    EXPECT_EQ(kg::sort(x).type(), type);
    EXPECT_EQ(kg::sort(x).to_doubles(), (list{1, 2, 3, 0, 4, 5}));
    EXPECT_EQ(kg::argsort(x).to_doubles(), (list{1, 2, 0, 0, 2, 1}));
    EXPECT_EQ(kg::top_k(x, 2)[0].type(), type);
    EXPECT_EQ(kg::top_k(x, 2)[0].to_doubles(), (list{3, 2, 5, 4}));
  }
  EXPECT_EQ(kg::sort(tensor({true, false, true}, {3})).to_doubles(), (list{0, 1, 1}));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = -most - 1;
  const tensor ends = kg::sort(tensor({most, std::int64_t{0}, least, most - 1}, {4}));
  EXPECT_EQ(ends.data<std::int64_t>()[0], least);
  EXPECT_EQ(ends.data<std::int64_t>()[3], most);
}

TEST(sorted, have_NaN_as_their_greatest_and_equals_in_their_order) {
  const tensor x({nan, -0.f, 1.f, 0.f, -nan, 1.f}, {6});
  EXPECT_EQ(kg::argsort(x).to_doubles(), (list{1, 3, 2, 5, 0, 4}));
  EXPECT_EQ(kg::argsort(x, {.descending = true}).to_doubles(), (list{0, 4, 2, 5, 1, 3}));
  const list up = kg::sort(x).to_doubles();
  EXPECT_TRUE(std::isnan(up[4]) && std::isnan(up[5]));
  EXPECT_FALSE(std::signbit(up[4]) || std::signbit(up[5]));
  EXPECT_TRUE(std::signbit(up[0]) && !std::signbit(up[1]));
  const auto [values, indices] = kg::top_k(x, 3);
  EXPECT_EQ(indices.to_doubles(), (list{0, 4, 2}));
  EXPECT_TRUE(std::isnan(values.to_doubles()[0]));
}

TEST(top, is_the_beginning_of_the_descending_order) {
  for (const std::int64_t count : {1, 30, 1000})
    for (const std::int64_t k : {1, 10, 400}) {
      if (k > count) continue;
      const tensor x = kg::cast(kg::random_uniform({3, count}, 0, 50, 1), kg::dtype::int32);  // with equals
      const auto [values, indices] = kg::top_k(x, k);
      EXPECT_EQ(values.to_doubles(), kg::slice(kg::sort(x, {.descending = true}), {0, 0}, {3, k}).to_doubles());
      EXPECT_EQ(indices.to_doubles(), kg::slice(kg::argsort(x, {.descending = true}), {0, 0}, {3, k}).to_doubles());
    }
  EXPECT_EQ(kg::top_k(matrix)[0].dims(), (kg::shape{2, 1}));
  EXPECT_EQ(kg::top_k(matrix, 0)[1].dims(), (kg::shape{2, 0}));
}

TEST(gradients_of_sorted, go_to_the_places_that_elements_came_from) {
  const tensor w({1.f, 10.f, 100.f}, {3});
  const auto weighted = [&](const tensor& x) { return kg::sum(kg::sort(x) * w); };
  EXPECT_EQ(kg::grad(weighted)(matrix).to_doubles(), (list{100, 1, 10, 1, 100, 10}));
  const auto columns = [](const tensor& x) { return kg::sum(kg::sort(x, {.axis = 0}) * tensor({1.f, 2.f}, {2, 1})); };
  EXPECT_EQ(kg::grad(columns)(matrix).to_doubles(), (list{2, 1, 1, 1, 2, 2}));
  const auto largest = [](const tensor& x) { return kg::sum(kg::top_k(x, 2)[0] * tensor({1.f, 10.f}, {2})); };
  EXPECT_EQ(kg::grad(largest)(matrix).to_doubles(), (list{1, 0, 10, 0, 1, 10}));
  // x^2 where it was sorted: the second derivative is in its place, too.
  const auto squares = [&](const tensor& x) { return kg::sum(kg::square(kg::sort(x)) * w); };
  const auto slope = [&](const tensor& x) { return kg::sum(kg::grad(squares)(x)); };
  EXPECT_EQ(kg::grad(slope)(matrix).to_doubles(), (list{200, 2, 20, 2, 200, 20}));
}

TEST(searched, are_sequences_for_all_values_or_for_their_rows) {
  const tensor one({1.f, 2.f, 2.f, 4.f}, {4}), values({2.f, 0.f, 5.f, nan}, {2, 2});
  EXPECT_EQ(kg::lower_bound(one, values).to_doubles(), (list{1, 0, 4, 4}));
  EXPECT_EQ(kg::upper_bound(one, values).to_doubles(), (list{3, 0, 4, 4}));
  EXPECT_EQ(kg::upper_bound(one, values).type(), kg::dtype::int32);
  const tensor rows({0, 3, 9, 9, 10, 1, 2, 3, 4, 5}, {2, 5}), wanted({2, 4, 9, 0, 2, 6}, {2, 3});
  EXPECT_EQ(kg::search_sorted(rows, wanted).to_doubles(), (list{1, 2, 2, 0, 1, 5}));
  EXPECT_EQ(kg::search_sorted(rows, wanted, true).to_doubles(), (list{1, 2, 4, 0, 2, 5}));
  EXPECT_EQ(kg::search_sorted(one, tensor({2}, {})).to_doubles(), (list{1}));  // promoted to float32
  EXPECT_EQ(kg::lower_bound(tensor({0.f, nan, nan}, {3}), tensor({nan}, {1})).to_doubles(), (list{1}));
}

TEST(what_has_no_order, is_refused) {
  EXPECT_TRUE(says(refusal([] { return kg::sort(matrix, {.axis = 2}); }), {"kg::sort", "axis 2", "from -2 to 1"}));
  EXPECT_TRUE(says(refusal([] { return kg::top_k(matrix, 4); }), {"kg::top_k", "k 4", "last axis, 3"}));
  EXPECT_TRUE(says(refusal([] { return kg::top_k(matrix, -1); }), {"kg::top_k", "-1"}));
  EXPECT_TRUE(says(refusal([] { return kg::top_k(kg::zeros({}), 1); }), {"x of shape []", "rank 1"}));
  EXPECT_TRUE(says(refusal([] { return kg::lower_bound(matrix, kg::zeros({3, 2})); }), {"[2, 3]", "[3, 2]"}));
  EXPECT_TRUE(says(refusal([] { return kg::lower_bound(kg::zeros({}), matrix); }), {"sortedSequence of shape []"}));
  EXPECT_NE(refusal([] { return kg::sort(kg::complex(matrix, matrix)); }), kgtest::accepted);
}

}  // namespace
