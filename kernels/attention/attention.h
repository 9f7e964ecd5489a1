// SPDX-License-Identifier: Apache-2.0
// Entry points of scaled dot-product attention and its gradient.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Distances of an operand's elements: along the axes before its matrices, 0 where a matrix is repeated, and within a
/// matrix. Those of a mask may be 0 there, too.
struct attention_steps {
  std::int64_t batch[max_rank];
  std::int64_t row, column;
};

/// Matrices query [length, numbers], key [keys, numbers], value [keys, out] and dy [length, out] for each index of the
/// axes before them. Score (i, j) is scale * query(i) * key(j) + bias(i, j). It counts if seen(i, j) is true and, if
/// causal, if j <= i. There is at least one number.
struct attention_geometry {
  std::int64_t length, keys, numbers, out;
  int batch_rank;
  std::int64_t batch_dims[max_rank];
  double scale;
  bool causal;
  attention_steps query, key, value, bias, seen;

  std::int64_t heads() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < batch_rank; ++axis) count *= batch_dims[axis];
    return count;
  }
  /// Distance of a head's matrix from the operand's first element.
  std::int64_t offset(const attention_steps& of, std::int64_t head) const {
    std::int64_t at = 0;
    for (int axis = batch_rank - 1; axis >= 0; head /= batch_dims[axis--])
      at += head % batch_dims[axis] * of.batch[axis];
    return at;
  }
  /// Number of keys that the queries before `row` may see.
  std::int64_t keys_before(std::int64_t row) const { return causal && row < keys ? row : keys; }
};

// ScaledDotProductAttention: in = {query, key, value, bias, seen}, bias and seen may be null.
// out = {y, log_sum}: the logarithm of a row's sum of exp(score), and 0 if no key is seen. The scores are -infinity
// then, so that exp(score - log_sum) is the weight of a key in any case.
//
// ScaledDotProductAttentionGrad: in = {query, key, value, log_sum, delta, dy, bias, seen}. With weights w and the
// products p = dy value^T, s is w (p - delta). out = {the gradients scale s key, scale s^T query and w^T dy, one after
// another}. The matrices of log_sum, delta, dy and the gradients are not repeated.
#define KG_ATTENTION_KERNELS(X) KG_FLOATS(X, ScaledDotProductAttention) KG_FLOATS(X, ScaledDotProductAttentionGrad)

KG_DECLARE_KERNELS(attention, KG_ATTENTION_KERNELS)

}  // namespace kerngrad::kernels
