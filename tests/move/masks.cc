// SPDX-License-Identifier: Apache-2.0
// nonzero and boolean_mask by their typed names, and what is rejected.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using list = std::vector<double>;

const tensor six({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});

TEST(nonzero, gives_a_row_of_indices_for_each_element_that_is_not_zero) {
  const tensor found = kg::nonzero(tensor({0.f, 2.f, 0.f, -1.f, 0.f, 3.f}, {2, 3}));
  EXPECT_EQ(found.type(), kg::dtype::int32);
  EXPECT_EQ(found.dims(), (kg::shape{3, 2}));
  EXPECT_EQ(found.to_doubles(), (list{0, 1, 1, 0, 1, 2}));
  EXPECT_EQ(kg::nonzero(kg::zeros({4})).dims(), (kg::shape{0, 1}));
  EXPECT_EQ(kg::nonzero(kg::zeros({0, 4})).dims(), (kg::shape{0, 2}));
  EXPECT_EQ(kg::nonzero(tensor({true, false, true})).to_doubles(), (list{0, 2}));
  EXPECT_EQ(kg::nonzero(kg::cast(six, kg::dtype::bfloat16)).dims(), (kg::shape{6, 2}));
}

TEST(boolean_mask, takes_the_slices_that_the_mask_names) {
  EXPECT_EQ(kg::boolean_mask(six, six > 3).to_doubles(), (list{4, 5, 6}));
  EXPECT_EQ(kg::boolean_mask(six, tensor({false, true})).to_doubles(), (list{4, 5, 6}));
  const tensor columns = kg::boolean_mask(six, tensor({true, false, true}), 1);
  EXPECT_EQ(columns.dims(), (kg::shape{2, 2}));
  EXPECT_EQ(columns.to_doubles(), (list{1, 3, 4, 6}));
  EXPECT_EQ(kg::boolean_mask(six, tensor({true, false, true}), -1).to_doubles(), columns.to_doubles());
  EXPECT_EQ(kg::boolean_mask(six, tensor({false, false})).dims(), (kg::shape{0, 3}));
}

TEST(boolean_mask, gives_its_gradient_to_the_slices_that_were_taken) {
  const auto squares = [](const tensor& x) { return kg::sum(kg::square(kg::boolean_mask(x, x > 2))); };
  EXPECT_EQ(kg::grad(squares)(six).to_doubles(), (list{0, 0, 6, 8, 10, 12}));
}

TEST(a_mask_of_another_shape, is_refused) {
  EXPECT_TRUE(says(refusal([] { return kg::boolean_mask(six, tensor(true)); }), {"boolean_mask", "rank 1 or more"}));
  EXPECT_TRUE(says(refusal([] { return kg::boolean_mask(six, tensor({true, false, true})); }), {"[2, 3]", "[3]"}));
  EXPECT_TRUE(says(refusal([] { return kg::boolean_mask(six, six > 1, 1); }), {"axis 1"}));
  EXPECT_TRUE(says(refusal([] { return kg::boolean_mask(six, tensor({true, false}), -3); }), {"axis -3"}));
  EXPECT_TRUE(says(refusal([] { return kg::nonzero(tensor(1.f)); }), {"kg::nonzero", "rank 1 or more"}));
}

}  // namespace
