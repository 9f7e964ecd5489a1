// SPDX-License-Identifier: Apache-2.0
// Entry points of sums, means and extremes of rows that indices name, by segments and bags.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Rows x [.., inner] are named by indices [count], those of one segment by neighbours: ids [count] never decrease and
/// are below `segments`. y is [segments, inner]. Indices and ids are valid, the caller has checked them.
struct sparse_segment_geometry {
  std::int64_t count, inner, segments;
};

//   SparseSegmentSum   in = {x, indices int32, ids int32}  out = {y}  the sum of the rows of a segment, in their order;
//                                                                     0 of none; integers wrap
//   SparseSegmentMean  the same, divided by the number of rows; integers are rounded towards 0

/// Rows x [.., inner] are named by indices [count]; those of bag b by indices[offsets[b]] to before the next offset,
/// the last bag's to the end. y is [bags, inner]. Offsets never decrease from 0 on; the caller has checked all.
struct bag_geometry {
  std::int64_t count, inner, bags;
  enum class combined : std::uint8_t { sum, mean, max } how;
};

//   EmbeddingBag  in = {x, indices int32, offsets int32, weights [count] or null}  out = {y}  the sum of the rows of a
//                 bag in their order, each times its weight where there are weights (sums only), their mean, or their
//                 greatest elements, where a NaN gives NaN; 0 of none
#define KG_SPARSE_SEGMENT_KERNELS(X) \
  KG_SIGNED(X, SparseSegmentSum) KG_SIGNED(X, SparseSegmentMean) KG_FLOATS(X, EmbeddingBag)

KG_DECLARE_KERNELS(sparse_segments, KG_SPARSE_SEGMENT_KERNELS)

}  // namespace kerngrad::kernels
