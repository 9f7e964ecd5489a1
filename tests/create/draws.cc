// SPDX-License-Identifier: Apache-2.0
// Draws by their typed names, and what is rejected.
#include <gtest/gtest.h>

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

constexpr float infinite = std::numeric_limits<float>::infinity();

TEST(a_multinomial_draw, has_a_row_for_each_row_of_logits) {
  const tensor sure({-100.f, -100.f, 1.f, -100.f, 1.f, -100.f, 1.f, -100.f, -100.f}, {3, 3});
  const tensor drawn = kg::multinomial(sure, 4, 3.14);
  EXPECT_EQ(drawn.type(), kg::dtype::int32);
  EXPECT_EQ(drawn.dims(), (kg::shape{3, 4}));
  EXPECT_EQ(drawn.to_doubles(), (list{2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(kg::multinomial(tensor({0.f, 1.f}), 3, 1, true).to_doubles(), (list{1, 1, 1}));
  EXPECT_EQ(kg::multinomial(kg::zeros({2, 3}), 0, 1).dims(), (kg::shape{2, 0}));
}

TEST(a_multinomial_draw, depends_on_all_of_its_seed) {
  const tensor coin = kg::zeros({1, 10});
  const auto drawn = [&](double seed) { return kg::multinomial(coin, 100, seed).to_doubles(); };
  EXPECT_EQ(drawn(3.14), drawn(3.14));
  EXPECT_NE(drawn(3.14), drawn(3.15));
  EXPECT_NE(drawn(3), drawn(-3));
  EXPECT_EQ(drawn(0), drawn(-0.0));
}

TEST(a_multinomial_draw, takes_logits_of_any_real_dtype) {
  const tensor logits({0, 500}, {1, 2});
  for (const kg::dtype type : {kg::dtype::int32, kg::dtype::float16, kg::dtype::float64})
    EXPECT_EQ(kg::multinomial(kg::cast(logits, type), 2, 1).to_doubles(), (list{1, 1}));
}

TEST(what_is_no_distribution, is_refused) {
  const auto drawn = [](const tensor& logits, bool normalized = false) {
    return refusal([&] { return kg::multinomial(logits, 2, 1, normalized); });
  };
  EXPECT_TRUE(says(drawn(tensor({1.f})), {"kg::multinomial", "[1, 1]", "from 2"}));
  EXPECT_TRUE(says(drawn(kg::zeros({1, 2, 2})), {"[1, 2, 2]", "rank 2"}));
  EXPECT_TRUE(says(drawn(tensor({0.f, 1.f, 0.f, infinite - infinite}, {2, 2})), {"nan", "row 1"}));
  EXPECT_TRUE(says(drawn(tensor({0.f, infinite})), {"logit inf"}));
  EXPECT_TRUE(says(drawn(tensor({-infinite, -infinite})), {"no finite logit"}));
  EXPECT_TRUE(says(drawn(tensor({0.5f, -0.5f}), true), {"weight -0.5"}));
  EXPECT_TRUE(says(drawn(kg::zeros({2}), true), {"the sum 0"}));
  EXPECT_NE(refusal([] { return kg::multinomial(kg::zeros({2}), -1, 1); }), kgtest::accepted);
}

}  // namespace
