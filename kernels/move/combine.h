// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernel that combines rows at their indices: sums, products, extremes and means.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// How the rows of one index are combined. A NaN makes an extreme NaN; which of two zeros it is, is not specified.
enum class combination : std::uint8_t { add, mul, max, min, mean };

/// in = {x, indices int32 [rows]}, out = {y [y_rows, inner]}: the row of x at r * step is combined with the row
/// indices[r] - first of y, in the order of r; integers wrap. Sums and means of float32 are carried in double and
/// rounded once, other floats are rounded at each row. Indices outside of y are passed over.
/// A fresh y starts as 0, 1 or a value beyond every element: infinite, or the least or greatest integer. A
/// mean is always fresh, is 0 of no rows, and of integers is rounded towards 0.
struct combine_geometry {
  std::int64_t rows, inner;
  std::int64_t step;  ///< elements from a row of x to the next one; 0 where all are the same
  std::int64_t first, y_rows;
  combination how;
  bool fresh;
  std::int64_t* counts = nullptr;  ///< of a mean: room for a number for each row of y
};

#define KG_COMBINE_KERNELS(X) KG_SIGNED(X, CombineRows)
#define KG_COMBINE_OPS(X)                            \
  KG_SIGNED(X, (UnsortedSegmentReduce, CombineRows)) \
  KG_SIGNED(X, (TensorScatterReduce, CombineRows)) KG_SIGNED(X, (ScatterAlongAxis, CombineRows))

KG_DECLARE_SHARED_KERNELS(combine, KG_COMBINE_KERNELS, KG_COMBINE_OPS)

}  // namespace kerngrad::kernels
