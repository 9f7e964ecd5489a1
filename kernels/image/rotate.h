// SPDX-License-Identifier: Apache-2.0
// Entry points of rotated images, and of the adjoint.
#pragma once
#include <cmath>

#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Images x and results y [batch, height, width, channels]; no size is 0. Pixel (i, j) of y is that of x at the row
/// ((j - center_x) sine + (i - center_y) cosine) + center_y and the column ((j - center_x) cosine - (i - center_y)
/// sine)
/// + center_x, both computed in double precision in this order and rounded to the next whole number, a half upwards.
struct rotate_geometry {
  std::int64_t batch, height, width, channels;
  double sine, cosine, center_x, center_y;
  const void* fill;  ///< a pixel of the entry's dtype: what lies outside of the image
};

//   RotateWithOffset      in = {x}   out = {y}
//   RotateWithOffsetGrad  in = {dy}  out = {dx}  the adjoint without `fill`: each pixel of dy added where it was taken
//                                                from, in the order of the pixels
#define KG_ROTATE_KERNELS(X) KG_SIZES(X, RotateWithOffset) KG_FLOATS(X, RotateWithOffsetGrad)
#define KG_ROTATE_OPS(X)                          \
  KG_ALL(X, (RotateWithOffset, RotateWithOffset)) \
  KG_FLOATS(X, (RotateWithOffsetGrad, RotateWithOffsetGrad))

KG_DECLARE_SHARED_KERNELS(rotate, KG_ROTATE_KERNELS, KG_ROTATE_OPS)

}  // namespace kerngrad::kernels
