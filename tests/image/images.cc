// SPDX-License-Identifier: Apache-2.0
// Ops on images by their typed names: small examples that can be worked out by hand, and what is rejected.
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

TEST(images, keep_infinite_elements_to_themselves_where_nothing_is_mixed) {
  const float infinite = std::numeric_limits<float>::infinity();
  const tensor all({0.f, 0.f, 1.f, 1.f}, {1, 4}), of({0}, {1});
  for (const std::int64_t channels : {1, 3, 8}) {
    const tensor x = kg::tile(tensor({1.f, infinite, 3.f, -infinite}, {1, 2, 2, 1}), {1, 1, 1, channels});
    EXPECT_EQ(kg::resize_bilinear(x, 2, {.half_pixel_centers = true}).to_doubles(), x.to_doubles());
    EXPECT_EQ(kg::crop_and_resize(x, all, of, 2).to_doubles(), x.to_doubles());
    EXPECT_EQ(kg::crop_and_resize(x, all, of, 2, {.nearest = true}).to_doubles(), x.to_doubles());
    EXPECT_EQ(kg::resize_bilinear(x, 3, {.align_corners = true}).to_doubles()[0], 1);
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

TEST(a_transform, takes_each_pixel_from_where_its_map_says) {
  const tensor right({1.f, 0.f, 1.f, 0.f, 1.f, 0.f, 0.f, 0.f}, {1, 8});
  EXPECT_EQ(kg::transform(four, right, {.fill = 9}).to_doubles(), (list{2, 9, 4, 9}));
  EXPECT_EQ(kg::transform(kg::reshape(four, {1, 1, 4, 1}), right, {.fill_mode = "wrap", .size = kg::extent{1, 5}})
                .to_doubles(),
            (list{2, 3, 4, 1, 2}));
  const tensor half({1.f, 0.f, 0.5f, 0.f, 1.f, 0.f, 0.f, 0.f}, {1, 8});
  EXPECT_EQ(kg::transform(four, half, {.bilinear = true, .fill = 4}).to_doubles(), (list{1.5, 3, 3.5, 4}));
}

TEST(a_transform, that_no_map_says_is_refused) {
  const auto moved = [](const tensor& maps, const kg::transform_options& options = {}) {
    return refusal([&] { return kg::transform(four, maps, options); });
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(says(moved(tensor({1.f, 0.f, nan, 0.f, 1.f, 0.f, 0.f, 0.f}, {1, 8})), {"transforms with nan", "finite"}));
  EXPECT_TRUE(says(moved(kg::zeros({1, 7})), {"transforms of shape [1, 7]", "8 numbers"}));
  EXPECT_TRUE(says(moved(kg::zeros({3, 8})), {"transforms of shape [3, 8]"}));
  EXPECT_NE(moved(kg::zeros({1, 8}), {.fill_mode = "bogus"}), kgtest::accepted);
  EXPECT_NE(moved(kg::zeros({1, 8}), {.size = kg::extent{0, 1}}), kgtest::accepted);
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
  EXPECT_TRUE(says(crop(tensor({0.f, nan, 1.f, 1.f}, {1, 4}), tensor({0}, {1})), {"boxes with nan", "finite"}));
  EXPECT_TRUE(says(crop(tensor({0.f, 0.f, infinite, 1.f}, {1, 4}), tensor({0}, {1})), {"boxes with inf", "finite"}));
  EXPECT_TRUE(says(crop(kg::zeros({1, 4}), tensor({1}, {1})), {"boxInd 1", "from 0 to 0"}));
  EXPECT_TRUE(says(crop(kg::zeros({1, 4}), tensor({-1}, {1})), {"boxInd -1"}));
  EXPECT_TRUE(says(crop(kg::zeros({4}), tensor({0}, {1})), {"boxes of shape [4]"}));
  EXPECT_TRUE(says(crop(kg::zeros({2, 4}), tensor({0}, {1})), {"boxInd of shape [1]", "each of the 2 boxes"}));
}

}  // namespace
