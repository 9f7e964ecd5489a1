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

/// The parts of `moments`: the mean and the variance, in the same shape.
struct moments_parts {
  tensor mean, variance;
};
/// Mean and variance over axes, all by default. The variance is the mean of the squared distances from the mean. For
/// complex numbers a distance is a magnitude, so the variance is real. Dtypes are those of `mean`; half precision is
/// computed in float32 and rounded once. NaN without elements. Differentiable. Homogeneous: mean of degree 1, variance
/// of degree 2.
moments_parts moments(const tensor& x, const axes& over = all_axes, bool keep_dims = false);
/// The variance over axes, all by default: the sum of squared distances from the mean, divided by the number of
/// elements minus `ddof`. A `ddof` of 0 gives the variance of the elements, 1 an estimate from a sample. NaN or
/// infinity if the divisor is 0 or less. Dtypes are those of `moments`. The error is a few units in the last place,
/// even if the mean is many deviations from 0. Differentiable. Homogeneous of degree 2.
tensor variance(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0);
/// The square root of `variance`, over axes, all by default. It is accurate even if the variance itself overflows or
/// underflows. Dtypes are those of `variance`. Differentiable; the gradient at 0 is 0. Homogeneous of degree 1.
tensor standard_deviation(const tensor& x, const axes& over = all_axes, bool keep_dims = false, std::int64_t ddof = 0);

/// Options of moving_average. `step` is the number of the update, from 1. `zero_debias` needs it; otherwise it is not
/// used.
struct moving_average_options {
  std::optional<double> step{};
  bool zero_debias = true;
};
/// The next value of a moving average: v + (x - v) * (1 - decay). With `zero_debias` the change is divided by 1 -
/// decay^step, which removes the bias of an average that began with zeros. v and x have one shape and one floating
/// dtype. Throws for a decay outside of [0, 1]. With `zero_debias` it throws for a decay of 1 and without a step.
/// Differentiable in v and x.
tensor moving_average(const tensor& v, const tensor& x, double decay, const moving_average_options& options = {});

/// True if the prediction of the target is among the k largest of its row: bool of the targets' shape. Rows are the
/// last axis of `predictions` [..., n]; targets [...], int32 or int64, are indices in them. Only larger predictions
/// count against a target, equal ones do not. False if the target's prediction is NaN. Throws for k outside of 1 to the
/// row's length and for targets out of range. No gradient.
tensor in_top_k(const tensor& predictions, const tensor& targets, std::int64_t k = 1);

/// The number of elements that are not 0, over axes, all by default: int32. NaN is not 0. Any dtype but text. Throws
/// for more than 2^31 - 1 elements. No gradient.
tensor count_nonzero(const tensor& x, const axes& over = all_axes, bool keep_dims = false);

}  // namespace kerngrad
