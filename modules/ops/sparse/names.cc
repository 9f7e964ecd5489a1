// SPDX-License-Identifier: Apache-2.0
// Typed names of the ops on sparse tensors, lists of indices with values, and on ragged ones, rows of different
// lengths.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_sparse;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

export namespace kerngrad {

/// Fills the empty rows of a sparse tensor: `auto [indices, values, was_empty, positions] =
/// sparse_fill_empty_rows(...)`. The operands are `indices` [count, rank], `values` [count] of any dtype and
/// `dense_shape` [rank]. Each row without an entry gets an entry (row, 0, ..., 0) with the scalar `default_value`. The
/// results are sorted by rows. `was_empty` [rows] is bool, `positions` [count] has the new index of each value. Indices
/// and the dense shape are int32 or int64. Throws for indices outside of the dense shape. Differentiable in values and
/// default value.
inline auto sparse_fill_empty_rows(const tensor& indices, const tensor& values, const tensor& dense_shape,
                                   const tensor& default_value) {
  return call<"SparseFillEmptyRows">(indices, values, dense_shape, default_value);
}

/// Reshapes a sparse tensor: `auto [indices, shape] = sparse_reshape(...)`. `indices` [count, rank] belong to elements
/// of a tensor of shape `input_shape`. The result has the indices of the same elements, in row-major order, in a tensor
/// of shape `new_shape`. One size of `new_shape` may be -1. All are int32 or int64. Throws for indices outside of the
/// shape and for shapes of different numbers of elements. No gradient: the results are integers.
inline auto sparse_reshape(const tensor& indices, const tensor& input_shape, const tensor& new_shape) {
  return call<"SparseReshape">(indices, input_shape, new_shape);
}

/// Sums rows of `data` [rows, ...] (floats, int32, int64) by segment. Row indices[i] of the data is added to row
/// segment_ids[i] of the result. Both are vectors of one length, of int32 or int64; the ids never decrease. The result
/// has last id + 1 rows, 0 for an id without rows. Integers wrap. Throws for indices of no row and for ids that are
/// negative or decrease. Differentiable in data.
inline tensor sparse_segment_sum(const tensor& data, const tensor& indices, const tensor& segment_ids) {
  return call<"SparseSegmentSum">(data, indices, segment_ids);
}
/// The mean of the rows of each segment: `sparse_segment_sum` divided by the number of rows. Means of integers are
/// rounded towards 0. The rest is as for `sparse_segment_sum`.
inline tensor sparse_segment_mean(const tensor& data, const tensor& indices, const tensor& segment_ids) {
  return call<"SparseSegmentMean">(data, indices, segment_ids);
}

/// The reduction of the rows of a bag by `embedding_bag`.
enum class bag_mode : std::uint8_t { mean, sum, max };
/// Options of embedding_bag. `weights` has a factor for each index, and is only allowed with `bag_mode::sum`.
struct embedding_bag_options {
  bag_mode mode = bag_mode::mean;
  tensor weights{};
};
/// The mean, sum or largest elements of rows of `params` [rows, ...], floats, in bags, as torch's EmbeddingBag. The
/// result is [bags, ...]. `indices` [count] select rows; bag b has the indices from offsets[b] to before offsets[b +
/// 1]. Indices and `offsets` are int32 or int64. A bag without rows gives 0 in every mode; a largest element is NaN if
/// one is NaN. Rows are added in their order, so results are bitwise identical for any number of threads. Throws for
/// indices of no row, and for weights with another mode than sum. Throws for offsets that do not begin with 0,
/// decrease, or go beyond the indices. Differentiable in params and weights; elements that equal a largest one share
/// its gradient equally.
inline tensor embedding_bag(const tensor& params, const tensor& indices, const tensor& offsets,
                            const embedding_bag_options& options = {}) {
  constexpr std::string_view modes[] = {"mean", "sum", "max"};
  return call<"EmbeddingBag">(params, indices, offsets, options.weights,
                              attr<"mode">(modes[static_cast<std::size_t>(options.mode)]));
}
/// The mean, sum or largest elements of rows of `params` in bags of one size: `indices` and weights are [bags, size].
/// The rest is as for `embedding_bag` with offsets.
tensor embedding_bag(const tensor& params, const tensor& indices, const embedding_bag_options& options = {});

/// Ranges as rows of a ragged tensor: `auto [splits, values] = ragged_range(...)`. Row r is values[splits[r]] to before
/// values[splits[r + 1]]. It has the numbers start, start + delta, ... before its limit. Scalars serve all rows;
/// vectors have one length. The three operands have one dtype: float32, float64, int32 or int64. Throws for deltas of 0
/// and for numbers that are not finite. Differentiable in starts and deltas.
inline auto ragged_range(const tensor& starts, const tensor& limits, const tensor& deltas) {
  return call<"RaggedRange">(starts, limits, deltas);
}

/// Takes rows of a ragged tensor. `splits` are its row splits, outermost first: one or more, of int32 or int64.
/// `values`, of any dtype, are the rows that the last splits count. `indices`, of any rank, select rows of the
/// outermost axis. Returns the splits of the result, outermost first, then its values. Throws for splits that decrease
/// or go beyond the rows that they count, and for indices of no row. Differentiable in values.
inline tensor_list ragged_gather(std::span<const tensor> splits, const tensor& values, const tensor& indices) {
  std::vector<tensor> operands = {values, indices};
  operands.insert(operands.end(), splits.begin(), splits.end());
  const std::int64_t rank = static_cast<std::int64_t>(splits.size()) + indices.rank() - 1;
  return call_list<"RaggedGather">(operands, attr<"outputRaggedRank">(rank));
}

/// Converts a ragged tensor to a dense one of shape `dims`, a list of sizes. A size of -1 is that of the longest row;
/// the scalar -1 stands for such sizes on all axes. Longer rows are cut. Shorter rows are filled with `default_value`,
/// which broadcasts to a row of `values`. `partitions`, int32 or int64, tell which values make a row, outermost first.
/// `types` names their kinds, joined by `|`. ROW_SPLITS are the bounds of rows; VALUE_ROWIDS, which never decrease, are
/// the row of each value. Before VALUE_ROWIDS a scalar partition gives the number of rows:
/// "FIRST_DIM_SIZE|VALUE_ROWIDS". Throws for partitions that do not fit each other or the values. Differentiable in
/// values and default value.
inline tensor ragged_tensor_to_tensor(const tensor& dims, const tensor& values, const tensor& default_value,
                                      std::span<const tensor> partitions, std::string_view types) {
  return call<"RaggedTensorToTensor">(dims, values, default_value, partitions, attr<"rowPartitionTypes">(types));
}

}  // namespace kerngrad
