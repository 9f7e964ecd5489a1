// SPDX-License-Identifier: Apache-2.0
// The sliding window shared by convolution, depthwise convolution and pooling: NHWC images, HWIO filters.
#pragma once
#include <algorithm>

#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// Output pixel (oy, ox) sees input row oy*stride_h - pad_top + ky*dilation_h for 0 <= ky < filter_h, columns alike.
/// Elements outside the image do not exist (pooling) or are zero (convolution); padding at the bottom and right
/// follows from the sizes, and windows partly or wholly outside are legal. The code that makes one ensures that no such
/// position overflows; how many elements there are to a window says nothing about how many lie inside.
struct window_geometry {
  std::int64_t batch, in_h, in_w, in_c, out_h, out_w, out_c;
  std::int64_t filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  /// Groups of a convolution: group i of the output's channels sees only group i of the input's. Divides both numbers.
  std::int64_t groups = 1;

  std::int64_t group_in() const { return in_c / groups; }
  std::int64_t group_out() const { return out_c / groups; }
};

/// One axis of a window that starts at `start`, cut to the image: filter positions [low, high) are inside.
struct clipped_axis {
  std::int64_t low, high;
  clipped_axis(std::int64_t start, std::int64_t filter, std::int64_t dilation, std::int64_t size)
      : low(start < 0 ? (-start + dilation - 1) / dilation : 0),
        high(start < size ? std::min(filter, (size - start + dilation - 1) / dilation) : 0) {
    high = std::max(low, high);
  }
  std::int64_t count() const { return high - low; }
};

}  // namespace kerngrad::kernels
