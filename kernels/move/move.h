// SPDX-License-Identifier: Apache-2.0
// Entry points of the kernels that move, look up, scatter and scan elements.
#pragma once
#include "kernels/common/lists.h"

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

/// x and y are `count` rows of matrices, the first one being row `first` of all of them. Elements more than `lower`
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

// Kernels with their dtypes; those of KG_SIZES move bytes.
#define KG_MOVE_KERNELS(X)         \
  KG_SIZES(X, StridedCopy)         \
  KG_SIZES(X, PadV2)               \
  KG_SIZES(X, GatherV2)            \
  KG_FLOATS(X, GatherGrad)         \
  KG_SIGNED(X, UnsortedSegmentSum) \
  KG_ORDERED(X, OneHot)            \
  KG_SIZES(X, ScatterRows)         \
  KG_SIZES(X, BandPart)            \
  KG_SIGNED(X, Cumsum)             \
  KG_SIGNED(X, Cumprod)            \
  KG_NUMERIC(X, CumMax)            \
  KG_NUMERIC(X, CumMin)
// Ops, the kernel that serves each, and its dtypes.
#define KG_MOVE_OPS(X)                                   \
  KG_MOVED(X, (Transpose, StridedCopy))                  \
  KG_MOVED(X, (Slice, StridedCopy))                      \
  KG_MOVED(X, (Reverse, StridedCopy))                    \
  KG_MOVED(X, (StridedSlice, StridedCopy))               \
  KG_ALL(X, (StridedSliceGrad, StridedCopy))             \
  KG_MOVED(X, (MirrorPad, StridedCopy))                  \
  KG_MOVED(X, (SpaceToBatchND, StridedCopy))             \
  KG_MOVED(X, (BatchToSpaceND, StridedCopy))             \
  KG_MOVED(X, (DepthToSpace, StridedCopy))               \
  KG_MOVED(X, (Diag, StridedCopy))                       \
  KG_MOVED(X, (MatrixBandPart, BandPart))                \
  KG_MOVED(X, (Tile, StridedCopy))                       \
  KG_MOVED(X, (BroadcastTo, StridedCopy))                \
  KG_MOVED(X, (Concat, StridedCopy))                     \
  KG_MOVED(X, (Pack, StridedCopy))                       \
  KG_MOVED(X, (Unpack, StridedCopy))                     \
  KG_MOVED(X, (SplitV, StridedCopy))                     \
  KG_MOVED(X, (PadV2, PadV2))                            \
  KG_MOVED(X, (Identity, StridedCopy))                   \
  KG_MOVED(X, (Reshape, StridedCopy))                    \
  KG_MOVED(X, (ExpandDims, StridedCopy))                 \
  KG_MOVED(X, (GatherV2, GatherV2))                      \
  KG_FLOATS(X, (GatherGrad, GatherGrad))                 \
  KG_SIGNED(X, (UnsortedSegmentSum, UnsortedSegmentSum)) \
  KG_MOVED(X, (GatherNd, GatherV2))                      \
  KG_SIGNED(X, (ScatterNd, UnsortedSegmentSum))          \
  KG_MOVED(X, (TensorScatterUpdate, ScatterRows))        \
  KG_MOVED(X, (SparseToDense, ScatterRows))              \
  KG_MOVED(X, (TakeAlongAxis, GatherV2))                 \
  KG_MOVED(X, (PutAlongAxis, ScatterRows))               \
  KG_INTS(X, (BroadcastArgs, StridedCopy))               \
  KG_ORDERED(X, (OneHot, OneHot))                        \
  KG_SIGNED(X, (Cumsum, Cumsum))                         \
  KG_SIGNED(X, (Cumprod, Cumprod))                       \
  KG_NUMERIC(X, (CumMax, CumMax))                        \
  KG_NUMERIC(X, (CumMin, CumMin))

KG_DECLARE_SHARED_KERNELS(move, KG_MOVE_KERNELS, KG_MOVE_OPS)

}  // namespace kerngrad::kernels
