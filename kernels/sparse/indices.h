// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that compute the indices of sparse and the elements of ragged tensors.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Indices [count, in_rank] into a shape, every one inside of it, become those of the same elements [count, out_rank]
/// in a shape with as many elements, fewer than 2^62.
struct sparse_reshape_geometry {
  std::int64_t count;
  std::int64_t in_rank, out_rank;
  const std::int64_t *in_dims, *out_dims;
};

/// y[splits[r] + j] = starts[r] + j * deltas[r], for as many j as lie between two splits; a step of 0 takes the first
/// start or delta for all rows. Floats are computed in double precision and rounded to their type; integers wrap.
struct ragged_range_geometry {
  std::int64_t rows;
  std::int64_t start_step, delta_step;
  const std::int32_t* splits;
};

//   SparseReshape  in = {indices}            out = {indices}
//   RaggedRange    in = {starts, -, deltas}  out = {-, y}
#define KG_SPARSE_INDICES_KERNELS(X) KG_INTS(X, SparseReshape) KG_SIGNED(X, RaggedRange)

KG_DECLARE_KERNELS(sparse_indices, KG_SPARSE_INDICES_KERNELS)

}  // namespace kerngrad::kernels
