// SPDX-License-Identifier: Apache-2.0
// Entry points of the counts of small integers.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// y[r, b] = the sum of the weights of row r's elements that are b, their number where there are no weights, or, of a
/// binary count, 1 where there is one and 0 where there is none.
struct bincount_geometry {
  std::int64_t rows, count;  ///< of x, [rows, count]
  std::int64_t size;         ///< of a row of y: elements of x from there on are dropped
  dtype elements;            ///< of x: int32, int64, uint8 or boolean; none is negative
  bool weighted, binary;
};

// in = {x, weights [rows, count] in the entry's dtype, which may be missing}, out = {y}. The geometry is a
// bincount_geometry.
#define KG_BINCOUNT_KERNELS(X) KG_SIGNED(X, DenseBincount)

KG_DECLARE_PLAIN_KERNELS(bincount, KG_BINCOUNT_KERNELS)

}  // namespace kerngrad::kernels
