// SPDX-License-Identifier: Apache-2.0
// Typed names of the softmax family. Defaults and meanings are those of their rows (docs/ops.md).
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_softmax;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :axes;

export namespace kerngrad {

/// exp(x) divided by its sum along an axis; the last by default. The largest element is subtracted first, so nothing
/// overflows. Integers and bool give float32. Throws for complex numbers and for an axis that x does not have.
/// Differentiable.
inline tensor softmax(const tensor& logits, axis_index axis = -1) {
  return call<"Softmax">(logits, attr<"dim">(axis.value()));
}
/// The logarithm of `softmax`, which stays finite even if the softmax itself would be rounded to 0. Dtypes and errors
/// are those of `softmax`. Differentiable.
inline tensor log_softmax(const tensor& logits, axis_index axis = -1) {
  return call<"LogSoftmax">(logits, attr<"axis">(axis.value()));
}
/// log(sum(exp(x))) along an axis, without overflow. The result lacks the axis, by default the last one. Dtypes and
/// errors are those of `softmax`. Differentiable.
inline tensor logsumexp(const tensor& logits, axis_index axis = -1) {
  return call<"LogSumExp">(logits, attr<"axis">(axis.value()));
}
/// The loss of each row, -sum(labels * log_softmax(logits)) along the last axis, which the result lacks. Take its mean
/// to train. Labels are class probabilities in the shape of the logits. Throws for other shapes and for a scalar. For
/// class indices use `softmax_cross_entropy_loss`. Differentiable in both operands.
inline tensor softmax_cross_entropy(const tensor& logits, const tensor& labels) {
  return call<"SoftmaxCrossEntropy">(logits, labels);
}

}  // namespace kerngrad
