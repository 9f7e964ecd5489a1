// SPDX-License-Identifier: Apache-2.0
// Entry points of the batch normalization with given moments.
#pragma once
#include "kernels/elementwise/binary.h"

namespace kerngrad::kernels {

/// How x, and the moments that broadcast to it, are walked: strides[0] are those of x and of the result, strides[1]
/// those of mean, variance, offset and scale, which have one shape.
struct batch_norm_geometry {
  broadcast_geometry walk;
  double epsilon;  ///< added to the variance
};

// y = (x - mean) * (scale / sqrt(variance + epsilon)) + offset, where y may be x.
// in = {x, mean, variance, offset, scale}; the last two may be null: no offset, a scale of 1. out = {y}.
KG_FLOATS(KG_DECLARE_KERNEL, FusedBatchNorm)

inline constexpr entry batch_simd[] = {
#define KG_ENTRY_BATCH(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FLOATS(KG_ENTRY_BATCH, FusedBatchNorm)};
#undef KG_ENTRY_BATCH

}  // namespace kerngrad::kernels
