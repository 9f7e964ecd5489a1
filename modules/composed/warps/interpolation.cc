// SPDX-License-Identifier: Apache-2.0
// Sums of elements at indices with weights: what all interpolations are made of. Internal.
module;
#include "kernels/common/abi.h"
module kerngrad:composed_interpolation;

import :std;
import :core;
import :tensor;

namespace kerngrad::detail {

/// Weighted sums of elements: y[b, p, c] = sum over k of weights[b, k, p] x[b, indices[b, k, p], c]. x is [batch,
/// elements, channels], indices (int32) and weights are [batch or 1, taps, points], y is [batch, points, channels].
/// Elements of a negative index are zeros; indices from `elements` on are an error of the caller. float32 and float64.
/// Differentiable in x and weights to any order.
tensor weighted_gather(const tensor& x, const tensor& indices, const tensor& weights);

/// An index into an axis and its weight. A negative index stands for no element.
struct axis_tap {
  std::int64_t index;
  double weight;
};
/// Sums of weighted elements along an axis: `taps` elements for each of `points` results. tap_of(i, k) is tap k of
/// result i.
tensor interpolated_axis(const tensor& x, int axis, std::int64_t points, std::int64_t taps,
                         const std::function<axis_tap(std::int64_t i, std::int64_t k)>& tap_of);

}  // namespace kerngrad::detail
