// SPDX-License-Identifier: Apache-2.0
// Entry points of the batch normalization with given moments.
#pragma once
#include "kernels/elementwise/binary.h"
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// How x, and the moments that broadcast to it, are walked: strides[0] are those of x and of the result, strides[1]
/// those of mean, variance, offset and scale, which have one shape.
struct batch_norm_geometry {
  broadcast_geometry walk;
  double epsilon;  ///< added to the variance
};

// y = (x - mean) * (scale / sqrt(variance + epsilon)) + offset, where y may be x.
// in = {x, mean, variance, offset, scale}; the last two may be null: no offset, a scale of 1. out = {y}.
#define KG_BATCH_KERNELS(X) KG_FLOATS(X, FusedBatchNorm)

KG_DECLARE_KERNELS(batch, KG_BATCH_KERNELS)

}  // namespace kerngrad::kernels
