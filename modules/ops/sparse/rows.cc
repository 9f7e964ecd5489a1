// SPDX-License-Identifier: Apache-2.0
// Rows of the ops on sparse tensors, lists of indices with values, and on ragged ones, rows of different lengths.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_sparse;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes_sparse;
import :rows;
import :rows_move;

namespace kerngrad::launch {
void sparse_fill_empty_rows(const launch_call&);
void sparse_reshape(const launch_call&);
void sparse_segments(const launch_call&);
void embedding_bag(const launch_call&);
void ragged_range(const launch_call&);
void ragged_gather(const launch_call&);
void ragged_to_tensor(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr dtype_set of_segments = floating | index_dtypes;
inline constexpr dtype_set of_ranges = wide_floats | index_dtypes;
inline constexpr operand sparse_rows_filled[] = {{"indices", index_dtypes, role::own},
                                                 {"values", any_dtype},
                                                 {"denseShape", index_dtypes, role::read},
                                                 {"defaultValue", any_dtype}};
inline constexpr operand sparse_indices_reshaped[] = {
    {"inputIndices", index_dtypes}, {"inputShape", index_dtypes, role::read}, {"newShape", index_dtypes, role::read}};
inline constexpr operand rows_of_segments[] = {
    {"data", of_segments}, {"indices", index_dtypes, role::own}, {"segmentIds", index_dtypes, role::read}};
inline constexpr operand rows_of_bags[] = {{"params", floating},
                                           {"indices", index_dtypes, role::own},
                                           {"offsets", index_dtypes, role::read},
                                           {.name = "perSampleWeights", .types = floating, .optional = true}};
inline constexpr operand ends_of_ranges[] = {
    {"starts", of_ranges, role::read}, {"limits", of_ranges, role::read}, {"deltas", of_ranges, role::read}};
inline constexpr operand ragged_gathered[] = {
    {"paramsDenseValues", any_dtype},
    {"indices", index_dtypes, role::read},
    {.name = "paramsNestedSplits", .types = index_dtypes, .part = role::read, .list = true}};
inline constexpr operand ragged_padded[] = {
    {"shape", index_dtypes, role::read},
    {"values", any_dtype},
    {"defaultValue", any_dtype},
    {.name = "rowPartitionTensors", .types = index_dtypes, .part = role::read, .list = true}};

inline constexpr result_spec filled_rows[] = {
    {"outputIndices", "the indices sorted by rows, int64 if they are", result::int32},
    {"outputValues", "their values"},
    {"emptyRowIndicator", "which rows had no index", result::boolean},
    {"reverseIndexMap", "where each value went, int64 if indices are", result::int32}};
inline constexpr result_spec reshaped_indices[] = {{"outputIndices", "of the same elements"},
                                                   {"outputShape", "the new shape"}};
inline constexpr result_spec ranges_in_rows[] = {{"rtNestedSplits", "where each row begins and ends", result::int32},
                                                 {"rtDenseValues", "the elements of all rows"}};

consteval op_row sparse_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                            infer_fn infer, launch_fn launch, double cost) {
  return {.name = name,
          .doc = doc,
          .group = family::sparse,
          .operands = operands,
          .infer = infer,
          .launch = launch,
          .cost = cost};
}
consteval op_row of_sparse_results(op_row row, std::span<const result_spec> results) {
  row.results = results;
  return row;
}
consteval op_row of_sparse_attrs(op_row row, std::span<const attr_spec> attrs) {
  row.attrs = attrs;
  return row;
}
/// The row with result dtypes that the shape rule decides.
consteval op_row of_ruled_dtypes(op_row row) {
  row.types.after = result::ruled;
  return row;
}
consteval op_row of_sparse_bounds(op_row row) {
  row.bounded = true;
  return row;
}

inline constexpr op_row sparse_rows[] = {
    of_sparse_bounds(of_sparse_results(
        sparse_row(
            "SparseFillEmptyRows",
            "Indices and values sorted by rows, with (row, 0, ..., 0) and defaultValue for each row of denseShape "
            "that has none.",
            sparse_rows_filled, shapes::sparse_fill_empty_rows, launch::sparse_fill_empty_rows, 1),
        filled_rows)),
    of_sparse_results(
        without_gradient(sparse_row("SparseReshape",
                                    "The indices of the same elements in another shape, of which one size may "
                                    "be -1, and that shape.",
                                    sparse_indices_reshaped, shapes::sparse_reshape, launch::sparse_reshape, 8),
                         "indices have no derivative"),
        reshaped_indices),
    sparse_row("SparseSegmentSum",
               "Rows of data that indices name, added up by segmentIds, which never decrease; as many rows as the last "
               "id + 1, 0 where an id has none; integers wrap.",
               rows_of_segments, shapes::sparse_segments, launch::sparse_segments, 1),
    sparse_row("SparseSegmentMean",
               "As SparseSegmentSum, divided by the number of rows; integers are rounded towards 0.", rows_of_segments,
               shapes::sparse_segments, launch::sparse_segments, 1),
    of_sparse_attrs(
        sparse_row("EmbeddingBag",
                   "Mean, sum or greatest elements of the rows of params that indices name, in bags that begin "
                   "at the offsets; 0 of no rows, NaN where one is NaN. In a sum each row is multiplied by its "
                   "weight. Gradient: the elements that equal an extreme share its gradient equally.",
                   rows_of_bags, shapes::embedding_bag, launch::embedding_bag, 1),
        attributes::embedding_bag) |
        with{.kinks = kink::ties},
    of_sparse_results(
        sparse_row("RaggedRange",
                   "A row of numbers from each start to before its limit, by its delta; scalars serve all rows. "
                   "Gradient: none of the limits, whose changes make steps.",
                   ends_of_ranges, shapes::ragged_range, launch::ragged_range, 2),
        ranges_in_rows),
    of_ruled_dtypes(
        of_sparse_attrs(sparse_row("RaggedGather",
                                   "Rows of a ragged tensor, given by its splits and values: the splits of the result, "
                                   "outermost first, then its values.",
                                   ragged_gathered, shapes::ragged_gather, launch::ragged_gather, 1),
                        attributes::ragged_gather)),
    of_sparse_attrs(
        sparse_row("RaggedTensorToTensor",
                   "The rows of a ragged tensor as a dense one: cut off at its sizes, filled up with defaultValue; "
                   "sizes of -1 are those of the longest rows.",
                   ragged_padded, shapes::ragged_to_tensor, launch::ragged_to_tensor, 1),
        attributes::ragged_to_tensor),
};

}  // namespace kerngrad::rows
