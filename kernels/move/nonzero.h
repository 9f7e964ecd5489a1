// SPDX-License-Identifier: Apache-2.0
// Entry points of the search for elements that are not zero.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// in = {x}, out = {indices int32 [elements of x, rank]}: the indices of each element that is not 0, in order; NaN is
/// not 0, both zeros are. `count` becomes their number; what is written behind them is of no meaning. No axis has more
/// than 2^31 - 1 elements.
struct nonzero_geometry {
  int rank;  ///< at least 1
  std::int64_t dims[max_rank];
  std::int64_t* count;
};

KG_ORDERED(KG_DECLARE_KERNEL, NonZero)

inline constexpr entry nonzero_simd[] = {
#define KG_ENTRY_NONZERO(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_ORDERED(KG_ENTRY_NONZERO, NonZero)
#undef KG_ENTRY_NONZERO
};

}  // namespace kerngrad::kernels
