// SPDX-License-Identifier: Apache-2.0
// Entry points of borders that repeat elements.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// y is x with a border: before[i] + dims[i] + after[i] elements along axis i. No axis with a border is empty, and
/// there are elements. Index j of an axis of y is index j - before[i] of x, that modulo dims[i] where the border wraps,
/// else the nearest one that there is.
struct repeat_geometry {
  int rank;  ///< at least 1
  std::int64_t dims[max_rank], before[max_rank], after[max_rank];
  bool wrap;
};

// in = {x}, out = {y}. The geometry is a repeat_geometry.
#define KG_BORDER_KERNELS(X) KG_MOVED(X, RepeatPad)

KG_DECLARE_PLAIN_KERNELS(border, KG_BORDER_KERNELS)

}  // namespace kerngrad::kernels
