// SPDX-License-Identifier: Apache-2.0
// Entry points of two-dimensional pooling and its gradients.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/window/window.h"

namespace kerngrad::kernels {

/// How MaxPoolWithArgmax numbers the elements of x: from `first` on through all images, or from 0 on in each.
struct argmax_geometry {
  window_geometry window;
  std::int64_t first;
  bool each_image;
};

// The geometry is a window_geometry with out_c = in_c, within an argmax_geometry for MaxPoolWithArgmax. "Inside" means
// inside the image. Operands and rules:
//   MaxPool        in = {x}          out = {y}   the largest element inside that is not NaN; -infinity (int32: the
//                                                lowest value) when there is none; of two zeros the first one met
//   MaxPoolWithArgmax  in = {x}      out = {y, positions}  the same, and as int32 the number of the first element that
//                                                equals the maximum; -1 when all are NaN or none is inside
//   MaxPoolGrad    in = {dy, x, y}   out = {dx}  dy goes to the first element, row by row, that equals the maximum;
//                                                nowhere when all are NaN or none is inside. y is not read
//   MaxPoolGather  in = {source, x}  out = {z}   the element of `source` (shaped like x) at that position; 0 if none
//   AvgPool        in = {x}          out = {y}   sum / number of elements inside; NaN when there is none
//   AvgPoolGrad    in = {dy, x}      out = {dx}  dy / that number to every element inside. x is not read
#define KG_POOL_KERNELS(X)        \
  KG_FLOATS(X, MaxPool)           \
  X(MaxPool, int32)               \
  KG_FLOATS(X, MaxPoolWithArgmax) \
  X(MaxPoolWithArgmax, int32)     \
  KG_FLOATS(X, MaxPoolGrad) KG_FLOATS(X, MaxPoolGather) KG_FLOATS(X, AvgPool) KG_FLOATS(X, AvgPoolGrad)

KG_DECLARE_KERNELS(pool, KG_POOL_KERNELS)

}  // namespace kerngrad::kernels
