// SPDX-License-Identifier: Apache-2.0
// Ops on images by their typed names: small examples that can be worked out by hand, and what is refused.
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

const tensor four({1.f, 2.f, 3.f, 4.f}, {1, 2, 2, 1});

TEST(images, are_interpolated_where_their_options_lay_the_pixels) {
  EXPECT_EQ(kg::resize_bilinear(four, {1, 4}).to_doubles(), (list{1, 1.5, 2, 2}));
  EXPECT_EQ(kg::resize_bilinear(four, {1, 4}, {.half_pixel_centers = true}).to_doubles(), (list{2, 2.25, 2.75, 3}));
  EXPECT_EQ(kg::resize_bilinear(four, 3, {.align_corners = true}).to_doubles(),
            (list{1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4}));
}

TEST(images, of_the_same_size_stay_as_they_are) {
  for (const bool centers : {false, true})
    for (const bool corners : {false, true}) {
      if (centers && corners) continue;
      const kg::resize_options options{.align_corners = corners, .half_pixel_centers = centers};
      EXPECT_EQ(kg::resize_bilinear(four, 2, options).to_doubles(), four.to_doubles());
      EXPECT_EQ(kg::resize_nearest_neighbor(four, 2, options).to_doubles(), four.to_doubles());
    }
}

TEST(images, take_exact_positions_however_quotients_are_rounded) {
  // 49 * (2 / 98) is below 1 in double precision.
  const tensor two({0.f, 1.f}, {1, 1, 2, 1});
  const list y = kg::resize_nearest_neighbor(two, {1, 98}).to_doubles();
  for (std::size_t i = 0; i < 98; ++i) EXPECT_EQ(y[i], i < 49 ? 0 : 1) << i;
}

TEST(images, of_integers_are_interpolated_as_floats_and_picked_as_they_are) {
  const tensor x = kg::cast(four, kg::dtype::int32);
  EXPECT_EQ(kg::resize_bilinear(x, {1, 4}).type(), kg::dtype::float32);
  EXPECT_EQ(kg::resize_nearest_neighbor(x, {1, 4}).type(), kg::dtype::int32);
  EXPECT_EQ(kg::resize_nearest_neighbor(x, {1, 4}).to_doubles(), (list{1, 1, 2, 2}));
}

TEST(images, are_flipped_by_columns) { EXPECT_EQ(kg::flip_left_right(four).to_doubles(), (list{2, 1, 4, 3})); }

TEST(a_crop, is_a_box_between_the_middles_of_pixels) {
  const tensor boxes({0.f, 0.f, 1.f, 1.f, 1.f, 1.f, 0.f, 0.f, -1.f, 0.f, 1.f, 1.f}, {3, 4}), of({0, 0, 0}, {3});
  EXPECT_EQ(kg::crop_and_resize(four, boxes, of, 2, {.outside = 9}).to_doubles(),
            (list{1, 2, 3, 4, 4, 3, 2, 1, 9, 9, 3, 4}));
  EXPECT_EQ(kg::crop_and_resize(four, kg::slice(boxes, {0, 0}, {1, 4}), tensor({0}, {1}), 1).to_doubles(), (list{2.5}));
}

TEST(a_crop, has_the_slope_to_the_next_pixel_where_it_lies_on_one) {
  const tensor x({1.f, 2.f, 4.f}, {1, 3, 1, 1}), of({0}, {1});
  const auto value = [&](const tensor& boxes) { return kg::sum(kg::crop_and_resize(x, boxes, of, {3, 1})); };
  const tensor boxes({0.f, 0.f, 1.f, 0.f}, {1, 4});
  // Positions 0, 1 and 2 with slopes 1, 2 and 2; y1 moves them by 2, 1 and 0, y2 by 0, 1 and 2.
  EXPECT_EQ(kg::grad(value)(boxes).to_doubles(), (list{1 * 2 + 2 * 1, 0, 2 * 1 + 2 * 2, 0}));
}

TEST(what_is_no_image, is_refused) {
  EXPECT_TRUE(says(refusal([] { return kg::resize_bilinear(kg::zeros({2, 2}), 3); }), {"[2, 2]", "rank 4"}));
  EXPECT_TRUE(says(refusal([] { return kg::resize_nearest_neighbor(kg::zeros({1, 0, 2, 1}), 3); }),
                   {"[1, 0, 2, 1]", "from 1 to 2^30"}));
  EXPECT_TRUE(says(refusal([] { return kg::flip_left_right(kg::zeros({3})); }), {"[3]", "rank 4"}));
  EXPECT_TRUE(
      says(refusal([] { return kg::resize_bilinear(four, 3, {.align_corners = true, .half_pixel_centers = true}); }),
           {"alignCorners with halfPixelCenters"}));
  EXPECT_NE(refusal([] { return kg::resize_bilinear(four, {0, 3}); }), kgtest::accepted);
  EXPECT_NE(refusal([] { return kg::resize_bilinear(four, {3, std::int64_t{1} << 40}); }), kgtest::accepted);
}

TEST(boxes, that_are_none_or_of_no_image_are_refused) {
  const auto crop = [](const tensor& boxes, const tensor& of) {
    return refusal([&] { return kg::crop_and_resize(four, boxes, of, 2); });
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(says(crop(tensor({0.f, nan, 1.f, 1.f}, {1, 4}), tensor({0}, {1})), {"corner at nan", "finite"}));
  EXPECT_TRUE(says(crop(tensor({0.f, 0.f, infinite, 1.f}, {1, 4}), tensor({0}, {1})), {"corner at inf", "finite"}));
  EXPECT_TRUE(says(crop(kg::zeros({1, 4}), tensor({1}, {1})), {"boxInd 1", "from 0 to 0"}));
  EXPECT_TRUE(says(crop(kg::zeros({1, 4}), tensor({-1}, {1})), {"boxInd -1"}));
  EXPECT_TRUE(says(crop(kg::zeros({4}), tensor({0}, {1})), {"boxes of shape [4]"}));
  EXPECT_TRUE(says(crop(kg::zeros({2, 4}), tensor({0}, {1})), {"boxInd of shape [1]", "each of the 2 boxes"}));
}

}  // namespace
