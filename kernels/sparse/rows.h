// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that move rows of sparse and ragged tensors. Elements are moved as bytes.
#pragma once
#include "kernels/common/abi.h"

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
//                                       out = {indices, values, bool [rows]: had none, places [count] of the values}
//   RaggedGather, RaggedTensorToTensor  in = {x}  out = {y}: CopyRuns
#define KG_SPARSE_ROWS_KERNELS(X) KG_SIZES(X, SparseFillEmptyRows) KG_SIZES(X, CopyRuns)
#define KG_SPARSE_ROWS_OPS(X)                           \
  KG_ALL(X, (SparseFillEmptyRows, SparseFillEmptyRows)) \
  KG_ALL(X, (RaggedGather, CopyRuns)) KG_ALL(X, (RaggedTensorToTensor, CopyRuns))
#define KG_NAMES_OF_ROWS(Op, Name) \
  served_op { #Op, #Name }

KG_SPARSE_ROWS_KERNELS(KG_DECLARE_BYTES)

/// The kernels, for one dtype of each size.
inline constexpr entry sparse_rows_kernels[] = {
#define KG_KERNEL_ROWS(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_SPARSE_ROWS_KERNELS(KG_KERNEL_ROWS)
#undef KG_KERNEL_ROWS
};
inline constexpr entry sparse_rows_simd[] = {
#define KG_ENTRY_ROWS(names, type) serving(sparse_rows_kernels, KG_NAMES_OF_ROWS names, dtype::type),
    KG_SPARSE_ROWS_OPS(KG_ENTRY_ROWS)
#undef KG_ENTRY_ROWS
};

}  // namespace kerngrad::kernels
