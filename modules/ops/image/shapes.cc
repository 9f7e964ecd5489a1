// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops on images, [batch, height, width, channels].
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_image;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :shapes_window;

namespace kerngrad::shapes {

/// The largest height and width of an image that is sampled. Positions are products of two such sizes.
inline constexpr std::int64_t most_pixels = std::int64_t{1} << 30;

constexpr void check_rank_of_image(const inference& call, const shape& x) {
  if (x.rank() != 4) call.refuse("an image of shape " + to_string(x), "rank 4: batch, height, width, channels");
}
constexpr void check_sampled_image(const inference& call, const shape& x) {
  check_rank_of_image(call, x);
  for (int axis : {1, 2})
    if (x[axis] < 1 || x[axis] > most_pixels)
      call.refuse("an image of shape " + to_string(x), "height and width from 1 to 2^30");
}

/// The shape of a resized image.
constexpr shape resized(const inference& call, const shape& x) {
  check_sampled_image(call, x);
  if (call.attr(place_in(attributes::resize, "alignCorners")).as_bool() &&
      call.attr(place_in(attributes::resize, "halfPixelCenters")).as_bool())
    call.refuse("alignCorners with halfPixelCenters", "one of them at most");
  const auto size = pixels(call, place_in(attributes::resize, "size"));
  return {x[0], size[0], size[1], x[3]};
}

/// ResizeBilinear and ResizeNearestNeighbor: images of the height and width in the attribute `size`.
export constexpr void resize(inference& call) { call.give(resized(call, call.in[0].dims)); }

/// The gradients of ResizeBilinear and ResizeNearestNeighbor: the shape of the images, operand 1. dy has the resized
/// shape.
export constexpr void resize_grad(inference& call) {
  const shape& x = call.in[1].dims;
  check_dy(call, call.in[0].dims, resized(call, x));
  call.give(x);
}

/// FlipLeftRight: the shape of the image.
export constexpr void flip_left_right(inference& call) {
  const shape& x = call.in[0].dims;
  check_rank_of_image(call, x);
  call.resolved.set_axes(axis_set{1} << 2);
  call.give(x);
}

/// The number of boxes. Operand 1 has the boxes [count, 4], operand 2 the image index of each of them.
constexpr std::int64_t count_of_boxes(const inference& call) {
  const shape &boxes = call.in[1].dims, &images = call.in[2].dims;
  if (boxes.rank() != 2 || boxes[1] != 4) call.refuse("boxes of shape " + to_string(boxes), "4 numbers for each box");
  if (images.rank() != 1 || images[0] != boxes[0])
    call.refuse("boxInd of shape " + to_string(images),
                "a number for each of the " + std::to_string(boxes[0]) + " boxes");
  return boxes[0];
}

/// CropAndResize: images [batch, height, width, channels] and `count` boxes give crops [count, cropSize..., channels].
export constexpr void crop(inference& call) {
  const shape& x = call.in[0].dims;
  check_sampled_image(call, x);
  const auto size = pixels(call, place_in(attributes::crop, "cropSize"));
  call.give({count_of_boxes(call), size[0], size[1], x[3]});
}

/// CropAndResizeGrad: the image shape in the attribute `inputShape`. dy has the shape of the crops.
export constexpr void crop_grad(inference& call) {
  const shape& dy = call.in[0].dims;
  const shape x = shape_attr(call, place_in(attributes::crop_grad, "inputShape"));
  check_sampled_image(call, x);
  check_sampled_image(call, dy);
  check_dy(call, dy, {count_of_boxes(call), dy[1], dy[2], x[3]});
  call.give(x);
}

/// Checks that operand 1 has a projective map of 8 numbers for each of `count` images, or one for all.
constexpr void check_transforms(const inference& call, std::int64_t count) {
  const shape& maps = call.in[1].dims;
  if (maps.rank() != 2 || maps[1] != 8 || (maps[0] != 1 && maps[0] != count))
    call.refuse("transforms of shape " + to_string(maps),
                "8 numbers for each of the " + std::to_string(count) + " images, or for all");
}

/// Transform: the shape of the images, with the height and width in `outputShape` if it is given.
export constexpr void transform(inference& call) {
  constexpr attr_place output = place_in(attributes::transform, "outputShape");
  const shape& x = call.in[0].dims;
  check_sampled_image(call, x);
  check_transforms(call, x[0]);
  if (!call.attr(output).given()) return call.give(x);
  const auto size = pixels(call, output);
  call.give({x[0], size[0], size[1], x[3]});
}

/// TransformGrad: the image shape in the attribute `inputShape`. dy has the shape of the transformed images.
export constexpr void transform_grad(inference& call) {
  const shape& dy = call.in[0].dims;
  const shape x = shape_attr(call, place_in(attributes::transform_grad, "inputShape"));
  check_sampled_image(call, x);
  check_sampled_image(call, dy);
  check_transforms(call, x[0]);
  check_dy(call, dy, {x[0], dy[1], dy[2], x[3]});
  call.give(x);
}

// ------------------------------------------------------------------------------------------ rotations

/// Rejects attributes with NaN or infinities.
constexpr void check_rotation_numbers(const inference& call, attr_place at, std::span<const double> numbers) {
  for (double number : numbers)
    if (!(number - number == 0))
      call.refuse(std::string(at.name) + " with " + std::to_string(number), "finite numbers");
}

/// Center of the rotation: x and y as parts of the width and the height.
constexpr std::array<double, 2> rotation_center(const inference& call, attr_place at) {
  const std::span<const double> given = call.attr(at).as_numbers();
  if (!call.attr(at).given()) return {0.5, 0.5};
  if (given.empty() || given.size() > 2)
    call.refuse("center of " + std::to_string(given.size()) + " numbers", "one, or one for x and one for y");
  check_rotation_numbers(call, at, given);
  return {given.front(), given.back()};
}

/// Value of channel `c` of a pixel outside of the image.
constexpr double rotation_fill(const inference& call, std::int64_t c) {
  const std::span<const double> given = call.attr(place_in(attributes::rotate, "fillValue")).as_numbers();
  if (given.empty()) return 0;
  if (given.size() == 1) return given[0];
  return c < static_cast<std::int64_t>(given.size()) ? given[static_cast<std::size_t>(c)] : 255;  // opaque
}

constexpr void check_rotation(const inference& call, attr_place radians, attr_place center) {
  check_rank_of_image(call, call.in[0].dims);
  const double angle = call.attr(radians).as_number();
  check_rotation_numbers(call, radians, std::span(&angle, 1));
  rotation_center(call, center);
}

/// RotateWithOffset: the shape of the images. There is one fill value, or one for each channel.
export constexpr void rotate(inference& call) {
  constexpr attr_place fill = place_in(attributes::rotate, "fillValue");
  check_rotation(call, place_in(attributes::rotate, "radians"), place_in(attributes::rotate, "center"));
  const auto count = static_cast<std::int64_t>(call.attr(fill).as_numbers().size());
  const std::int64_t channels = call.in[0].dims[3];
  const bool fits =
      !call.attr(fill).given() || count == 1 || (count > 0 && count >= channels) || (count == 3 && channels == 4);
  if (!fits)
    call.refuse("fillValue of " + std::to_string(count) + " numbers",
                "one, or one for each of the " + std::to_string(channels) + " channels");
  for (const double value : call.attr(fill).as_numbers()) expect_integer(call, fill.name, value, call.in[0].type);
  call.give(call.in[0].dims);
}

/// RotateWithOffsetGrad: the shape of dy, which is that of the images.
export constexpr void rotate_grad(inference& call) {
  check_rotation(call, place_in(attributes::rotate_grad, "radians"), place_in(attributes::rotate_grad, "center"));
  call.give(call.in[0].dims);
}

// ------------------------------------------------------------------------------------------ boxes that are taken

/// The largest number of boxes that can be chosen: the number of boxes or `maxOutputSize`, the smaller one.
constexpr std::int64_t most_boxes_taken(const inference& call) {
  const shape &boxes = call.in[0].dims, &scores = call.in[1].dims;
  if (boxes.rank() != 2 || boxes[1] != 4) call.refuse("boxes of shape " + to_string(boxes), "4 numbers for each box");
  if (scores.rank() != 1 || scores[0] != boxes[0])
    call.refuse("scores of shape " + to_string(scores),
                "a number for each of the " + std::to_string(boxes[0]) + " boxes");
  if (boxes[0] > std::numeric_limits<std::int32_t>::max())
    call.refuse(std::to_string(boxes[0]) + " boxes", "at most 2^31 - 1, which are numbered");
  const std::int64_t wanted = call.attr(place_in(attributes::suppress, "maxOutputSize")).as_integer();
  return wanted < boxes[0] ? wanted : boxes[0];
}

/// NonMaxSuppressionV3: the indices of the chosen boxes. There are at most `maxOutputSize`, and at most as many as
/// boxes.
export constexpr void suppress(inference& call) { call.give({most_boxes_taken(call)}); }
/// NonMaxSuppressionV4: the indices of the chosen boxes, and their number as a scalar. With `padToMaxOutputSize` there
/// are `maxOutputSize` indices, else at most that many.
export constexpr void suppress_padded(inference& call) {
  const std::int64_t most = most_boxes_taken(call);
  const bool padded = call.attr(place_in(attributes::suppress_padded, "padToMaxOutputSize")).as_bool();
  call.give({padded ? call.attr(place_in(attributes::suppress, "maxOutputSize")).as_integer() : most});
  call.give({});
}
/// NonMaxSuppressionV5: the indices and the scores of the chosen boxes. There are at most `maxOutputSize`, and at most
/// as many as boxes.
export constexpr void suppress_scored(inference& call) {
  const std::int64_t most = most_boxes_taken(call);
  call.give({most});
  call.give({most});
}

}  // namespace kerngrad::shapes
