// SPDX-License-Identifier: Apache-2.0
// Rows of attention and its gradient, which share a launcher.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_attention;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :rows;
import :shapes_attention;

namespace kerngrad::launch {
void attention(const launch_call&);
}

namespace kerngrad::rows {

inline constexpr operand bias_of_scores{.name = "bias", .types = floating, .optional = true};
inline constexpr operand keys_seen{.name = "seen", .types = boolean_only, .part = role::own, .optional = true};
inline constexpr operand attended[] = {
    {"query", floating}, {"key", floating}, {"value", floating}, bias_of_scores, keys_seen};
inline constexpr operand attended_back[] = {
    {"query", floating}, {"key", floating}, {"value", floating}, {"logSum", floating},
    {"delta", floating}, {"dy", floating},  bias_of_scores,      keys_seen};
inline constexpr result_spec attention_results[] = {
    {"y", "the weighted means of the values"},
    {"logSum", "the logarithm of each query's sum of exp(score), 0 if it sees no key", result::ruled}};

inline constexpr op_row attention_rows[] = {
    {.name = "ScaledDotProductAttention",
     .doc = "Means of values weighted by softmax(scale * query key^T + bias) over the keys that are seen, without a "
            "matrix of scores. A query that sees no key gives 0. Half precision is computed in float32.",
     .group = family::attention,
     .operands = attended,
     .attrs = attributes::attention,
     .infer = shapes::attention,
     .launch = launch::attention,
     .cost = 256,
     .results = attention_results},
    {.name = "ScaledDotProductAttentionGrad",
     .doc = "The gradients of query, key and value, one after another in one axis. delta is sum(dy * y) over the last "
            "axis, less the gradient of logSum. Computes the weights again. Its own gradient takes a matrix of scores.",
     .group = family::attention,
     .operands = attended_back,
     .attrs = attributes::attention,
     .infer = shapes::attention_grad,
     .launch = launch::attention,
     .forward = "ScaledDotProductAttention",
     .cost = 640},
};

}  // namespace kerngrad::rows
