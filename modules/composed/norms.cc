// SPDX-License-Identifier: Apache-2.0
// Normalizations that are made of other ops.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_norms;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

// Operands have a floating dtype. Half precision is computed in float32 and rounded once. Everything is differentiable.
// Each epsilon, 0 or more, is added to the operand of a root. Squares stay in range, whatever the size of the numbers.
// `scale` and `offset` have a value for each channel, the last axis; without them nothing is multiplied or added.

/// Options of rms_norm. `scale` has a value for each element of the last axis; without it nothing is multiplied.
/// `epsilon` is 0 or more.
struct rms_norm_options {
  tensor scale{};
  double epsilon = 1e-6;
};
/// x / sqrt(mean(x^2) + epsilon) * scale, with the mean along the last axis (Zhang and Sennrich 2019). Floats; rank 1
/// or more. Throws for a scale of another shape and for an epsilon below 0. Differentiable in x and scale. Homogeneous
/// of degree 0 in x if epsilon is 0.
tensor rms_norm(const tensor& x, const rms_norm_options& options = {});

/// Options of group_norm, instance_norm and batch_norm_training. `scale` and `offset` have a value for each channel,
/// the last axis; by default they are 1 and 0. `epsilon`, 0 or more, is added to the variance.
struct moment_norm_options {
  tensor scale{};
  tensor offset{};
  double epsilon = 1e-3;
};
/// Normalizes groups of channels: (x - mean) / sqrt(variance + epsilon) * scale + offset (Wu and He 2018). Mean and
/// variance are those of each sample of x [batch, ..., channels] and each of `groups` equal groups of channels. The
/// variance divides by the number of elements. Floats. Throws if the groups do not divide the channels. Differentiable
/// in x, scale and offset. Homogeneous of degree 0 in x if epsilon is 0 and there is no offset.
tensor group_norm(const tensor& x, std::int64_t groups, const moment_norm_options& options = {});
/// Normalizes each channel of each sample of x [batch, ..., channels]: `group_norm` with one group per channel
/// (Ulyanov, Vedaldi and Lempitsky 2016). Throws below rank 3. The rest is as for `group_norm`. Homogeneous of degree 0
/// in x if epsilon is 0 and there is no offset.
tensor instance_norm(const tensor& x, const moment_norm_options& options = {});

/// The result of batch_norm_training, and mean and variance of the batch. Average the moments over batches to get those
/// for `batch_norm`.
struct batch_norm_parts {
  tensor result, mean, variance;
};
/// Normalizes each channel, the last axis, over all other axes: (x - mean) / sqrt(variance + epsilon) * scale + offset
/// (Ioffe and Szegedy 2015). Floats; rank 2 or more. Throws for options of other shapes. Differentiable in x, scale and
/// offset, also through mean and variance. Homogeneous in x if epsilon is 0 and there is no offset: result of degree 0,
/// mean of degree 1, variance of degree 2.
batch_norm_parts batch_norm_training(const tensor& x, const moment_norm_options& options = {});

}  // namespace kerngrad
