// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that resize images, and of their adjoints.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Images x [batch, in_h, in_w, channels] and y [batch, out_h, out_w, channels]. No size is 0, heights and widths are
/// at most 2^30. Along an axis of `in` pixels of x and `out` pixels of y, pixel i of y lies at this position of x:
///   i * (in - 1) / (out - 1)      with align_corners and out > 1
///   (i + 1/2) * in / out - 1/2    with half_pixel_centers, never together with align_corners
///   i * in / out                  else
/// Fractions are exact: no position depends on how a quotient is rounded.
struct resize_geometry {
  std::int64_t batch, in_h, in_w, channels, out_h, out_w;
  bool align_corners, half_pixel_centers;
};

//   ResizeBilinear             in = {x}      out = {y}   interpolated between the four pixels around the position,
//   first
//                                                        between rows; positions outside of x are moved to its edge
//   ResizeNearestNeighbor      in = {x}      out = {y}   the pixel at the position: with align_corners rounded to the
//                                                        next whole number, a half upwards; with half_pixel_centers the
//                                                        one that (i + 1/2) * in / out lies in; else rounded down
//   ResizeBilinearGrad         in = {dy, x}  out = {dx}  the adjoints: each element of dy given back in the shares in
//   ResizeNearestNeighborGrad  in = {dy, x}  out = {dx}  which it was taken. x is not read
#define KG_RESIZE_KERNELS(X)   \
  KG_FLOATS(X, ResizeBilinear) \
  KG_SIZES(X, ResizeNearestNeighbor) KG_FLOATS(X, ResizeBilinearGrad) KG_FLOATS(X, ResizeNearestNeighborGrad)
#define KG_RESIZE_OPS(X)                                    \
  KG_FLOATS(X, (ResizeBilinear, ResizeBilinear))            \
  KG_ALL(X, (ResizeNearestNeighbor, ResizeNearestNeighbor)) \
  KG_FLOATS(X, (ResizeBilinearGrad, ResizeBilinearGrad))    \
  KG_FLOATS(X, (ResizeNearestNeighborGrad, ResizeNearestNeighborGrad))

KG_DECLARE_SHARED_KERNELS(resize, KG_RESIZE_KERNELS, KG_RESIZE_OPS)

}  // namespace kerngrad::kernels
