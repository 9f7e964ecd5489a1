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

/// The `indices` [count, rank] of a sparse tensor and their `values` [count], of any dtype, sorted by rows, with an
/// entry (row, 0, ..., 0) of `default_value`, a scalar, for each row of `dense_shape` [rank] that has none:
/// `auto [indices, values, was_empty, places] = sparse_fill_empty_rows(...)`. `was_empty` [rows] is bool, `places`
/// [count] says where each value went. Indices and the dense shape are int32 or int64. Throws for indices outside of
/// the dense shape. The gradient reaches values and default value.
inline auto sparse_fill_empty_rows(const tensor& indices, const tensor& values, const tensor& dense_shape,
                                   const tensor& default_value) {
  return call<"SparseFillEmptyRows">(indices, values, dense_shape, default_value);
}

/// The `indices` [count, rank] of elements of `input_shape` as those of the same elements, in row-major order, of
/// `new_shape`, in which one size may be -1: `auto [indices, shape] = sparse_reshape(...)`. All are int32 or int64.
/// Throws for indices outside of the shape and for shapes of different numbers of elements. No gradient: integers.
inline auto sparse_reshape(const tensor& indices, const tensor& input_shape, const tensor& new_shape) {
  return call<"SparseReshape">(indices, input_shape, new_shape);
}

/// The rows of `data` [rows, ...] (floats, int32, int64) that `indices` [count] name, added up by `segment_ids`
/// [count], which never decrease: a result of last id + 1 rows, 0 where an id has none. Integers wrap. Throws for
/// indices of no row and for ids that are negative or decrease. The gradient reaches data.
inline tensor sparse_segment_sum(const tensor& data, const tensor& indices, const tensor& segment_ids) {
  return call<"SparseSegmentSum">(data, indices, segment_ids);
}
/// `sparse_segment_sum` divided by the number of rows of each segment; integers are rounded towards 0.
inline tensor sparse_segment_mean(const tensor& data, const tensor& indices, const tensor& segment_ids) {
  return call<"SparseSegmentMean">(data, indices, segment_ids);
}

/// Reduction of the rows of a bag.
enum class bag_mode : std::uint8_t { mean, sum, max };
/// Options of embedding_bag. `weights`, one for each index, are for sums alone.
struct embedding_bag_options {
  bag_mode mode = bag_mode::mean;
  tensor weights{};
};
/// Mean, sum or greatest elements of rows of `params` [rows, ...], floats, as torch's EmbeddingBag: `indices` [count]
/// name the rows, those of bag b from offsets[b] to before the next offset, and the result is [bags, ...]. Indices and
/// `offsets` are int32 or int64. The result for no rows is 0, whatever the mode; a greatest element is NaN where one is
/// NaN. Rows are added in their order, so that the bits depend on no number of threads. Throws for indices of no row,
/// offsets that do not begin with 0, decrease or lie beyond the indices, and for weights with another mode than sum.
/// The gradient reaches params and weights; the elements that equal an extreme share its gradient equally.
inline tensor embedding_bag(const tensor& params, const tensor& indices, const tensor& offsets,
                            const embedding_bag_options& options = {}) {
  constexpr std::string_view modes[] = {"mean", "sum", "max"};
  return call<"EmbeddingBag">(params, indices, offsets, options.weights,
                              attr<"mode">(modes[static_cast<std::size_t>(options.mode)]));
}
/// `embedding_bag` with bags of one size: `indices` and weights are [bags, size].
tensor embedding_bag(const tensor& params, const tensor& indices, const embedding_bag_options& options = {});

/// A row of numbers for each start: start, start + delta, ... before its limit; scalars serve all rows, lists have one
/// length. The three have one dtype, float32, float64, int32 or int64: `auto [splits, values] = ragged_range(...)`, row
/// r being values[splits[r]] to before values[splits[r + 1]]. Throws for deltas of 0 and for numbers that are not
/// finite. The gradient reaches starts and deltas.
inline auto ragged_range(const tensor& starts, const tensor& limits, const tensor& deltas) {
  return call<"RaggedRange">(starts, limits, deltas);
}

/// Rows of a ragged tensor: its row splits, outermost first (int32 or int64, one list at least), and its `values`, of
/// any dtype, whose rows the last splits count. `indices`, of any rank, name rows of the outermost axis. Gives the
/// splits of the result, outermost first, and its values as the last. Throws for splits that decrease or reach beyond
/// what they count, and for indices of no row. The gradient reaches values.
inline tensor_list ragged_gather(std::span<const tensor> splits, const tensor& values, const tensor& indices) {
  std::vector<tensor> operands = {values, indices};
  operands.insert(operands.end(), splits.begin(), splits.end());
  const std::int64_t rank = static_cast<std::int64_t>(splits.size()) + indices.rank() - 1;
  return call_list<"RaggedGather">(operands, attr<"outputRaggedRank">(rank));
}

/// A ragged tensor as a dense one of `dims`, a list of sizes of which -1 are those of the longest rows, or the scalar
/// -1 for all of them: rows are cut off there and filled up with `default_value`, which broadcasts to a row of
/// `values`. `partitions`, int32 or int64, say which values make a row, outermost first, and `types` what each of them
/// is, joined by `|`: ROW_SPLITS, or VALUE_ROWIDS, the row of each value, which never decrease. The number of rows is
/// known from splits; before ids it is in front, a scalar: "FIRST_DIM_SIZE|VALUE_ROWIDS". Throws for partitions
/// that do not fit each other or the values. The gradient reaches values and default value.
inline tensor ragged_tensor_to_tensor(const tensor& dims, const tensor& values, const tensor& default_value,
                                      std::span<const tensor> partitions, std::string_view types) {
  return call<"RaggedTensorToTensor">(dims, values, default_value, partitions, attr<"rowPartitionTypes">(types));
}

}  // namespace kerngrad
