// SPDX-License-Identifier: Apache-2.0
// Entry points of three-dimensional pooling and its gradients.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/volume/volume.h"

namespace kerngrad::kernels {

// The geometry is a volume_geometry with out_c = in_c. "Inside" means inside the volume. Operands and rules, which
// but for the mean of nothing are those of kernels/window/pool.h:
//   MaxPool3D        in = {x}          out = {y}   the largest element inside that is not NaN; -infinity (int32: the
//                                                  lowest value) when there is none; of two zeros the first one met
//   MaxPool3DGrad    in = {dy, x, y}   out = {dx}  dy goes to the first element, slice by slice and row by row, that
//                                                  equals the maximum; nowhere when there is none. y is not read
//   MaxPool3DGather  in = {source, x}  out = {z}   the element of `source` (shaped like x) at that position; 0 if none
//   AvgPool3D        in = {x}          out = {y}   sum / number of elements inside; 0 when there is none
//   AvgPool3DGrad    in = {dy, x}      out = {dx}  dy / that number to every element inside. x is not read
#define KG_POOL3D_KERNELS(X) \
  KG_FLOATS(X, MaxPool3D)    \
  X(MaxPool3D, int32)        \
  KG_FLOATS(X, MaxPool3DGrad) KG_FLOATS(X, MaxPool3DGather) KG_FLOATS(X, AvgPool3D) KG_FLOATS(X, AvgPool3DGrad)

KG_DECLARE_KERNELS(pool3d, KG_POOL3D_KERNELS)

}  // namespace kerngrad::kernels
