// SPDX-License-Identifier: Apache-2.0
// Entry points of the depthwise convolution and its gradients.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/window/window.h"

namespace kerngrad::kernels {

// The geometry is a window_geometry with out_c = in_c * multiplier; the filter w is [filter_h, filter_w, in_c,
// multiplier] and output channel c * multiplier + q comes from input channel c. Operands:
//   DepthwiseConv2dNative                in = {x, w}    out = {y}
//   DepthwiseConv2dNativeBackpropInput   in = {dy, w}   out = {dx}
//   DepthwiseConv2dNativeBackpropFilter  in = {x, dy}   out = {dw}
#define KG_DEPTHWISE_KERNELS(X)       \
  KG_FLOATS(X, DepthwiseConv2dNative) \
  KG_FLOATS(X, DepthwiseConv2dNativeBackpropInput) KG_FLOATS(X, DepthwiseConv2dNativeBackpropFilter)

KG_DECLARE_KERNELS(depthwise, KG_DEPTHWISE_KERNELS)

}  // namespace kerngrad::kernels
