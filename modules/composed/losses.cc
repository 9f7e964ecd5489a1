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

/// Reduction of the losses after each is multiplied by its weight.
enum class loss_reduction : std::uint8_t {
  none,                    ///< they are the result
  mean,                    ///< their sum over the sum of the weights
  sum,                     ///< their sum
  sum_by_nonzero_weights,  ///< their sum over the number of weights that are not 0; NaN where there is none
};
/// Options of every loss. `weights` broadcast to the losses; by default each is 1. Losses are real. Integers give
/// float32, half precision is computed in float32. Labels and predictions have one shape, or the loss throws. Losses
/// are differentiable in labels, predictions and weights.
struct loss_options {
  tensor weights{};
  loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
};
// The functions below throw for operands of different shapes and for weights that do not broadcast to the losses, take
// every real dtype, integers as float32, and are differentiable in labels, predictions and weights, by the rules of the
// ops that they name. Halves are computed in float32, and each result is rounded once.

/// Reduces losses that you computed yourself, after multiplying them by the weights.
tensor compute_weighted_loss(const tensor& losses, const loss_options& options = {});
/// abs(labels - predictions). Homogeneous of degree 1.
tensor absolute_difference(const tensor& labels, const tensor& predictions, const loss_options& options = {});
/// (labels - predictions)^2. Homogeneous of degree 2.
tensor mean_squared_error(const tensor& labels, const tensor& predictions, const loss_options& options = {});
/// 1 - sum(labels * predictions) along an axis, which stays with size 1. Give vectors of length 1: they are not
/// normalized.
tensor cosine_distance(const tensor& labels, const tensor& predictions, axis_index axis,
                       const loss_options& options = {});
/// max(1 - y * predictions, 0), where labels 0 and 1 stand for y = -1 and 1.
tensor hinge_loss(const tensor& labels, const tensor& predictions, const loss_options& options = {});

/// Options of huber_loss. `delta`, above 0, is the error from which the loss is linear.
struct huber_loss_options {
  tensor weights{};
  double delta = 1;
  loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
};
/// e^2 / 2 for errors e = abs(labels - predictions) up to `delta`, and delta * e - delta^2 / 2 above (Huber 1964).
tensor huber_loss(const tensor& labels, const tensor& predictions, const huber_loss_options& options = {});

/// Options of log_loss. `epsilon` keeps the logarithms finite.
struct log_loss_options {
  tensor weights{};
  double epsilon = 1e-7;
  loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
};
/// -labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon), for probabilities as
/// predictions.
tensor log_loss(const tensor& labels, const tensor& predictions, const log_loss_options& options = {});

/// Options of the cross entropies. `label_smoothing`, 0 to 1, is the share of each label that is spread evenly over all
/// classes.
struct cross_entropy_options {
  tensor weights{};
  double label_smoothing = 0;
  loss_reduction reduction = loss_reduction::sum_by_nonzero_weights;
};
/// -labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)), without overflow, for classes that do not
/// exclude each other. Infinite logits give 0 if they are right, else infinity. Smoothing moves labels towards 1/2.
tensor sigmoid_cross_entropy(const tensor& labels, const tensor& logits, const cross_entropy_options& options = {});
/// The loss of each row, -sum(labels * log_softmax(logits)) along the last axis, weighted and reduced. Without a
/// reduction it is `softmax_cross_entropy`. Labels are class probabilities in the shape of the logits, or class indices
/// without the last axis: [n] for logits [n, classes]. Smoothing moves labels towards 1 / classes. Weights belong to
/// rows; 0 omits a row. With class indices only the logits are differentiable, and an index out of range throws.
tensor softmax_cross_entropy_loss(const tensor& labels, const tensor& logits,
                                  const cross_entropy_options& options = {});

}  // namespace kerngrad
