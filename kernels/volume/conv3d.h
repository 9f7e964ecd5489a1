// SPDX-License-Identifier: Apache-2.0
// Entry points of the three-dimensional convolution and its gradients.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/volume/volume.h"

namespace kerngrad::kernels {

// The geometry is a volume_geometry; x is [batch, depth.in, height.in, width.in, in_c], the filter w [depth.filter,
// height.filter, width.filter, in_c, out_c], y [batch, depth.out, height.out, width.out, out_c]. Operands:
//   Conv3D                  in = {x, w}    out = {y}
//   Conv3DBackpropInputV2   in = {dy, w}   out = {dx}
//   Conv3DBackpropFilterV2  in = {x, dy}   out = {dw}
#define KG_CONV3D_KERNELS(X) \
  KG_FLOATS(X, Conv3D) KG_FLOATS(X, Conv3DBackpropInputV2) KG_FLOATS(X, Conv3DBackpropFilterV2)

KG_DECLARE_KERNELS(conv3d, KG_CONV3D_KERNELS)

}  // namespace kerngrad::kernels
