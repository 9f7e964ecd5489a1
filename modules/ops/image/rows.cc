// SPDX-License-Identifier: Apache-2.0
// Rows of the ops on images, [batch, height, width, channels].
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_image;

import :std;
import :core;
import :op;
import :attributes;
import :shapes_image;
import :rows;
import :rows_move;

namespace kerngrad::rows {

inline constexpr operand image_any[] = {{"image", any_dtype}};
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

consteval op_row image_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                           std::span<const attr_spec> attrs, infer_fn infer, convention how, double cost) {
  return {.name = name,
          .doc = doc,
          .group = family::image,
          .operands = operands,
          .attrs = attrs,
          .infer = infer,
          .convention = how,
          .cost = cost};
}
/// Of integers and floats; integers are computed as float32.
consteval op_row of_floats(op_row row) {
  row.types = floats;
  return row;
}
consteval op_row on_kernel_of(op_row row, std::string_view lender) {
  row.kernel = lender;
  return row;
}

inline constexpr op_row image_rows[] = {
    of_floats(image_row("ResizeBilinear",
                        "Images of another size, interpolated between the four pixels around each position; "
                        "positions outside are moved to the edge.",
                        images_numeric, attributes::resize, shapes::resize, convention::resize, 8)),
    image_row("ResizeNearestNeighbor", "Images of another size, each pixel the one at its position.", images_any,
              attributes::resize, shapes::resize, convention::resize, 1),
    image_row("ResizeBilinearGrad",
              "The gradient of ResizeBilinear, its adjoint: dy given back in the shares in which it was taken.",
              dy_images, attributes::resize, shapes::resize_grad, convention::resize_grad, 8),
    image_row("ResizeNearestNeighborGrad", "The gradient of ResizeNearestNeighbor: dy added up at the pixels taken.",
              dy_images, attributes::resize, shapes::resize_grad, convention::resize_grad, 4),
    on_kernel_of(image_row("FlipLeftRight", "Images with their columns reversed.", image_any, {},
                           shapes::flip_left_right, convention::reverse, 0),
                 "Reverse"),
    of_floats(image_row("CropAndResize",
                        "Boxes (y1, x1, y2, x2) out of images, in parts of height - 1 and width - 1, each resized to "
                        "one size; boxes may be turned over or reach outside. Gradient: slopes at a whole position "
                        "are those to the next pixel; nearest has none for boxes.",
                        image_boxes, attributes::crop, shapes::crop, convention::crop, 8)),
    image_row("CropAndResizeGrad",
              "The gradient of CropAndResize for the image, its adjoint: dy given back in the shares in which it was "
              "taken.",
              dy_boxes, attributes::crop_grad, shapes::crop_grad, convention::crop_grad, 8),
    image_row(
        "Transform",
        "Images under projective maps: pixel (x, y) of the result is that at ((t0 x + t1 y + t2) / p, (t3 x + t4 y "
        "+ t5) / p), p = t6 x + t7 y + 1, of the image; fillValue where p is 0. Gradient: slopes are those to the "
        "right; nearest has none for transforms.",
        image_transforms, attributes::transform, shapes::transform, convention::transform, 16),
    image_row(
        "TransformGrad",
        "The gradient of Transform for the image, its adjoint: dy given back in the shares in which it was taken.",
        dy_transforms, attributes::transform_grad, shapes::transform_grad, convention::transform_grad, 16),
};

}  // namespace kerngrad::rows
