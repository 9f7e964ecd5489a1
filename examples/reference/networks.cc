// SPDX-License-Identifier: Apache-2.0
// Ops of networks: fused layers, convolutions and poolings of images and volumes, normalizations, images and boxes.
#include <iostream>
#include <numbers>

#include "example.h"

import kerngrad;

namespace {

// ------------------------------------------------------------------------------------------ fused layers

void a_dense_layer_in_one_op() {
  const kg::tensor x{{1.f, 2.f}}, weights{{1.f, -1.f}, {1.f, -1.f}}, bias({10.f, 1.f});
  std::cout << kg::fused_matmul(x, weights, {.bias = bias, .activation = kg::activation::relu}) << "\n"
            << kg::fused_matmul(x, weights, {.bias = bias}) << "\n";
}
const example for_a_dense_layer_in_one_op{"kg::fused_matmul", a_dense_layer_in_one_op};

void a_layer_by_the_name_of_its_op() {
  const kg::tensor x({1.f, 2.f, 4.f}, {1, 1, 3, 1}), filter({-1.f, 1.f}, {1, 2, 1, 1});
  const kg::fused_conv_options options{.bias = kg::tensor({0.5f})};
  std::cout << kg::squeeze(kg::fused_convolution<"FusedConv2D">(x, filter, options)) << "\n";
}
const example for_a_layer_by_the_name_of_its_op{"kg::fused_convolution", a_layer_by_the_name_of_its_op};

void differences_above_a_bias() {
  const kg::tensor x({1.f, 2.f, 5.f}, {1, 1, 3, 1}), filter({-1.f, 1.f}, {1, 2, 1, 1}), bias({-2.f});
  const kg::tensor y = kg::fused_conv2d(x, filter, {.bias = bias, .activation = kg::activation::relu});
  std::cout << kg::squeeze(y) << "\n";
}
const example for_differences_above_a_bias{"kg::fused_conv2d", differences_above_a_bias};

void sums_of_each_channel_with_its_bias() {
  const kg::tensor x({1.f, 10.f, 2.f, 20.f}, {1, 1, 2, 2}), bias({0.5f, -31.f});
  const kg::tensor y =
      kg::fused_depthwise_conv2d(x, kg::ones({1, 2, 2, 1}), {.bias = bias, .activation = kg::activation::relu});
  std::cout << kg::squeeze(y) << "\n";
}
const example for_sums_of_each_channel_with_its_bias{"kg::fused_depthwise_conv2d", sums_of_each_channel_with_its_bias};

// ------------------------------------------------------------------------------------------ images

void nearest_pixels_by_two_rules() {
  const kg::tensor image({1, 2, 3, 4}, {1, 2, 2, 1});
  std::cout << kg::squeeze(kg::resize_nearest_neighbor(image, 3)) << "\n"
            << kg::squeeze(kg::resize_nearest_neighbor(image, 3, {.align_corners = true})) << "\n";
}
const example for_nearest_pixels_by_two_rules{"kg::resize_nearest_neighbor", nearest_pixels_by_two_rules};

void an_image_in_a_mirror() {
  const kg::tensor image({1, 2, 3, 4, 5, 6}, {1, 2, 3, 1});
  std::cout << kg::squeeze(kg::flip_left_right(image)) << "\n";
}
const example for_an_image_in_a_mirror{"kg::flip_left_right", an_image_in_a_mirror};

void a_corner_and_a_box_that_reaches_outside() {
  const kg::tensor image = kg::reshape(kg::arange(9), {1, 3, 3, 1});
  const kg::tensor boxes{{0.5f, 0.5f, 1.f, 1.f}, {0.f, 0.f, 1.f, 2.f}}, of_image({0, 0});
  std::cout << kg::squeeze(kg::crop_and_resize(image, boxes, of_image, 2, {.outside = -1})) << "\n";
}
const example for_a_corner_and_a_box_that_reaches_outside{"kg::crop_and_resize",
                                                          a_corner_and_a_box_that_reaches_outside};

void a_row_moved_to_the_left() {
  const kg::tensor row({1.f, 2.f, 3.f, 4.f}, {1, 1, 4, 1}), map{{1.f, 0.f, 1.f, 0.f, 1.f, 0.f, 0.f, 0.f}};  // x + 1
  std::cout << kg::squeeze(kg::transform(row, map, {.fill = 9})) << "\n"
            << kg::squeeze(kg::transform(row, map, {.fill_mode = "nearest"})) << "\n";
}
const example for_a_row_moved_to_the_left{"kg::transform", a_row_moved_to_the_left};

void a_quarter_turn_about_the_middle_pixel() {
  const kg::tensor image = kg::reshape(kg::arange(9), {1, 3, 3, 1});
  const kg::rotation_options middle{.center_x = 1.0 / 3, .center_y = 1.0 / 3};  // pixel 1 of three
  std::cout << kg::squeeze(kg::rotate_with_offset(image, std::numbers::pi / 2, middle)) << "\n";
}
const example for_a_quarter_turn_about_the_middle_pixel{"kg::rotate_with_offset",
                                                        a_quarter_turn_about_the_middle_pixel};

void boxes_that_overlap_by_half() {
  const kg::tensor boxes{{0.f, 0.f, 2.f, 2.f}, {0.f, 0.f, 2.f, 1.f}, {5.f, 5.f, 6.f, 6.f}};
  const kg::tensor scores({0.7f, 0.8f, 0.9f});
  const auto [numbers, valid] = kg::non_max_suppression_padded(boxes, scores, 3);
  std::cout << kg::non_max_suppression(boxes, scores, 3) << "\n" << numbers << "\n" << valid.item() << " of them\n";
}
const example for_boxes_that_overlap_by_half{"kg::non_max_suppression kg::non_max_suppression_padded",
                                             boxes_that_overlap_by_half};

void a_score_lowered_by_an_overlap() {
  const kg::tensor boxes{{0.f, 0.f, 2.f, 2.f}, {0.f, 0.f, 2.f, 1.f}, {5.f, 5.f, 6.f, 6.f}};
  const kg::tensor scores({0.9f, 0.8f, 0.7f});
  const auto [numbers, lowered] = kg::non_max_suppression_with_score(boxes, scores, 3, {.iou_threshold = 1}, 0.5);
  std::cout << numbers << "\n" << lowered << "\n";  // 0.8 * exp(-0.25)
}
const example for_a_score_lowered_by_an_overlap{"kg::non_max_suppression_with_score", a_score_lowered_by_an_overlap};

// ------------------------------------------------------------------------------------------ normalizations

void moments_that_are_known() {
  const kg::tensor x{{1.f, 10.f}, {3.f, 30.f}}, mean({2.f, 20.f}), variance({1.f, 100.f});
  const kg::tensor scale({1.f, 2.f}), offset({0.f, 5.f});
  std::cout << kg::batch_norm(x, mean, variance, {.epsilon = 0}) << "\n"
            << kg::batch_norm(x, mean, variance, {.offset = offset, .scale = scale, .epsilon = 0}) << "\n";
}
const example for_moments_that_are_known{"kg::batch_norm", moments_that_are_known};

void moments_of_each_row() {
  const kg::tensor x{{1.f, 3.f}, {10.f, 30.f}};
  std::cout << kg::layer_norm(x, {.epsilon = 0}) << "\n";
}
const example for_moments_of_each_row{"kg::layer_norm", moments_of_each_row};

void a_channel_among_its_neighbours() {
  const kg::tensor pixel({3.f, 4.f, 0.f}, {1, 1, 3});
  std::cout << kg::squeeze(kg::local_response_normalization(pixel, {.depth_radius = 1, .bias = 0})) << "\n";
}
const example for_a_channel_among_its_neighbours{"kg::local_response_normalization", a_channel_among_its_neighbours};

// ------------------------------------------------------------------------------------------ volumes

void differences_along_the_depth() {
  const kg::tensor x({1.f, 2.f, 3.f, 4.f, 11.f, 22.f, 33.f, 44.f}, {1, 2, 2, 2, 1});
  const kg::tensor filter({-1.f, 1.f}, {2, 1, 1, 1, 1});
  std::cout << kg::squeeze(kg::conv3d(x, filter)) << "\n";
}
const example for_differences_along_the_depth{"kg::conv3d", differences_along_the_depth};

void copies_of_a_filter_that_overlap() {
  const kg::tensor dy({1.f, 10.f}, {1, 2, 1, 1, 1}), filter({1.f, 2.f}, {2, 1, 1, 1, 1});
  std::cout << kg::squeeze(kg::conv3d_transpose(dy, filter, {1, 3, 1, 1, 1})) << "\n";
}
const example for_copies_of_a_filter_that_overlap{"kg::conv3d_transpose", copies_of_a_filter_that_overlap};

void slices_of_a_volume_pooled() {
  const kg::tensor x({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f}, {1, 2, 2, 2, 1});
  std::cout << kg::squeeze(kg::max_pool3d(x, {1, 2, 2})) << "\n"
            << kg::squeeze(kg::avg_pool3d(x, {1, 2, 2})) << "\n"
            << kg::avg_pool3d(x, 2).item() << "\n";
}
const example for_slices_of_a_volume_pooled{"kg::max_pool3d kg::avg_pool3d", slices_of_a_volume_pooled};

// ------------------------------------------------------------------------------------------ windows over images

void two_filters_for_each_channel() {
  const kg::tensor x({1.f, 10.f, 2.f, 20.f}, {1, 1, 2, 2}), filter({1.f, 2.f, 1.f, 3.f}, {1, 1, 2, 2});
  std::cout << kg::squeeze(kg::depthwise_conv2d(x, filter)) << "\n";
}
const example for_two_filters_for_each_channel{"kg::depthwise_conv2d", two_filters_for_each_channel};

void copies_of_a_filter_side_by_side() {
  const kg::tensor dy({1.f, 10.f}, {1, 1, 2, 1}), filter({1.f, 2.f}, {1, 2, 1, 1});
  std::cout << kg::squeeze(kg::conv2d_transpose(dy, filter, {1, 1, 4, 1}, {.strides = 2})) << "\n";
}
const example for_copies_of_a_filter_side_by_side{"kg::conv2d_transpose", copies_of_a_filter_side_by_side};

void windows_that_reach_over_the_edge() {
  const kg::tensor image = kg::reshape(kg::arange(1, 10), {1, 3, 3, 1});
  std::cout << kg::squeeze(kg::max_pool(image, 2, {.pad = kg::same})) << "\n"
            << kg::squeeze(kg::avg_pool(image, 2, {.pad = kg::same})) << "\n";
}
const example for_windows_that_reach_over_the_edge{"kg::max_pool kg::avg_pool", windows_that_reach_over_the_edge};

void the_first_of_equal_pixels() {
  const kg::tensor image({7, 7, 5, 8}, {1, 1, 4, 1});
  const auto [largest, places] = kg::max_pool_with_argmax(image, {1, 2});
  std::cout << kg::squeeze(largest) << "\n" << kg::squeeze(places) << "\n";
}
const example for_the_first_of_equal_pixels{"kg::max_pool_with_argmax", the_first_of_equal_pixels};

void a_bright_pixel_grows() {
  const kg::tensor image({0, 0, 5, 0, 0}, {1, 1, 5, 1}), filter({1, 2, 1}, {1, 3, 1});
  std::cout << kg::squeeze(kg::dilation2d(image, filter, {.pad = kg::same})) << "\n";
}
const example for_a_bright_pixel_grows{"kg::dilation2d", a_bright_pixel_grows};

}  // namespace
