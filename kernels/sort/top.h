// SPDX-License-Identifier: Apache-2.0
// TopK over rows. NaN is the greatest element.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// The `k` largest of `rows` rows of `count` elements, k <= count.
struct top_geometry {
  std::int64_t rows, count, k;
};

// x -> k elements of each row and their indices, int32, in descending order; equal elements, -0 and 0, and all NaN keep
// their order, and the first of them are taken. count < 2^31.
#define KG_TOP_KERNELS(X) KG_ORDERED(X, TopK)

KG_DECLARE_KERNELS(top, KG_TOP_KERNELS)

}  // namespace kerngrad::kernels
