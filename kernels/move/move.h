// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that move, look up, scatter and scan elements; derived from move.inc.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// out[out_offset + sum i*out_strides] = in[in_offset + sum i*in_strides] for every index i below dims. Strides and
/// offsets count elements and have any sign; input strides may be 0. No output element is written twice, input and
/// output do not overlap. The table names it after every op it serves.
struct copy_geometry {
  int rank;  ///< at least 1
  std::int64_t dims[max_rank];
  std::int64_t in_strides[max_rank], out_strides[max_rank];
  std::int64_t in_offset, out_offset;
};

/// y is x with a border around it: before[i] + dims[i] + after[i] elements along axis i, `value` where x is not.
struct pad_geometry {
  int rank;  ///< at least 1
  std::int64_t dims[max_rank], before[max_rank], after[max_rank];
  const void* value;  ///< an element of the entry's dtype
};

/// in = {x [batch, outer, axis, inner], indices int32 [batch, count]}, y is [batch, outer, count, inner]. The indices
/// are valid, the caller has checked them. GatherGrad: in = {dy, indices}, out = {dx}.
struct gather_geometry {
  std::int64_t outer, axis, inner, count, batch;
};

/// in = {x [rows, inner], ids int32 [rows]}, y is [segments, inner]. Ids outside [0, segments) are dropped.
struct segment_geometry {
  std::int64_t rows, inner, segments;
};

/// in = {x, indices int32 [rows]}, out = {y [.., inner]}: y[indices[r]] = the row of x at r * step, in the order of r,
/// so that the last one of an index stays. The indices are valid; the rest of y is as it was.
struct scatter_geometry {
  std::int64_t rows, inner;
  std::int64_t step;  ///< elements from a row of x to the next one; 0 where all are the same
};

/// x and y are `count` rows of matrices, the first one being row `first` of all of them. What is more than `lower`
/// below the diagonal or more than `upper` above it becomes zero bytes.
struct band_geometry {
  std::int64_t count, first;
  std::int64_t rows, columns;  ///< of a matrix
  std::int64_t lower, upper;   ///< at least 0
};

/// in = {indices int32 [outer, inner]}, y is [outer, depth, inner] of dtype `to`, which is also the dtype of the entry.
/// An index outside [0, depth) gives `off` everywhere.
struct one_hot_geometry {
  std::int64_t outer, depth, inner;
  double on, off;
  dtype to;
};

/// x and y are [outer, count, inner], the scan runs along the middle axis.
struct scan_geometry {
  std::int64_t outer, count, inner;
  bool exclusive, reverse;
};

#define KG_MOVE(Name, types) types(KG_DECLARE_KERNEL, Name)
#define KG_MOVE_BYTES(Name, types) types(KG_DECLARE_BYTES, Name)
#include "kernels/move/move.inc"
#undef KG_MOVE

/// The kernels of move.inc under their own names.
inline constexpr entry move_kernels[] = {
#define KG_MOVE(Name, types) types(KG_KERNEL_MOVE, Name)
#define KG_KERNEL_MOVE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/move/move.inc"
};
#undef KG_MOVE
#undef KG_KERNEL_MOVE

/// Every op of move.inc with its dtypes.
inline constexpr entry move_simd[] = {
#define KG_MOVE_OP(Op, Name, types) types(KG_ENTRY_MOVE, (#Op, #Name))
#define KG_ENTRY_MOVE(names, type) serving(move_kernels, served_op names, dtype::type),
#include "kernels/move/move.inc"
};
#undef KG_MOVE_OP
#undef KG_ENTRY_MOVE

}  // namespace kerngrad::kernels
