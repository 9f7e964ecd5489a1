// SPDX-License-Identifier: Apache-2.0
// Entry points of crops: boxes of images, each resized to one size, and their adjoint.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Images x [batch, in_h, in_w, channels] and crops y [crops, out_h, out_w, channels]. Sizes but `crops` and `batch`
/// are not 0. Crop k is of image images[k], which is one of x, and of the box boxes[4k..]: y1, x1, y2, x2, all finite,
/// in parts of in_h - 1 and in_w - 1; its samples lie where crop_position says.
struct crop_geometry {
  std::int64_t batch, in_h, in_w, channels, crops, out_h, out_w;
  const double* boxes;
  const std::int64_t* images;
  double outside;                 ///< value of a sample outside of the image; 0 where a slope is taken
  bool nearest;                   ///< the pixel next to the position, a half upwards, in place of a mean of four
  bool slope_down, slope_across;  ///< not the value along this side but the next pixel's less this one's
};

/// Position of sample i of `samples` on a side of `pixels` pixels between the ends of a box.
inline double crop_position(double from, double to, std::int64_t pixels, std::int64_t samples, std::int64_t i) {
  const double last = static_cast<double>(pixels - 1);
  if (samples == 1) return 0.5 * (from + to) * last;
  if (i == samples - 1) return to * last;  // exactly: the end of a box at the last pixel is inside
  return from * last + static_cast<double>(i) * ((to - from) * last / static_cast<double>(samples - 1));
}

//   CropAndResize      in = {x, -, -}   out = {y}   outside of the image `outside`
//   CropAndResizeGrad  in = {dy, -, -}  out = {dx}  the adjoint: each element of dy given back in the shares in which
//   it
//                                                   was taken, added up in the order of the crops
// A slope at a whole position is that to the next pixel; at the last pixel, that from the one before. An image of one
// pixel has no slope, and nor has the nearest pixel.
#define KG_CROP_KERNELS(X) KG_FLOATS(X, CropAndResize) KG_FLOATS(X, CropAndResizeGrad)

KG_DECLARE_KERNELS(crop, KG_CROP_KERNELS)

}  // namespace kerngrad::kernels
