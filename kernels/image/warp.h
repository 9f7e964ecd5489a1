// SPDX-License-Identifier: Apache-2.0
// Entry points of projective transforms of images, and of their adjoint.
#pragma once
#include <cmath>

#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Pixels outside of an image: one value, the image mirrored at its edges, the image again, or its edge.
enum class fill_mode : std::uint8_t { constant, reflect, wrap, nearest };

/// Images x [batch, in_h, in_w, channels] and results y [batch, out_h, out_w, channels]; no size is 0, heights and
/// widths of x are at most 2^30. transforms[8b..], all finite, belong to image b, or those of `stride` 0 to all: pixel
/// (i, j) of y lies at row (t3 j + t4 i + t5) / p, column (t0 j + t1 i + t2) / p of x, p = t6 j + t7 i + 1.
struct warp_geometry {
  std::int64_t batch, in_h, in_w, channels, out_h, out_w;
  const double* transforms;
  std::int64_t stride;  ///< from one image's numbers to the next's: 8, or 0
  double fill;
  fill_mode mode;
  bool nearest;                   ///< the pixel next to the position, a half upwards, in place of a mean of four
  bool slope_down, slope_across;  ///< not the value along this side but its derivative by the position
};

/// A position on a side of an image after what is outside was mapped in, and how it follows the one before.
struct mapped_position {
  double at;
  int direction;  ///< 1, or -1 in a mirror, or 0 where it is held at an edge
};

/// The position for one outside of [0, pixels - 1], by the mode. [abcd] continues as [dcba|abcd|dcba] or as
/// [abcd|abcd|abcd]; between the last pixel and its successor it is held at the last. Repeats are counted in lengths of
/// `pixels - 1`, as TensorFlow counts them: from the second one on a position may be held at an edge.
inline mapped_position mapped(double at, std::int64_t pixels, fill_mode mode) {
  const double length = static_cast<double>(pixels), last = length - 1;
  if (mode == fill_mode::constant || (at >= 0 && at <= last)) return {at, 1};
  if (pixels == 1) return {0, 0};
  int direction = 1;
  if (mode == fill_mode::reflect) {
    const double twice = 2 * length;
    if (at < 0) {
      at += twice * std::trunc(-at / twice);
      direction = at < -length ? 1 : -1;
      at = at < -length ? at + twice : -at - 1;
    } else {
      at -= twice * std::trunc(at / twice);
      direction = at >= length ? -1 : 1;
      if (at >= length) at = twice - at - 1;
    }
  } else if (mode == fill_mode::wrap) {
    at += at < 0 ? length * (std::trunc(-at / last) + 1) : -length * std::trunc(at / last);
  }
  if (at < 0) return {0, 0};
  if (at > last) return {last, 0};
  return {at, direction};
}

//   Transform      in = {x, -}   out = {y}   where p is 0, and for positions that are not finite, `fill` (0 of a slope)
//   TransformGrad  in = {dy, -}  out = {dx}  the adjoint without `fill`: each element of dy given back in the shares in
//                                            which it was taken, in the order of the elements
#define KG_WARP_KERNELS(X) KG_FLOATS(X, Transform) KG_FLOATS(X, TransformGrad)

KG_DECLARE_KERNELS(warp, KG_WARP_KERNELS)

}  // namespace kerngrad::kernels
