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

/// Options of the resizing functions. They select the position of pixel i of the result in the old image, for sizes
/// `in` and `out`. The default is i * in / out. With `align_corners` it is i * (in - 1) / (out - 1), with
/// `half_pixel_centers` (i + 1/2) * in / out - 1/2. Setting both throws.
struct resize_options {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
/// Resizes images [batch, height, width, channels] to a size in pixels, by interpolation between the four pixels around
/// each position. Positions outside are moved to the edge. Integers give float32. Throws for a size below 1, for both
/// options at once, and for images without pixels. Differentiable.
inline tensor resize_bilinear(const tensor& images, extent size, const resize_options& options = {}) {
  return call<"ResizeBilinear">(images, attr<"size">(size.value()), attr<"alignCorners">(options.align_corners),
                                attr<"halfPixelCenters">(options.half_pixel_centers));
}
/// Resizes images [batch, height, width, channels] to a size in pixels; each pixel takes the value of one old pixel.
/// Positions are rounded down. With either option they are rounded to the nearest integer, halves upwards. Any dtype.
/// Errors are those of `resize_bilinear`. Gradient: dy added up at the pixels taken.
inline tensor resize_nearest_neighbor(const tensor& images, extent size, const resize_options& options = {}) {
  return call<"ResizeNearestNeighbor">(images, attr<"size">(size.value()), attr<"alignCorners">(options.align_corners),
                                       attr<"halfPixelCenters">(options.half_pixel_centers));
}
/// Images [batch, height, width, channels] with their columns in reverse order. Any dtype. Throws for other ranks.
/// Gradient: dy with its columns reversed.
inline tensor flip_left_right(const tensor& image) { return call<"FlipLeftRight">(image); }

/// Options of crop_and_resize. `nearest` takes the nearest pixel in place of interpolation; `outside` is the value
/// outside of the image.
struct crop_options {
  bool nearest = false;
  double outside = 0;
};
/// Crops images [batch, height, width, channels] and resizes each crop to `size`. Each row y1, x1, y2, x2 of `boxes`
/// [count, 4] gives a crop of the image whose index is in `box_images` [count]. The result is [count, height, width,
/// channels]. The coordinates 0 and 1 are the centers of the first and the last pixel. A box with y1 > y2 is flipped. A
/// crop of one pixel is the center of its box. Throws for boxes with NaN or infinities and for indices of no image.
/// Differentiable in image and boxes.
inline tensor crop_and_resize(const tensor& image, const tensor& boxes, const tensor& box_images, extent size,
                              const crop_options& options = {}) {
  return call<"CropAndResize">(image, boxes, box_images, attr<"cropSize">(size.value()),
                               attr<"method">(options.nearest ? "nearest" : "bilinear"),
                               attr<"extrapolationValue">(options.outside));
}

/// Options of transform: interpolation between four pixels or the nearest pixel, and the values outside of the image.
/// `fill_mode` is "constant" (the value `fill`), "reflect", "wrap" or "nearest". `size` is by default that of the
/// image.
struct transform_options {
  bool bilinear = false;
  std::string_view fill_mode = "constant";
  double fill = 0;
  std::optional<extent> size{};
};
/// Maps images [batch, height, width, channels] by projective maps, rows of 8 numbers in `maps` [batch, 8] or [1, 8].
/// Pixel (x, y) of the result is the image's at ((m0 x + m1 y + m2) / p, (m3 x + m4 y + m5) / p) with p = m6 x + m7 y +
/// 1. If p is 0, it is `fill`. Floats. Throws for maps with NaN or infinities and for other fill modes. Differentiable
/// in image and maps.
inline tensor transform(const tensor& image, const tensor& maps, const transform_options& options = {}) {
  return call<"Transform">(image, maps, attr<"interpolation">(options.bilinear ? "bilinear" : "nearest"),
                           attr<"fillMode">(options.fill_mode), attr<"fillValue">(options.fill),
                           attr<"outputShape">(options.size ? options.size->value() : attr_value()));
}

/// Options of rotate_with_offset: the value of pixels outside of the image, and the center as fractions of width and
/// height. The value is one number for all channels, or one for each.
struct rotation_options {
  std::vector<double> fill = {0};
  double center_x = 0.5, center_y = 0.5;
};
/// Rotates images [batch, height, width, channels], of any dtype, counterclockwise by an angle in radians. Each pixel
/// takes the image's pixel nearest to its position, halves rounded upwards. The center is given in fractions of width
/// and height: 0.5 of an image 3 wide is position 1.5, between its second and its third pixel. If three fill values
/// serve four channels, the fourth is 255. Throws for angles and centers that are not finite. Throws for more than one
/// fill value, but fewer than the channels. Differentiable in the image.
inline tensor rotate_with_offset(const tensor& image, double radians, const rotation_options& options = {}) {
  return call<"RotateWithOffset">(image, attr<"radians">(radians), attr<"fillValue">(options.fill),
                                  attr<"center">({options.center_x, options.center_y}));
}

/// Options of the non-maximum suppressions. A box is dropped if its score is at most `score_threshold`. It is also
/// dropped if its overlap (intersection over union) with a chosen box is at least `iou_threshold`, from 0 to 1.
struct suppression_options {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
};
/// Non-maximum suppression: int32 indices of the chosen boxes, at most `most`. Rows of `boxes` [count, 4] are two
/// opposite corners y, x, y, x; `scores` is [count]. Boxes are visited by falling score; among equal scores the first
/// box comes first. A box that overlaps a chosen one is dropped. Boxes with NaN overlap nothing, and a box with the
/// score NaN is never chosen. If the overlap threshold is 0, one box is chosen. Throws for an overlap threshold outside
/// of [0, 1] and a negative `most`. No gradient: gather boxes and scores by the indices.
inline tensor non_max_suppression(const tensor& boxes, const tensor& scores, std::int64_t most,
                                  const suppression_options& options = {}) {
  return call<"NonMaxSuppressionV3">(boxes, scores, attr<"maxOutputSize">(most),
                                     attr<"iouThreshold">(options.iou_threshold),
                                     attr<"scoreThreshold">(options.score_threshold));
}
/// Non-maximum suppression with indices padded by zeros to `most`, and the number of valid indices, an int32 scalar:
/// `auto [indices, valid] = non_max_suppression_padded(boxes, scores, 100);`. The rest is as for `non_max_suppression`.
inline auto non_max_suppression_padded(const tensor& boxes, const tensor& scores, std::int64_t most,
                                       const suppression_options& options = {}) {
  return call<"NonMaxSuppressionV4">(boxes, scores, attr<"maxOutputSize">(most),
                                     attr<"iouThreshold">(options.iou_threshold),
                                     attr<"scoreThreshold">(options.score_threshold), attr<"padToMaxOutputSize">(true));
}
/// Non-maximum suppression with scores: int32 indices of the chosen boxes, and the scores with which they were chosen,
/// `auto [indices, chosen_scores] = ...`. With a `sigma` above 0, an overlap o below the threshold multiplies the score
/// of a box by exp(-o^2 / (2 sigma)). The box is then visited again by its new score (soft suppression: Bodla et al.
/// 2017, https://arxiv.org/abs/1704.04503). The rest is as for `non_max_suppression`.
inline auto non_max_suppression_with_score(const tensor& boxes, const tensor& scores, std::int64_t most,
                                           const suppression_options& options = {}, double sigma = 0) {
  return call<"NonMaxSuppressionV5">(boxes, scores, attr<"maxOutputSize">(most),
                                     attr<"iouThreshold">(options.iou_threshold),
                                     attr<"scoreThreshold">(options.score_threshold), attr<"softNmsSigma">(sigma));
}

}  // namespace kerngrad
