// SPDX-License-Identifier: Apache-2.0
// Sums of elements at indices with weights: what all interpolations are made of. Internal.
module;
#include "kernels/common/abi.h"
module kerngrad:composed_interpolation;

import :std;
import :core;
import :tensor;

namespace kerngrad::detail {

/// y[b, p, c] = sum over k of weights[b, k, p] x[b, indices[b, k, p], c]: x [batch, elements, channels], indices
/// (int32) and weights [batch or 1, taps, points], y [batch, points, channels]. Elements of a negative index are zeros;
/// indices from `elements` on are an error of the caller. float32 and float64. Differentiable in x and weights to any
/// order.
tensor weighted_gather(const tensor& x, const tensor& indices, const tensor& weights);

/// x with `taps` elements for each of `points` places along an axis: indices and weights [points, taps] by the index of
/// the place, in double precision.
struct axis_taps {
  std::int64_t points, taps;
  std::vector<std::int32_t> indices;
  std::vector<double> weights;
};
tensor interpolated_axis(const tensor& x, int axis, const axis_taps& at);

}  // namespace kerngrad::detail
