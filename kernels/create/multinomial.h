// SPDX-License-Identifier: Apache-2.0
// Entry points of draws from discrete distributions.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// `rows` distributions over `outcomes` outcomes, at least 1, by their logits, or by their weights where these are
/// `normalized`; `samples` draws from each. No logit or weight is NaN; each row has a logit above -infinity and none of
/// +infinity, or weights of at least 0 with a finite sum above it.
struct multinomial_geometry {
  std::int64_t rows, outcomes, samples;
  std::uint64_t seed;
  bool normalized;
};

// in = {logits [rows, outcomes]}, out = {int32 [rows, samples]}. Element i, counted over all rows, takes the upper 53
// bits of element i of an 8-byte dtype (kernels/create/random.h) as a fraction u, and is the first outcome whose
// weights up to its own add up, in double precision and in order, to more than u times the sum of all.
#define KG_MULTINOMIAL_KERNELS(X) KG_FLOATS(X, Multinomial)

KG_DECLARE_KERNELS(multinomial, KG_MULTINOMIAL_KERNELS)

}  // namespace kerngrad::kernels
