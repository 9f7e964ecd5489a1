// SPDX-License-Identifier: Apache-2.0
// The sliding window over volumes: NDHWC, filters DHWIO. A volume is a stack of slices, which are images.
#pragma once
#include "kernels/window/window.h"

namespace kerngrad::kernels {

/// One axis of a window: output o sees input o*stride - pad + k*dilation for 0 <= k < filter.
struct volume_axis {
  std::int64_t in, out, filter, stride, dilation, pad;
};

/// As window_geometry, with an axis more: elements outside the volume do not exist (pooling) or are zero (convolution),
/// windows partly or wholly outside are legal, and no such position overflows.
struct volume_geometry {
  std::int64_t batch, in_c, out_c;
  volume_axis depth, height, width;

  /// The elements of a slice of the operand and of the result, and the weights of a slice of a convolution's filter.
  std::int64_t in_slice() const { return height.in * width.in * in_c; }
  std::int64_t out_slice() const { return height.out * width.out * out_c; }
  std::int64_t filter_slice() const { return height.filter * width.filter * in_c * out_c; }
};

}  // namespace kerngrad::kernels
