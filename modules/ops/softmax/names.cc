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

/// exp(x) over its sum along an axis; the last by default.
inline tensor softmax(const tensor& logits, axis_index axis = -1) {
  return call<"Softmax">(logits, attr<"dim">(axis.value()));
}
/// The logarithm of softmax, without its underflow.
inline tensor log_softmax(const tensor& logits, axis_index axis = -1) {
  return call<"LogSoftmax">(logits, attr<"axis">(axis.value()));
}
/// log(sum(exp(x))) along an axis, which goes; without overflow.
inline tensor logsumexp(const tensor& logits, axis_index axis = -1) {
  return call<"LogSumExp">(logits, attr<"axis">(axis.value()));
}
/// The loss of each row: -sum(labels * log_softmax(logits)); take its mean to train.
inline tensor softmax_cross_entropy(const tensor& logits, const tensor& labels) {
  return call<"SoftmaxCrossEntropy">(logits, labels);
}

}  // namespace kerngrad
