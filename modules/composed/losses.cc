// SPDX-License-Identifier: Apache-2.0
// Losses with weights and reductions.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_losses;

import :std;
import :core;
import :tensor;
import :axes;

export namespace kerngrad {

/// The reduction of losses, after each is multiplied by its weight.
enum class loss_reduction : std::uint8_t {
  none,                    ///< no reduction: the result has the shape of the losses
  mean,                    ///< the sum of the losses, divided by the sum of the weights
  sum,                     ///< the sum of the losses
  sum_by_nonzero_weights,  ///< the sum divided by the number of weights that are not 0; NaN if all are 0
};
/// Options of every loss. `weights` broadcast to the losses, or the loss throws; by default each is 1. Losses are
/// reduced to a scalar unless the reduction is `none`. Operands are real. Integers give float32; half precision is
/// computed in float32. Labels and predictions have one shape, or the loss throws. Losses are differentiable in labels,
/// predictions and weights.
struct loss_options {
  tensor weights{};
  loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
};
// The functions below throw for operands of different shapes and for weights that do not broadcast to the losses, take
// every real dtype, integers as float32, and are differentiable in labels, predictions and weights, by the rules of the
// ops that they name. Halves are computed in float32, and each result is rounded once.

/// Weights and reduces losses that you computed yourself. Real dtypes; integers give float32. Throws for weights that
/// do not broadcast to the losses. Differentiable.
tensor compute_weighted_loss(const tensor& losses, const loss_options& options = {});
/// The loss abs(labels - predictions). `loss_options` explains operands, reduction and gradient. Homogeneous of degree
/// 1.
tensor absolute_difference(const tensor& labels, const tensor& predictions, const loss_options& options = {});
/// The loss (labels - predictions)^2. `loss_options` explains operands, reduction and gradient. Homogeneous of degree
/// 2.
tensor mean_squared_error(const tensor& labels, const tensor& predictions, const loss_options& options = {});
/// The loss 1 - sum(labels * predictions) along an axis, which stays with size 1. Vectors are not normalized: give
/// vectors of length 1. `loss_options` explains operands, reduction and gradient.
tensor cosine_distance(const tensor& labels, const tensor& predictions, axis_index axis,
                       const loss_options& options = {});
/// The loss max(1 - y * predictions, 0). Labels 0 and 1 stand for y = -1 and 1. `loss_options` explains operands,
/// reduction and gradient.
tensor hinge_loss(const tensor& labels, const tensor& predictions, const loss_options& options = {});

/// Options of huber_loss. `delta` is the error from which the loss is linear; it is above 0, or the loss throws. The
/// others are those of `loss_options`.
struct huber_loss_options {
  tensor weights{};
  double delta = 1;
  loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
};
/// The Huber loss: e^2 / 2 for errors e = abs(labels - predictions) up to `delta`, and delta * e - delta^2 / 2 above
/// (Huber 1964). `loss_options` explains operands, reduction and gradient.
tensor huber_loss(const tensor& labels, const tensor& predictions, const huber_loss_options& options = {});

/// Options of log_loss. `epsilon` keeps the logarithms finite. The others are those of `loss_options`.
struct log_loss_options {
  tensor weights{};
  double epsilon = 1e-7;
  loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
};
/// The loss -labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon), where predictions are
/// probabilities. `loss_options` explains operands, reduction and gradient.
tensor log_loss(const tensor& labels, const tensor& predictions, const log_loss_options& options = {});

/// Options of the cross entropies. `label_smoothing`, 0 to 1, is the share of each label that is spread evenly over all
/// classes. The others are those of `loss_options`.
struct cross_entropy_options {
  tensor weights{};
  double label_smoothing = 0;
  loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
};
/// The loss -labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)), without overflow, for classes
/// that do not exclude each other. `loss_options` explains operands, reduction and gradient. Infinite logits give 0 if
/// they are right, else infinity. Smoothing moves labels towards 1/2.
tensor sigmoid_cross_entropy(const tensor& labels, const tensor& logits, const cross_entropy_options& options = {});
/// The loss of each row, -sum(labels * log_softmax(logits)) along the last axis, weighted and reduced. Without a
/// reduction it is `softmax_cross_entropy`. Labels are class probabilities in the shape of the logits, or class indices
/// without the last axis: [n] for logits [n, classes]. Smoothing moves labels towards 1 / classes. There is one weight
/// for each row; 0 omits it. With class indices only the logits are differentiable, and an index out of range throws.
tensor softmax_cross_entropy_loss(const tensor& labels, const tensor& logits,
                                  const cross_entropy_options& options = {});

}  // namespace kerngrad
