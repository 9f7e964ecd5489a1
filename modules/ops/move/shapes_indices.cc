// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops whose rows of indices each name a slice, and of those that take shapes or bounds as operands.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_indices;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :shapes_move;

namespace kerngrad::shapes {

/// Rows of indices. Each row selects a slice of a tensor by an index into each of its first `depth` axes.
struct index_rows {
  std::int64_t count = 1;
  int depth = 1;
  std::int64_t slices = 1;  ///< number of slices of the tensor
  std::int64_t inner = 1;   ///< elements of a slice
};

/// `depth` indices in each of `count` rows, which index `dims`.
constexpr index_rows rows_into(const inference& call, const shape& dims, std::int64_t count, std::int64_t depth) {
  if (depth < 1) call.refuse("rows of 0 indices", "rows of 1 or more");
  if (depth > dims.rank())
    call.refuse(std::to_string(depth) + " indices in a row, into shape " + to_string(dims),
                "rank " + std::to_string(depth) + " or more, or shorter rows");
  index_rows rows{.count = count, .depth = static_cast<int>(depth)};
  for (int i = 0; i < dims.rank(); ++i) (i < rows.depth ? rows.slices : rows.inner) *= dims[i];
  if (rows.slices > std::numeric_limits<std::int32_t>::max())
    call.refuse(std::to_string(rows.slices) + " slices", "at most 2^31 - 1 where they are indexed");
  return rows;
}

/// The rows of indices of GatherNd, one along the last axis of its indices.
constexpr index_rows gathered_rows(const inference& call) {
  const shape &params = call.in[0].dims, &indices = call.in[1].dims;
  if (params.rank() < 1) call.refuse("params of rank 0", "rank 1 or more");
  if (indices.rank() < 1) call.refuse("indices of rank 0", "rank 1 or more, the last axis being a row");
  std::int64_t count = 1;
  for (int i = 0; i + 1 < indices.rank(); ++i) count *= indices[i];
  return rows_into(call, params, count, indices[indices.rank() - 1]);
}

/// `first` without its last `dropped` axes, then the axes of `second` from `from` on.
constexpr shape joined_axes(const inference& call, const shape& first, int dropped, const shape& second, int from) {
  std::int64_t sizes[2 * max_rank]{};
  std::size_t rank = 0;
  for (int i = 0; i + dropped < first.rank(); ++i) sizes[rank++] = first[i];
  for (int i = from; i < second.rank(); ++i) sizes[rank++] = second[i];
  if (rank > static_cast<std::size_t>(max_rank)) call.refuse(std::to_string(rank) + " axes", "at most 8");
  return shape(std::span<const std::int64_t>(sizes, rank));
}

/// GatherNd: the axes of the indices without the last one, then those of a slice.
export constexpr void gather_nd(inference& call) {
  const index_rows rows = gathered_rows(call);
  call.resolved.set_axis(0, 0);
  call.give(joined_axes(call, call.in[1].dims, 1, call.in[0].dims, rows.depth));
}

/// The rows that updates go to in `dims`: indices of one axis are rows of one index each.
constexpr index_rows scattered_rows(const inference& call, const shape& indices, const shape& updates,
                                    const shape& dims) {
  if (indices.rank() < 1) call.refuse("indices of rank 0", "rank 1 or more");
  if (updates.rank() < 1) call.refuse("updates of rank 0", "rank 1 or more");
  const bool flat = indices.rank() == 1;
  std::int64_t count = 1;
  for (int i = 0; i < indices.rank() - (flat ? 0 : 1); ++i) count *= indices[i];
  const index_rows rows = rows_into(call, dims, count, flat ? 1 : indices[indices.rank() - 1]);
  const shape wanted = joined_axes(call, indices, flat ? 0 : 1, dims, rows.depth);
  if (!(updates == wanted))
    call.refuse("updates of shape " + to_string(updates), "a slice of " + to_string(dims) +
                                                              " for each row of the indices " + to_string(indices) +
                                                              ": " + to_string(wanted));
  return rows;
}

/// The rows of indices of ScatterNd, into the shape in its attribute.
constexpr index_rows scatter_rows_of(const inference& call) {
  return scattered_rows(call, call.in[0].dims, call.in[1].dims,
                        shape_attr(call, place_in(attributes::scatter_nd, "shape")));
}
/// ScatterNd: the shape in the attribute `shape`.
export constexpr void scatter_nd(inference& call) {
  scatter_rows_of(call);
  call.give(shape_attr(call, place_in(attributes::scatter_nd, "shape")));
}

/// The rows of indices of TensorScatterUpdate, into the shape of its tensor.
constexpr index_rows update_rows_of(const inference& call) {
  if (call.in[0].dims.rank() < 1) call.refuse("a tensor of rank 0", "rank 1 or more");
  return scattered_rows(call, call.in[1].dims, call.in[2].dims, call.in[0].dims);
}
/// TensorScatterUpdate: the shape of the tensor.
export constexpr void tensor_scatter_update(inference& call) {
  update_rows_of(call);
  call.give(call.in[0].dims);
}

/// TensorScatterReduce: the shape of the tensor.
export constexpr void tensor_scatter_reduce(inference& call) { tensor_scatter_update(call); }

/// Elements that indices select along an axis, one for each element of `dims`. They are grouped into rows: the last
/// axes, on which all have the same index.
struct rows_of_axis {
  shape dims{};  ///< sizes of x and of the indices, broadcast; on the axis that of the indices
  int axis = 0;
  int walked = 0;  ///< axes before those of a row, including the indexed one
  std::int64_t rows = 1;
  std::int64_t inner = 1;  ///< elements of a row
};

/// The elements that operand 1, the indices, selects of operand 0, x.
constexpr rows_of_axis rows_along(const inference& call) {
  const shape &x = call.in[0].dims, &indices = call.in[1].dims;
  const int rank = x.rank();
  if (rank < 1) call.refuse("x of rank 0", "rank 1 or more");
  if (indices.rank() != rank)
    call.refuse("indices of rank " + std::to_string(indices.rank()) + " into x of rank " + std::to_string(rank),
                "the same rank", "reshape the indices, with sizes of 1 where they serve a whole axis");
  rows_of_axis along{.axis = axis_of(call, place_in(attributes::indexed_axis, "axis"), rank), .walked = rank};
  std::int64_t sizes[max_rank]{};
  for (int i = 0; i < rank; ++i) {
    sizes[i] = i == along.axis || x[i] == 1 ? indices[i] : x[i];
    if (i != along.axis && indices[i] != 1 && indices[i] != sizes[i])
      call.refuse("x " + to_string(x) + " and indices " + to_string(indices),
                  "sizes that broadcast on every axis but " + std::to_string(along.axis));
  }
  if (x[along.axis] == 0 && indices.size() > 0) call.refuse("indices into an axis without elements", "no indices");
  if (x.size() > std::numeric_limits<std::int32_t>::max())
    call.refuse(std::to_string(x.size()) + " elements of x", "at most 2^31 - 1 where they are indexed");
  along.dims = shape(std::span<const std::int64_t>(sizes, static_cast<std::size_t>(rank)));
  while (along.walked - 1 > along.axis && indices[along.walked - 1] == 1 &&
         x[along.walked - 1] == sizes[along.walked - 1])
    --along.walked;
  for (int i = 0; i < rank; ++i) (i < along.walked ? along.rows : along.inner) *= sizes[i];
  return along;
}

/// TakeAlongAxis: x and the indices broadcast on all axes but one, which has the size of the indices.
export constexpr void take_along_axis(inference& call) { call.give(rows_along(call).dims); }

/// PutAlongAxis, ScatterAlongAxis: the shape of x. The updates broadcast to the shape of TakeAlongAxis.
export constexpr void put_along_axis(inference& call) {
  const shape taken = rows_along(call).dims;
  const std::optional<shape> both = broadcast(call.in[2].dims, taken);
  if (!both || !(*both == taken))
    call.refuse("updates of shape " + to_string(call.in[2].dims),
                "a shape that broadcasts to that of the indexed elements, " + to_string(taken));
  call.give(call.in[0].dims);
}

/// The rows of indices of SparseToDense: one index, a list of indices into one axis, or rows of an index for each axis.
/// There is a value for each of them, or one for all.
constexpr index_rows sparse_rows_of(const inference& call) {
  const shape &indices = call.in[0].dims, &values = call.in[1].dims;
  const shape dims = shape_attr(call, place_in(attributes::sparse_to_dense, "outputShape"));
  if (indices.rank() > 2) call.refuse("sparseIndices of shape " + to_string(indices), "at most 2 axes");
  if (call.in[2].dims.rank() != 0) call.refuse("defaultValue of shape " + to_string(call.in[2].dims), "a scalar");
  const std::int64_t count = indices.rank() == 0 ? 1 : indices[0], depth = indices.rank() < 2 ? 1 : indices[1];
  if (depth != dims.rank())
    call.refuse(std::to_string(depth) + " indices of each value and outputShape " + to_string(dims),
                "one for each axis of the result");
  if (values.rank() != 0 && !(values.rank() == 1 && values[0] == count))
    call.refuse("sparseValues of shape " + to_string(values), "a scalar or [" + std::to_string(count) + "]");
  return rows_into(call, dims, count, depth);
}
/// SparseToDense: the shape in the attribute `outputShape`.
export constexpr void sparse_to_dense(inference& call) {
  sparse_rows_of(call);
  call.give(shape_attr(call, place_in(attributes::sparse_to_dense, "outputShape")));
}

/// BroadcastArgs: a vector as long as the longer operand.
export constexpr void broadcast_args(inference& call) {
  const shape &a = call.in[0].dims, &b = call.in[1].dims;
  if (a.rank() != 1 || b.rank() != 1)
    call.refuse("shapes " + to_string(a) + " and " + to_string(b), "rank 1 of both: lists of sizes");
  call.give(a[0] < b[0] ? b : a);
}

/// NonZero: at most one row of indices for each element, [x.size(), rank].
export constexpr void nonzero(inference& call) {
  const shape& x = call.in[0].dims;
  if (x.rank() == 0) call.refuse("a scalar", "rank 1 or more: elements that have indices");
  for (const std::int64_t size : x)
    if (size > 2147483647)
      call.refuse("x of shape " + to_string(x), "axes of at most 2^31 - 1, whose indices are int32");
  call.give({x.size(), x.rank()});
}

/// MatrixBandPart: the shape of the matrices. The numbers of diagonals are scalars.
export constexpr void band_part(inference& call) {
  const shape& dims = call.in[0].dims;
  if (dims.rank() < 2) call.refuse("input of rank " + std::to_string(dims.rank()), "rank 2 or more: matrices");
  for (std::size_t i : {1, 2})
    if (call.in[i].dims.rank() != 0)
      call.refuse(std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims), "a scalar");
  call.give(dims);
}

}  // namespace kerngrad::shapes
