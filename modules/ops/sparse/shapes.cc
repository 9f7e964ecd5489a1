// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops on sparse and ragged tensors. They read elements of operands, so that the compiler cannot run
// them: their bodies are in shapes_impl.cc.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_sparse;

import :std;
import :core;
import :op;

export namespace kerngrad::shapes {

/// SparseFillEmptyRows: at most [count + rows, rank] indices and as many values, a bool for each row, and an index for
/// each operand value.
void sparse_fill_empty_rows(inference& call);
/// SparseReshape: the indices [count, new rank], and the new shape [new rank].
void sparse_reshape(inference& call);
/// SparseSegmentSum and SparseSegmentMean: the shape of data with last id + 1 rows.
void sparse_segments(inference& call);
/// EmbeddingBag: the shape of params with a row for each offset.
void embedding_bag(inference& call);
/// RaggedRange: the splits [rows + 1], and a vector of the elements of all rows.
void ragged_range(inference& call);
/// RaggedGather: the splits of each ragged axis, then the rows of values that were taken.
void ragged_gather(inference& call);
/// RaggedTensorToTensor: the given shape, with the size of the longest row for -1.
void ragged_to_tensor(inference& call);

}  // namespace kerngrad::shapes

// Values that launchers compute again.
namespace kerngrad::shapes {

/// Calls f with the elements of an operand of dtype int32 or int64.
template <class F>
decltype(auto) with_listed_integers(const view& list, F f) {
  if (list.type == dtype::int32) return f(static_cast<const std::int32_t*>(list.data));
  return f(static_cast<const std::int64_t*>(list.data));
}
inline std::int64_t listed_integer(const view& list, std::int64_t i) {
  return with_listed_integers(list, [i](const auto* from) { return static_cast<std::int64_t>(from[i]); });
}
/// All elements of an operand of dtype int32 or int64.
std::vector<std::int64_t> listed_integers(const view& list);

/// The new shape of SparseReshape, with the size that -1 stands for.
std::vector<std::int64_t> reshaped_sizes(const inference& call);

/// The number of elements of row `r` of RaggedRange.
std::int64_t ragged_range_size(const inference& call, std::int64_t r);

/// The partitions of RaggedTensorToTensor, outermost first, with the kind of each.
struct ragged_partitions {
  enum class kind : std::uint8_t { row_splits, value_rowids };
  std::int64_t rows = 0;      ///< number of rows of the outermost axis
  std::size_t first = 0;      ///< the operand that holds the first partition
  std::vector<kind> kinds{};  ///< one for each ragged axis
};
/// Reads the attribute `rowPartitionTypes`. Throws if it is no list of kinds, or if its length is not that of the list
/// of operands.
ragged_partitions partitions_of(const inference& call);

}  // namespace kerngrad::shapes
