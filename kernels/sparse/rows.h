// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that move rows of sparse and ragged tensors. Elements are moved as bytes.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// A list of `count` indices [count, rank], whose first ones are rows below `rows`, with a value each. Sorted by rows,
/// in their order otherwise, with (row, 0, ..., 0) and a value of its own for each row that has none.
struct fill_rows_geometry {
  std::int64_t count, rows, rank;
  bool wide;           ///< indices are int64, not int32
  std::int64_t* made;  ///< how many indices there are then, at most count + rows
};

/// `count` neighbouring rows of x that become rows of y.
struct row_run {
  std::int64_t from, to, count;
};
/// y [rows, inner] is made of runs of rows of x [.., inner], in the order of y, none of them empty; the rows between
/// them are `fill` [inner], which may be null where there are none.
struct row_runs_geometry {
  const row_run* runs;
  std::int64_t count, inner, rows;
  const void* fill;
  std::int64_t x_rows;
};

//   SparseFillEmptyRows                 in = {indices, values, -, value of a row without}
//                                       out = {indices, values, bool [rows]: had none, positions [count] of the values}
//   RaggedGather, RaggedTensorToTensor  in = {x}  out = {y}: CopyRuns
#define KG_SPARSE_ROWS_KERNELS(X) KG_SIZES(X, SparseFillEmptyRows) KG_SIZES(X, CopyRuns)
#define KG_SPARSE_ROWS_OPS(X)                           \
  KG_ALL(X, (SparseFillEmptyRows, SparseFillEmptyRows)) \
  KG_ALL(X, (RaggedGather, CopyRuns)) KG_ALL(X, (RaggedTensorToTensor, CopyRuns))

KG_DECLARE_SHARED_KERNELS(sparse_rows, KG_SPARSE_ROWS_KERNELS, KG_SPARSE_ROWS_OPS)

}  // namespace kerngrad::kernels
