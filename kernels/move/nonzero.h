// SPDX-License-Identifier: Apache-2.0
// Entry points of the search for elements that are not zero.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// in = {x}, out = {indices int32 [elements of x, rank]}: the indices of each element that is not 0, in order; NaN is
/// not 0, both zeros are. `count` becomes their number; what is written after them is of no meaning. No axis has more
/// than 2^31 - 1 elements.
struct nonzero_geometry {
  int rank;  ///< at least 1
  std::int64_t dims[max_rank];
  std::int64_t* count;
};

#define KG_NONZERO_KERNELS(X) KG_ORDERED(X, NonZero)

KG_DECLARE_KERNELS(nonzero, KG_NONZERO_KERNELS)

}  // namespace kerngrad::kernels
