// SPDX-License-Identifier: Apache-2.0
// Entry points of the local response normalization and its gradient.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// `rows` pixels of `channels` channels. With n = bias + alpha * (the sum of x * x over the channels up to `radius`
/// away), a pixel's y is x * n^-beta.
struct response_geometry {
  std::int64_t rows, channels;
  std::int64_t radius;  ///< below `channels`, or 0
  double bias, alpha, beta;
};

// LRN:     in = {x}, out = {y}.
// LRNGrad: in = {x, y, dy}, out = {dx}: dy * n^-beta - 2 alpha beta x * (the sum of dy * y / n over the same channels).
#define KG_RESPONSE_KERNELS(X) KG_FLOATS(X, LRN) KG_FLOATS(X, LRNGrad)

KG_DECLARE_KERNELS(response, KG_RESPONSE_KERNELS)

}  // namespace kerngrad::kernels
