// SPDX-License-Identifier: Apache-2.0
// Typed names of the normalizations, and their options.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_norm;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

export namespace kerngrad {

/// Options of batch_norm. `offset` and `scale` have the shape of the mean; by default they are 0 and 1. `epsilon`, 0 or
/// more, is added to the variance.
struct batch_norm_options {
  tensor offset{};
  tensor scale{};
  double epsilon = 1e-3;
};
/// Normalizes x by given moments, such as those of the training data: (x - mean) / sqrt(variance + epsilon) * scale +
/// offset. Mean, variance, scale and offset have one shape that broadcasts to x; often it is one value per channel, the
/// last axis. Throws for other shapes. Floating dtypes only. Differentiable in all operands; the moments count as
/// independent of x.
inline tensor batch_norm(const tensor& x, const tensor& mean, const tensor& variance,
                         const batch_norm_options& options = {}) {
  return call<"FusedBatchNorm">(x, mean, variance, options.offset, options.scale,
                                attr<"varianceEpsilon">(options.epsilon));
}

/// Options of layer_norm. `scale` and `offset` have a value for each element of the last axis; by default they are 1
/// and 0. `epsilon`, 0 or more, is added to the variance.
struct layer_norm_options {
  tensor scale{};
  tensor offset{};
  double epsilon = 1e-3;
};
/// Normalizes x along its last axis, in one op: (x - mean) / sqrt(variance + epsilon) * scale + offset (Ba, Kiros and
/// Hinton 2016). The variance divides by the number of elements. It is computed from distances to the mean, so a large
/// mean loses no digits. x has rank 1 or more, a floating dtype and numbers of any size. Differentiable in all
/// operands. Homogeneous of degree 0 in x if epsilon is 0 and there is no offset.
inline tensor layer_norm(const tensor& x, const layer_norm_options& options = {}) {
  return call<"LayerNorm">(x, options.scale, options.offset, attr<"epsilon">(options.epsilon));
}

/// Options of local_response_normalization, with the names of its formula. `depth_radius` is a number of channels, 0 or
/// more.
struct local_response_options {
  int depth_radius = 5;
  double bias = 1;
  double alpha = 1;
  double beta = 0.5;
};
/// Divides each pixel by (bias + alpha * s)^beta, where s is a sum of squares (Krizhevsky, Sutskever and Hinton 2012,
/// section 3.3). The sum is over the channels of the pixel up to `depth_radius` away on either side. x is [height,
/// width, channels] or [batch, height, width, channels], of a floating dtype, with numbers of any size. Throws for
/// other ranks. Differentiable. Homogeneous of degree 0 in x if bias is 0 and beta is 0.5.
inline tensor local_response_normalization(const tensor& x, const local_response_options& options = {}) {
  return call<"LRN">(x, attr<"depthRadius">(options.depth_radius), attr<"bias">(options.bias),
                     attr<"alpha">(options.alpha), attr<"beta">(options.beta));
}

}  // namespace kerngrad
