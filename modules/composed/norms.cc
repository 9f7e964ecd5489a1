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

/// Options of rms_norm.
struct rms_norm_options {
  tensor scale{};
  double epsilon = 1e-6;
};
/// x / sqrt(mean(x^2) + epsilon) * scale along the last axis (Zhang and Sennrich 2019). Floats; rank 1 or more.
/// Differentiable in x and scale. Homogeneous of degree 0 in x if epsilon is 0.
tensor rms_norm(const tensor& x, const rms_norm_options& options = {});

/// Options of group_norm, instance_norm and batch_norm_training.
struct moment_norm_options {
  tensor scale{};
  tensor offset{};
  double epsilon = 1e-3;
};
/// (x - mean) / sqrt(variance + epsilon) * scale + offset (Wu and He 2018). Mean and variance are those of each sample
/// of x [batch, ..., channels] and each of `groups` equal groups of channels. The variance divides by the number of
/// elements. Floats. Throws if the groups do not divide the channels. Differentiable in x, scale and offset.
/// Homogeneous of degree 0 in x if epsilon is 0 and there is no offset.
tensor group_norm(const tensor& x, std::int64_t groups, const moment_norm_options& options = {});
/// group_norm with one group per channel (Ulyanov, Vedaldi and Lempitsky 2016). Rank 3 or more. Homogeneous of degree 0
/// in x if epsilon is 0 and there is no offset.
tensor instance_norm(const tensor& x, const moment_norm_options& options = {});

/// The result of batch_norm_training, and the moments of the batch. Average them over batches to get those for
/// `batch_norm`.
struct batch_norm_parts {
  tensor result, mean, variance;
};
/// (x - mean) / sqrt(variance + epsilon) * scale + offset, with mean and variance of each channel, the last axis, over
/// all other axes (Ioffe and Szegedy 2015). Gradients flow through both. Floats; rank 2 or more. Homogeneous in x if
/// epsilon is 0 and there is no offset: result of degree 0, mean of degree 1, variance of degree 2.
batch_norm_parts batch_norm_training(const tensor& x, const moment_norm_options& options = {});

}  // namespace kerngrad
