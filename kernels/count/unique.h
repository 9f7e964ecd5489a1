// SPDX-License-Identifier: Apache-2.0
// Entry points of the search for distinct rows.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Rows of x, [count, width]. Two are equal when all of their elements are: -0 equals 0, and NaN equals NaN.
struct unique_geometry {
  std::int64_t count;  ///< below 2^31
  std::int64_t width;
  bool sorted = false;  ///< distinct rows in ascending order, NaN last; else in the order in which they come first
};

// in = {x}; out = {int32 [count]: the number of each row among the distinct ones, in the order that the geometry says;
// int32 [count]: where each of those comes first; one int64: how many there are}. The geometry is a
// unique_geometry.
#define KG_UNIQUE_KERNELS(X) KG_ORDERED(X, Unique) X(Unique, text)

KG_DECLARE_PLAIN_KERNELS(unique, KG_UNIQUE_KERNELS)

}  // namespace kerngrad::kernels
