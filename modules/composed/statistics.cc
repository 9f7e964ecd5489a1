// SPDX-License-Identifier: Apache-2.0
// Statistics of elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_statistics;

import :std;
import :core;
import :tensor;
import :axes;

export namespace kerngrad {

/// The parts of `moments`.
struct moments_parts {
  tensor mean, variance;
};
/// Mean and variance over axes; all by default. The variance is that of the elements themselves: the mean of the
/// squared distances from the mean; of complex numbers the distance is a magnitude, so that the variance is real.
/// Integers give what `mean` gives; half precision is computed in float32 and rounded once. NaN for no elements.
/// Differentiable. Homogeneous: mean of degree 1, variance of degree 2.
moments_parts moments(const tensor& x, const axes& over = all_axes, bool keep_dims = false);
/// The squared distances from the mean, added up over axes and divided by their number less `ddof`: 0 for the variance
/// of the elements, 1 for an estimate from a sample. NaN or infinity where the divisor is 0 or less. Dtypes are those
/// of `moments`. The error is a few units in the last place, also where the mean is many deviations from 0.
/// Differentiable. Homogeneous of degree 2.
tensor variance(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0);
/// The square root of `variance`, also where the variance leaves the range of the dtype. Its gradient at 0 is 0.
/// Homogeneous of degree 1.
tensor standard_deviation(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0);

/// Options of moving_average. `step` counts the updates from 1; it is needed unless `zero_debias` is off.
struct moving_average_options {
  std::optional<double> step{};
  bool zero_debias = true;
};
/// The next value of a moving average: v + (x - v) * (1 - decay), where the change is divided by 1 - decay^step, so
/// that an average that began with zeros is not drawn to them. v and x have one shape and one floating dtype; decay is
/// a number from 0 to 1, below 1 with `zero_debias`.
tensor moving_average(const tensor& v, const tensor& x, double decay, const moving_average_options& options = {});

/// True if fewer than k predictions of a row are above that of its target: bool of the targets' shape. The rows are the
/// last axis of `predictions`, the targets, int32 or int64, are places in them. Equal predictions do not push each
/// other out; false where the target's prediction is NaN. Throws for k outside of 1 to the row's length and for targets
/// outside of it. No gradient.
tensor in_top_k(const tensor& predictions, const tensor& targets, std::int64_t k = 1);

/// How many elements are not 0, over axes; all by default. int32: throws for more than 2^31 - 1 elements. NaN is not 0.
/// Any dtype but text. No gradient.
tensor count_nonzero(const tensor& x, const axes& over = all_axes, bool keep_dims = false);

}  // namespace kerngrad
