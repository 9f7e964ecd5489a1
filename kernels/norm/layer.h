// SPDX-License-Identifier: Apache-2.0
// Entry points of the normalization of rows by their own moments.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// `rows` rows of `count` elements.
struct layer_norm_geometry {
  std::int64_t rows, count;
  double epsilon;  ///< added to the variance
};

// y = (x - mean) / sqrt(variance + epsilon) * scale + offset, the moments those of the row; y may be x.
// in = {x, scale, offset}; scale and offset are of one row, or null: a scale of 1, no offset. out = {y}.
#define KG_LAYER_KERNELS(X) KG_FLOATS(X, LayerNorm)

KG_DECLARE_KERNELS(layer, KG_LAYER_KERNELS)

}  // namespace kerngrad::kernels
