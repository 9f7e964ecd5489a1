// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels around log(sum(exp(x))); derived from softmax.inc. Their geometry is reduce_geometry.
//
// Softmax, LogSoftmax: x and y are [outer, count, inner], the classes are the middle axis; y may be x.
// LogSumExp:           y is [outer, inner].
// SoftmaxCrossEntropy: in = {logits, labels}, both [outer, count]; y[outer] = -sum(labels * LogSoftmax(logits)).
//                      inner must be 1.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/reduce/reduce.h"

namespace kerngrad::kernels {

#define KG_SOFTMAX(Name, types) types(KG_DECLARE_KERNEL, Name)
#include "kernels/softmax/softmax.inc"
#undef KG_SOFTMAX

/// Every kernel of softmax.inc with its dtypes.
inline constexpr entry softmax_simd[] = {
#define KG_SOFTMAX(Name, types) types(KG_ENTRY_SOFTMAX, Name)
#define KG_ENTRY_SOFTMAX(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/softmax/softmax.inc"
};
#undef KG_SOFTMAX
#undef KG_ENTRY_SOFTMAX

}  // namespace kerngrad::kernels
