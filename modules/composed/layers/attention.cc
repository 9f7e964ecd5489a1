// SPDX-License-Identifier: Apache-2.0
// Attention of queries to keys.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_attention;

import :std;
import :core;
import :tensor;
import :engine;

export namespace kerngrad {

/// Options of scaled_dot_product_attention.
struct attention_options {
  /// A bool is true where a query sees a key, and a float is added to the score. It broadcasts to [..., length, keys].
  tensor mask = {};
  /// Query i sees the keys 0 to i only.
  bool causal = false;
  /// A factor of the scores, finite; 1 / sqrt(numbers of a query) unless given.
  std::optional<double> scale = {};
};

/// Values weighted by how well their keys match a query: softmax(query key^T scale + mask) value. The operands are
/// [..., length, numbers], [..., keys, numbers] and [..., keys, out], the result is [..., length, out]. Leading axes,
/// such as batch and heads, broadcast. A query that sees no key by a bool mask gives 0. Floats; half precision is
/// computed in float32 and rounded once. One op, whose memory is linear in length and keys; so is that of its gradient
/// in query, key and value. The gradient in a mask of floats, and second derivatives, take matrices of scores. Throws
/// for other ranks, sizes that differ and a mask that does not broadcast. Differentiable in all operands and in a mask
/// of floats. Source: Vaswani and others, "Attention is all you need", 2017; Dao and others, "FlashAttention", 2022.
tensor scaled_dot_product_attention(const tensor& query, const tensor& key, const tensor& value,
                                    const attention_options& options = {});

}  // namespace kerngrad
