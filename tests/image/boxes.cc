// SPDX-License-Identifier: Apache-2.0
// Images that are turned and boxes that are taken, by their typed names: examples that can be worked out by hand, and
// what is rejected.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using list = std::vector<double>;

// Three clusters of boxes.
const tensor boxes({0.f, 0.f,  1.f, 1.f,  0.f, 0.1f,  1.f, 1.1f,  0.f, -0.1f, 1.f, 0.9f,
                    0.f, 10.f, 1.f, 11.f, 0.f, 10.1f, 1.f, 11.1f, 0.f, 100.f, 1.f, 101.f},
                   {6, 4});
const tensor scores({0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f});

TEST(boxes_are_taken, one_from_each_cluster_and_no_more_than_wanted) {
  EXPECT_EQ(kg::non_max_suppression(boxes, scores, 9).to_doubles(), (list{3, 0, 5}));
  EXPECT_EQ(kg::non_max_suppression(boxes, scores, 2).to_doubles(), (list{3, 0}));
  EXPECT_EQ(kg::non_max_suppression(boxes, scores, 9, {.score_threshold = 0.4}).to_doubles(), (list{3, 0}));
  EXPECT_EQ(kg::non_max_suppression(boxes, scores, 9).type(), kg::dtype::int32);
  EXPECT_EQ(kg::non_max_suppression(kg::zeros({0, 4}), kg::zeros({0}), 9).dims(), kg::shape{0});
}

TEST(boxes_are_taken, with_zeros_behind_them_and_their_number) {
  const auto [numbers, valid] = kg::non_max_suppression_padded(boxes, scores, 5);
  EXPECT_EQ(numbers.to_doubles(), (list{3, 0, 5, 0, 0}));
  EXPECT_EQ(valid.item(), 3);
  const auto [none, count] = kg::non_max_suppression_padded(kg::zeros({0, 4}), kg::zeros({0}), 2);
  EXPECT_EQ(none.to_doubles(), (list{0, 0}));
  EXPECT_EQ(count.item(), 0);
}

TEST(boxes_are_taken, softly_with_lowered_scores) {
  const auto [numbers, taken] = kg::non_max_suppression_with_score(boxes, scores, 6, {.iou_threshold = 1}, 0.5);
  EXPECT_EQ(numbers.to_doubles(), (list{3, 0, 1, 5, 4, 2}));
  const list wanted = {0.95, 0.9, 0.38400352, 0.3, 0.2560026, 0.19697244};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(taken.to_doubles()[i], wanted[i], 1e-7) << i;
}

TEST(boxes_are_taken, in_the_same_order_for_halves_and_doubles) {
  for (const kg::dtype type : {kg::dtype::float64, kg::dtype::float16, kg::dtype::bfloat16}) {
    const auto [numbers, taken] = kg::non_max_suppression_with_score(kg::cast(boxes, type), kg::cast(scores, type), 9);
    EXPECT_EQ(numbers.to_doubles(), (list{3, 0, 5}));
    EXPECT_EQ(taken.type(), type);
  }
}

TEST(boxes_are_refused, of_other_shapes_and_with_thresholds_outside_of_their_range) {
  const auto refused = [](const tensor& b, const tensor& s, std::int64_t most, double over) {
    return refusal([&] { return kg::non_max_suppression(b, s, most, {.iou_threshold = over}); });
  };
  EXPECT_TRUE(says(refused(scores, scores, 1, 0.5), {"kg::non_max_suppression", "boxes of shape [6]"}));
  EXPECT_TRUE(says(refused(boxes, kg::zeros({5}), 1, 0.5), {"scores of shape [5]", "6 boxes"}));
  EXPECT_TRUE(says(refused(boxes, scores, 1, 1.2), {"iouThreshold", "1.2"}));
  EXPECT_TRUE(says(refused(boxes, scores, -1, 0.5), {"maxOutputSize", "-1"}));
  EXPECT_TRUE(says(refusal([] {
                     return kg::grad([](const tensor& s) {
                       return kg::sum(kg::non_max_suppression_with_score(boxes, s, 3)[1]);
                     })(scores);
                   }),
                   {"kg::non_max_suppression_with_score"}));
}

const tensor four({1.f, 2.f, 3.f, 4.f}, {1, 2, 2, 1});

TEST(images_are_turned, counterclockwise_about_a_point) {
  // About the middle of the four pixels, which lies half a pixel before the center of width and height.
  const double quarter = std::numbers::pi / 2;
  EXPECT_EQ(kg::rotate_with_offset(four, quarter, {.center_x = 0.25, .center_y = 0.25}).to_doubles(),
            (list{2, 4, 1, 3}));
  EXPECT_EQ(kg::rotate_with_offset(four, 0).to_doubles(), four.to_doubles());
  EXPECT_EQ(kg::rotate_with_offset(four, quarter, {.fill = {9}, .center_x = 0, .center_y = 0}).to_doubles(),
            (list{1, 3, 9, 9}));
}

TEST(images_are_turned, with_a_value_outside_for_each_channel) {
  const tensor x = kg::ones({1, 1, 2, 4}, kg::dtype::uint8);
  const kg::rotation_options opaque{.fill = {7, 8, 9}, .center_x = 0, .center_y = 0};
  EXPECT_EQ(kg::rotate_with_offset(x, std::numbers::pi, opaque).to_doubles(), (list{1, 1, 1, 1, 7, 8, 9, 255}));
  EXPECT_EQ(kg::rotate_with_offset(kg::ones({1, 1, 2, 1}), std::numbers::pi, opaque).to_doubles(), (list{1, 7}));
}

TEST(images_are_turned, and_their_gradients_back) {
  const auto f = [](const tensor& x) {
    return kg::sum(
        kg::square(kg::rotate_with_offset(x, std::numbers::pi / 2, {.fill = {9}, .center_x = 0, .center_y = 0})));
  };
  EXPECT_EQ(kg::grad(f)(four).to_doubles(), (list{2, 0, 6, 0}));
  EXPECT_EQ(kg::grad([&](const tensor& x) { return kg::sum(kg::grad(f)(x)); })(four).to_doubles(), (list{2, 0, 2, 0}));
}

TEST(images_are_turned, by_several_threads_as_by_one) {
  const tensor x = kg::random_normal({3, 97, 83, 3}, 0, 1, 7);
  const auto turned = [&] {
    const tensor y = kg::rotate_with_offset(x, 0.7);
    return kg::call<"RotateWithOffsetGrad">(y, kg::attr<"radians">(0.7)).to_doubles();
  };
  const list alone = turned();
  kg::set_num_threads(4);
  const list together = turned();
  kg::set_num_threads(1);
  EXPECT_EQ(alone, together);
}

TEST(images_are_not_turned, by_what_is_no_angle_or_with_other_fillings) {
  const auto refused = [](double radians, const kg::rotation_options& options) {
    return refusal([&] { return kg::rotate_with_offset(kg::ones({1, 2, 2, 4}), radians, options); });
  };
  EXPECT_TRUE(says(refused(std::numeric_limits<double>::quiet_NaN(), {}), {"kg::rotate_with_offset", "radians"}));
  EXPECT_TRUE(says(refused(1, {.center_x = std::numeric_limits<double>::infinity()}), {"center"}));
  EXPECT_TRUE(says(refused(1, {.fill = {1, 2}}), {"fillValue of 2 numbers", "4 channels"}));
  EXPECT_TRUE(says(refusal([] { return kg::rotate_with_offset(kg::ones({2, 2, 1}), 1); }), {"rank 4"}));
}

}  // namespace
