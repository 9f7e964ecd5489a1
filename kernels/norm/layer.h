// SPDX-License-Identifier: Apache-2.0
// Entry points of the normalization of rows by their own moments.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// `rows` rows of `count` elements.
struct layer_norm_geometry {
  std::int64_t rows, count;
  double epsilon;  ///< added to the variance
};

// y = (x - mean) / sqrt(variance + epsilon) * scale + offset, the moments those of the row; y may be x.
// in = {x, scale, offset}; scale and offset are of one row, or null: a scale of 1, no offset. out = {y}.
KG_FLOATS(KG_DECLARE_KERNEL, LayerNorm)

inline constexpr entry layer_simd[] = {
#define KG_ENTRY_LAYER(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FLOATS(KG_ENTRY_LAYER, LayerNorm)};
#undef KG_ENTRY_LAYER

}  // namespace kerngrad::kernels
