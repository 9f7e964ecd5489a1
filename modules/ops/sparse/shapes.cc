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

/// SparseFillEmptyRows.
void sparse_fill_empty_rows(inference& call);
/// SparseReshape.
void sparse_reshape(inference& call);
/// SparseSegmentSum and SparseSegmentMean.
void sparse_segments(inference& call);
/// EmbeddingBag.
void embedding_bag(inference& call);
/// RaggedRange.
void ragged_range(inference& call);
/// RaggedGather.
void ragged_gather(inference& call);
/// RaggedTensorToTensor.
void ragged_to_tensor(inference& call);

}  // namespace kerngrad::shapes

// Values that launchers compute again.
namespace kerngrad::shapes {

/// f(elements) with those of an operand of dtype int32 or int64.
template <class F>
decltype(auto) with_listed_integers(const view& list, F f) {
  if (list.type == dtype::int32) return f(static_cast<const std::int32_t*>(list.data));
  return f(static_cast<const std::int64_t*>(list.data));
}
inline std::int64_t listed_integer(const view& list, std::int64_t i) {
  return with_listed_integers(list, [i](const auto* from) { return static_cast<std::int64_t>(from[i]); });
}
/// All of them.
std::vector<std::int64_t> listed_integers(const view& list);

/// SparseReshape's new shape, with the size that -1 stands for.
std::vector<std::int64_t> reshaped_sizes(const inference& call);

/// How many elements row `r` of RaggedRange has.
std::int64_t ragged_range_size(const inference& call, std::int64_t r);

/// Operands of RaggedTensorToTensor: a list of partitions, outermost first, and what each is.
struct ragged_partitions {
  enum class kind : std::uint8_t { row_splits, value_rowids };
  std::int64_t rows = 0;      ///< of the outermost axis
  std::size_t first = 0;      ///< the operand that holds the first partition
  std::vector<kind> kinds{};  ///< one for each ragged axis
};
/// Reads the attribute; rejects what is no list of partitions, or not as long as the list of operands.
ragged_partitions partitions_of(const inference& call);

}  // namespace kerngrad::shapes
