// SPDX-License-Identifier: Apache-2.0
// Rows of the ops on images, [batch, height, width, channels].
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_image;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes_image;
import :rows;
import :rows_move;

namespace kerngrad::launch {
void crop(const launch_call&);
void crop_grad(const launch_call&);
void resize(const launch_call&);
void resize_grad(const launch_call&);
void transform(const launch_call&);
void transform_grad(const launch_call&);
void rotate(const launch_call&);
void rotate_grad(const launch_call&);
void suppress(const launch_call&);
void suppress_padded(const launch_call&);
void suppress_scored(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand image_any[] = {{"image", any_dtype}};
inline constexpr operand image_element[] = {{"image", any_element}};
inline constexpr operand images_any[] = {{"images", any_dtype}};
inline constexpr operand images_numeric[] = {{"images", numeric}};
inline constexpr operand dy_images[] = {{"dy", floating}, {"images", floating}};
inline constexpr operand boxes = {"boxes", floating, role::own};
inline constexpr operand box_images = {"boxInd", index_dtypes, role::own};
inline constexpr operand image_boxes[] = {{"image", numeric}, boxes, box_images};
inline constexpr operand dy_boxes[] = {{"dy", floating}, boxes, box_images};
inline constexpr operand projective = {"transforms", floating, role::own};
inline constexpr operand image_transforms[] = {{"image", floating}, projective};
inline constexpr operand dy_transforms[] = {{"dy", floating}, projective};
inline constexpr operand dy_image[] = {{"dy", floating}};
inline constexpr operand scored_boxes[] = {{"boxes", floating}, {"scores", floating}};
inline constexpr result_spec padded_boxes[] = {{"selectedIndices", "numbers of the boxes taken", result::int32},
                                               {"validOutputs", "how many were taken", result::int32}};
inline constexpr result_spec taken_with_scores[] = {{"selectedIndices", "numbers of the boxes taken", result::int32},
                                                    {"selectedScores", "the scores that they were taken with"}};

consteval op_row image_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                           std::span<const attr_spec> attrs, infer_fn infer, launch_fn launch, double cost) {
  return {.name = name,
          .doc = doc,
          .group = family::image,
          .operands = operands,
          .attrs = attrs,
          .infer = infer,
          .launch = launch,
          .cost = cost};
}
/// The row for integers and floats; integers are computed as float32.
consteval op_row of_floats(op_row row) {
  row.types = floats;
  return row;
}
consteval op_row on_kernel_of(op_row row, std::string_view lender) {
  row.kernel = lender;
  return row;
}
/// A row of an op that chooses boxes by their scores. The size of its results depends on the scores.
consteval op_row suppression_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs,
                                 infer_fn infer, launch_fn launch, std::span<const result_spec> results) {
  op_row row = image_row(name, doc, scored_boxes, attrs, infer, launch, 16);
  row.results = results;
  row.bounded = true;
  row.no_gradient = "a choice of boxes; gathered by their numbers, boxes and scores have their gradients";
  return row;
}
consteval op_row of_box_numbers(op_row row) {
  row.types.after = result::int32;
  return row;
}

inline constexpr op_row image_rows[] = {
    of_floats(image_row("ResizeBilinear",
                        "Images of another size, interpolated between the four pixels around each position; "
                        "positions outside are moved to the edge.",
                        images_numeric, attributes::resize, shapes::resize, launch::resize, 8)),
    image_row("ResizeNearestNeighbor", "Images of another size, each pixel the one at its position.", images_any,
              attributes::resize, shapes::resize, launch::resize, 1),
    image_row("ResizeBilinearGrad",
              "The gradient of ResizeBilinear, its adjoint: dy given back in the shares in which it was taken.",
              dy_images, attributes::resize, shapes::resize_grad, launch::resize_grad, 8) |
        with{.forward = "ResizeBilinear"},
    image_row("ResizeNearestNeighborGrad", "The gradient of ResizeNearestNeighbor: dy added up at the pixels taken.",
              dy_images, attributes::resize, shapes::resize_grad, launch::resize_grad, 4) |
        with{.forward = "ResizeNearestNeighbor"},
    on_kernel_of(image_row("FlipLeftRight", "Images with their columns reversed.", image_element, {},
                           shapes::flip_left_right, launch::reverse, 0),
                 "Reverse"),
    of_floats(image_row("CropAndResize",
                        "Boxes (y1, x1, y2, x2) out of images, in parts of height - 1 and width - 1, each resized to "
                        "one size; boxes may be turned over or reach outside. Gradient: at a whole position it is that "
                        "towards the next pixel; nearest has none for boxes.",
                        image_boxes, attributes::crop, shapes::crop, launch::crop, 8)),
    image_row("CropAndResizeGrad",
              "The gradient of CropAndResize for the image, its adjoint: dy given back in the shares in which it was "
              "taken.",
              dy_boxes, attributes::crop_grad, shapes::crop_grad, launch::crop_grad, 8) |
        with{.forward = "CropAndResize"},
    image_row(
        "Transform",
        "Images under projective maps: pixel (x, y) of the result is that at ((t0 x + t1 y + t2) / p, (t3 x + t4 y "
        "+ t5) / p), p = t6 x + t7 y + 1, of the image; fillValue where p is 0. Gradient: at a whole position it is "
        "that to the right; nearest has none for transforms.",
        image_transforms, attributes::transform, shapes::transform, launch::transform, 16),
    image_row(
        "TransformGrad",
        "The gradient of Transform for the image, its adjoint: dy given back in the shares in which it was taken.",
        dy_transforms, attributes::transform_grad, shapes::transform_grad, launch::transform_grad, 16) |
        with{.forward = "Transform"},
    image_row("RotateWithOffset",
              "Images turned about a point: each pixel is that of the image next to its position, a half "
              "upwards, or fillValue outside.",
              image_any, attributes::rotate, shapes::rotate, launch::rotate, 1),
    image_row("RotateWithOffsetGrad", "The gradient of RotateWithOffset, its adjoint: dy added up at the pixels taken.",
              dy_image, attributes::rotate_grad, shapes::rotate_grad, launch::rotate_grad, 2) |
        with{.forward = "RotateWithOffset"},
    of_box_numbers(suppression_row(
        "NonMaxSuppressionV3",
        "Numbers of boxes (y, x, y, x) taken from the highest score downwards, of equal ones the first, without those "
        "that overlap one taken before; boxes with NaN overlap nothing, scores of NaN are not taken.",
        attributes::suppress, shapes::suppress, launch::suppress, {})),
    suppression_row("NonMaxSuppressionV4", "As NonMaxSuppressionV3, with 0 behind the boxes taken, and their number.",
                    attributes::suppress_padded, shapes::suppress_padded, launch::suppress_padded, padded_boxes),
    suppression_row("NonMaxSuppressionV5",
                    "As NonMaxSuppressionV3, with scores; overlaps that drop no box may lower its score (soft "
                    "suppression), after which it waits for its new turn.",
                    attributes::suppress_scored, shapes::suppress_scored, launch::suppress_scored, taken_with_scores),
};

}  // namespace kerngrad::rows
