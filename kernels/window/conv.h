// SPDX-License-Identifier: Apache-2.0
// Entry points of the two-dimensional convolution and its gradients.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/window/window.h"

namespace kerngrad::kernels {

// The geometry is a window_geometry; x is [batch, in_h, in_w, in_c], the filter w [filter_h, filter_w, in_c / groups,
// out_c], y [batch, out_h, out_w, out_c]. Operands:
//   Conv2D                in = {x, w}    out = {y}
//   Conv2DBackpropInput   in = {dy, w}   out = {dx}
//   Conv2DBackpropFilter  in = {x, dy}   out = {dw}
#define KG_CONV_KERNELS(X) KG_FLOATS(X, Conv2D) KG_FLOATS(X, Conv2DBackpropInput) KG_FLOATS(X, Conv2DBackpropFilter)

KG_DECLARE_KERNELS(conv, KG_CONV_KERNELS)

}  // namespace kerngrad::kernels
