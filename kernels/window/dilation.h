// SPDX-License-Identifier: Apache-2.0
// Entry points of two-dimensional greyscale dilation and its gradients.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/window/window.h"

namespace kerngrad::kernels {

// The geometry is a window_geometry with out_c = in_c; the filter w is [filter_h, filter_w, in_c], one element for each
// tap and channel. A tap is met where its pixel lies inside the image. Operands and rules:
//   Dilation2D                in = {x, w}          out = {y}   the largest x + w of the taps that are met and not NaN;
//                                                              -infinity (int32: the lowest value) when there is none;
//                                                              sums of int32 wrap
//   Dilation2DBackpropInput   in = {x, w, dy}      out = {dx}  dy goes to the pixel under the first tap, row by row,
//                                                              that gives the maximum; nowhere when there is none
//   Dilation2DBackpropFilter  in = {x, w, dy}      out = {dw}  dy goes to that tap
//   Dilation2DGatherInput     in = {source, x, w}  out = {z}   the element of `source`, shaped like x, at that pixel;
//                                                              0 when there is none
//   Dilation2DGatherFilter    in = {source, x, w}  out = {z}   the element of `source`, shaped like w, at that tap
#define KG_DILATION_KERNELS(X)          \
  KG_FLOATS(X, Dilation2D)              \
  X(Dilation2D, int32)                  \
  KG_FLOATS(X, Dilation2DBackpropInput) \
  KG_FLOATS(X, Dilation2DBackpropFilter) KG_FLOATS(X, Dilation2DGatherInput) KG_FLOATS(X, Dilation2DGatherFilter)

KG_DECLARE_KERNELS(dilation, KG_DILATION_KERNELS)

}  // namespace kerngrad::kernels
