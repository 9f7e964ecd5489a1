// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels around log(sum(exp(x))) along one axis. Their geometry is reduce_geometry.
//
// Softmax, LogSoftmax: x and y are [outer, count, inner], the classes are the middle axis; y may be x.
// LogSumExp:           y is [outer, inner].
// SoftmaxCrossEntropy: in = {logits, labels}, both [outer, count]; y[outer] = -sum(labels * LogSoftmax(logits)).
//                      inner must be 1.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/reduce/reduce.h"

namespace kerngrad::kernels {

#define KG_SOFTMAX_KERNELS(X) \
  KG_FLOATS(X, Softmax) KG_FLOATS(X, LogSoftmax) KG_FLOATS(X, LogSumExp) KG_FLOATS(X, SoftmaxCrossEntropy)

KG_DECLARE_KERNELS(softmax, KG_SOFTMAX_KERNELS)

}  // namespace kerngrad::kernels
