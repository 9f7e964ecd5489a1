// SPDX-License-Identifier: Apache-2.0
// Sort and ArgSort over rows. NaN is the greatest element.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// `rows` rows of `count` elements, one after the other.
struct sort_geometry {
  std::int64_t rows, count;
  bool descending;
};

// Sort: x -> the elements in order, -0 before 0, every NaN the quiet one; y may be x.
// ArgSort: x -> their indices, int32; equal elements, -0 and 0, and all NaN keep their order. count < 2^31.
#define KG_SORT_KERNELS(X) KG_ORDERED(X, Sort) KG_ORDERED(X, ArgSort)

KG_DECLARE_KERNELS(sort, KG_SORT_KERNELS)

}  // namespace kerngrad::kernels
