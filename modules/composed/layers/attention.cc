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

/// Options of scaled_dot_product_attention: the mask and the scale of the scores, and causal attention.
struct attention_options {
  /// A bool mask is true where a query sees a key. A float mask is added to the score. Either broadcasts to [...,
  /// length, keys].
  tensor mask = {};
  /// If true, query i only sees the keys 0 to i.
  bool causal = false;
  /// Factor of the scores, at most the largest float32 unless the result is float64. By default 1 / sqrt(features),
  /// where features is the last size of query.
  std::optional<double> scale = {};
};

/// Attention: softmax(query key^T scale + mask) value. The operands are [..., length, features], [..., keys, features]
/// and [..., keys, out]; the result is [..., length, out]. Leading axes, such as batch and heads, broadcast. A query
/// that sees no key because of a bool mask gives 0. Floats; half precision is computed in float32 and rounded once.
/// Throws for ranks below 2, for sizes that differ and for a mask that does not broadcast. It is one op, whose memory
/// is linear in length and keys. The gradient in query, key and value also takes linear memory. The gradient in a float
/// mask, and second derivatives, need matrices of scores. Differentiable in all operands and in a float mask. Sources:
/// Vaswani and others, "Attention is all you need", 2017; Dao and others, "FlashAttention", 2022.
tensor scaled_dot_product_attention(const tensor& query, const tensor& key, const tensor& value,
                                    const attention_options& options = {});

}  // namespace kerngrad
