// SPDX-License-Identifier: Apache-2.0
// Typed names of the ops on images, [batch, height, width, channels], and their options.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_image;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :ops_window;

export namespace kerngrad {

/// Positions of a resized image's pixels on the old one: at i * in / out, at i * (in - 1) / (out - 1) with
/// `align_corners`, at (i + 1/2) * in / out - 1/2 with `half_pixel_centers`. Not both.
struct resize_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
/// Images [batch, height, width, channels] of another size in pixels, at least 1 each, interpolated between the four
/// pixels around each position. Integers give float32. Throws for both options at once and for images without pixels.
inline tensor resize_bilinear(const tensor& images, extent size, const resize_options& options = {}) {
  return call<"ResizeBilinear">(images, attr<"size">(size.value()), attr<"alignCorners">(options.align_corners),
                                attr<"halfPixelCenters">(options.half_pixel_centers));
}
/// Resizes with the nearest pixel for each position. Any dtype. Positions are rounded down; with `align_corners` they
/// are rounded to the nearest whole number, a half upwards.
inline tensor resize_nearest_neighbor(const tensor& images, extent size, const resize_options& options = {}) {
  return call<"ResizeNearestNeighbor">(images, attr<"size">(size.value()), attr<"alignCorners">(options.align_corners),
                                       attr<"halfPixelCenters">(options.half_pixel_centers));
}
/// Images [batch, height, width, channels] with their columns in reverse order.
inline tensor flip_left_right(const tensor& image) { return call<"FlipLeftRight">(image); }

/// How crops are sampled, and what they have where they reach outside of the image.
struct crop_options {
  bool nearest = false;
  double outside = 0;
};
/// For each row y1, x1, y2, x2 of `boxes` [count, 4] a crop [height, width, channels] of the image with the number in
/// `box_images` [count]. 0 and 1 are the middles of the first and the last pixel; a box with y1 > y2 is turned over. A
/// crop of one pixel is the middle of its box. Throws for boxes with NaN or infinities and numbers of no image. The
/// gradient reaches image and boxes.
inline tensor crop_and_resize(const tensor& image, const tensor& boxes, const tensor& box_images, extent size,
                              const crop_options& options = {}) {
  return call<"CropAndResize">(image, boxes, box_images, attr<"cropSize">(size.value()),
                               attr<"method">(options.nearest ? "nearest" : "bilinear"),
                               attr<"extrapolationValue">(options.outside));
}

/// How images are sampled under a map, and what lies outside of them: "constant" (`fill`), "reflect", "wrap" or
/// "nearest". `size` is that of the image where it is not given.
struct transform_options {
  bool bilinear = false;
  std::string_view fill_mode = "constant";
  double fill = 0;
  std::optional<extent> size{};
};
/// Images [batch, height, width, channels] under projective maps, rows of 8 numbers in `maps` [batch, 8] or [1, 8]:
/// pixel (x, y) of the result is the image's at ((m0 x + m1 y + m2) / p, (m3 x + m4 y + m5) / p), p = m6 x + m7 y + 1.
/// Throws for maps with NaN or infinities and for other fill modes. The gradient reaches image and maps.
inline tensor transform(const tensor& image, const tensor& maps, const transform_options& options = {}) {
  return call<"Transform">(image, maps, attr<"interpolation">(options.bilinear ? "bilinear" : "nearest"),
                           attr<"fillMode">(options.fill_mode), attr<"fillValue">(options.fill),
                           attr<"outputShape">(options.size ? options.size->value() : attr_value()));
}

/// Center of a rotation, in widths and heights, and the values where no pixel is turned to: one value, or one
/// for each channel.
struct rotation_options {
  std::vector<double> fill = {0};
  double center_x = 0.5, center_y = 0.5;
};
/// Images [batch, height, width, channels], of any dtype, turned counterclockwise by an angle in radians: each pixel is
/// the image's next to its position, a half rounded upwards. The center is in widths and heights: 0.5 of an image 3
/// wide is position 1.5, between its second and its third pixel. If three numbers fill four channels, the fourth is
/// 255. Throws for angles and centers that are not finite and for another number of values to fill with. The gradient
/// reaches the image.
inline tensor rotate_with_offset(const tensor& image, double radians, const rotation_options& options = {}) {
  return call<"RotateWithOffset">(image, attr<"radians">(radians), attr<"fillValue">(options.fill),
                                  attr<"center">({options.center_x, options.center_y}));
}

/// Options of the suppressions. A box is dropped if its overlap with a better one, intersection over union, is at least
/// `iou_threshold`, from 0 to 1, and if its score is not above `score_threshold`.
struct suppression_options {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
};
/// Numbers (int32) of boxes [count, 4], two opposite corners y, x, y, x each, that are taken by their `scores` [count]:
/// from the highest downwards, of equal ones the first, at most `most`, without those that overlap one taken before.
/// Boxes with NaN overlap nothing, scores of NaN are not taken; where the threshold of overlaps is 0, one box is.
/// Throws for thresholds outside of [0, 1] and a negative `most`. There is no gradient: gather boxes and scores by the
/// numbers.
inline tensor non_max_suppression(const tensor& boxes, const tensor& scores, std::int64_t most,
                                  const suppression_options& options = {}) {
  return call<"NonMaxSuppressionV3">(boxes, scores, attr<"maxOutputSize">(most),
                                     attr<"iouThreshold">(options.iou_threshold),
                                     attr<"scoreThreshold">(options.score_threshold));
}
/// `non_max_suppression` with zeros after the numbers, `most` in all, and the count of valid ones (an int32 scalar):
/// `auto [numbers, valid] = non_max_suppression_padded(boxes, scores, 100);`.
inline auto non_max_suppression_padded(const tensor& boxes, const tensor& scores, std::int64_t most,
                                       const suppression_options& options = {}) {
  return call<"NonMaxSuppressionV4">(boxes, scores, attr<"maxOutputSize">(most),
                                     attr<"iouThreshold">(options.iou_threshold),
                                     attr<"scoreThreshold">(options.score_threshold), attr<"padToMaxOutputSize">(true));
}
/// The numbers and the scores that the boxes were taken with: `auto [numbers, scores] = ...`. With a `sigma` above 0 an
/// overlap o that drops no box multiplies its score with exp(-o^2 / (2 sigma)), after which it waits for its new turn
/// (soft suppression: Bodla et al. 2017, https://arxiv.org/abs/1704.04503).
inline auto non_max_suppression_with_score(const tensor& boxes, const tensor& scores, std::int64_t most,
                                           const suppression_options& options = {}, double sigma = 0) {
  return call<"NonMaxSuppressionV5">(boxes, scores, attr<"maxOutputSize">(most),
                                     attr<"iouThreshold">(options.iou_threshold),
                                     attr<"scoreThreshold">(options.score_threshold), attr<"softNmsSigma">(sigma));
}

}  // namespace kerngrad
