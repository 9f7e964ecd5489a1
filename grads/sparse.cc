// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the ops on sparse and ragged tensors. They move rows: the same op on the numbers of the rows says
// where each came from, and sums at these numbers bring gradients back.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_sparse;

import :std;
import :core;
import :rule;
import :call;
import :ops;
import :grads_reduce;

namespace kerngrad::rules {

/// Rows of x added up at their ids.
inline tensor added_rows(const tensor& x, const tensor& ids, std::int64_t rows) {
  if (x.type() != dtype::complex64) return segment_sum(x, ids, rows);
  return complex(segment_sum(real(x), ids, rows), segment_sum(imag(x), ids, rows));
}

/// How many of `ids` each row has, in the dtype of a gradient and with axes of size 1 after it.
inline tensor rows_of_segments_counted(const tensor& ids, const tensor& dy) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(dy.rank()), 1);
  sizes[0] = dy.dims()[0];
  const tensor counts = segment_sum(ones(ids.dims(), dy.type()), ids, sizes[0]);
  return reshape(maximum(counts, ones_like(counts)), shape(sizes));
}

/// The sum of a gradient over the positions that no value went to.
inline tensor sum_of_missing(const tensor& dy, const tensor& positions) {
  const tensor taken = segment_sum(ones(positions.dims()), positions, dy.dims()[0]);
  return sum(where(equal(taken, zeros_like(taken)), dy, zeros_like(dy)));
}

/// The row of each of `count` elements, from the row splits.
inline tensor rows_of_splits(const tensor& splits, std::int64_t count) {
  const std::int64_t rows = splits.size() - 1;
  const tensor begins = slice(splits, {1}, {rows - 1});
  const tensor steps = segment_sum(ones({rows - 1}, dtype::int32), begins, count + 1);
  return cumsum(slice(steps, {0}, {count}));
}

/// Which bag each of `count` indices is in, from the offsets of the bags.
inline tensor bags_of_indices(const tensor& offsets, std::int64_t count) {
  const tensor begins = segment_sum(ones(offsets.dims(), dtype::int32), offsets, count + 1);
  return cumsum(slice(begins, {0}, {count})) - 1;
}

/// The gradient of the rows that a bag's indices name, [count, ...].
template <class C>
tensor bag_rows_back(const C& c) {
  const std::string_view mode = c.template attr<"mode">().as_text();
  const tensor bags = bags_of_indices(c.in(2), c.dims(1).size());
  if (mode == "mean") return gather(c.dy() / rows_of_segments_counted(bags, c.dy()), bags);
  if (mode == "max") {
    const tensor extreme = gather(c.in(0), c.in(1)) == gather(c.out(), bags);
    const tensor counts = segment_sum(cast(extreme, dtype::int32), bags, c.dy().dims()[0]);
    return where(extreme, gather(shared_among(c.dy(), counts), bags), zeros({}, c.dy().type()));
  }
  const tensor rows = gather(c.dy(), bags);
  if (!c.in(3).defined()) return rows;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(rows.rank()), 1);
  sizes[0] = rows.dims()[0];
  return rows * reshape(c.in(3), shape(sizes));
}

/// The gradient of the weights: of each the product of its row and of what its bag got.
template <class C>
tensor bag_weights_back(const C& c) {
  const std::int64_t count = c.dims(1).size();
  if (c.dims(0).size() == 0 || count == 0) return c.zeros(3);
  const tensor rows = gather(c.dy(), bags_of_indices(c.in(2), count)) * gather(c.in(0), c.in(1));
  return sum(reshape(rows, shape{count, rows.size() / count}), 1);
}

/// The gradient of starts or deltas: `dy`, of deltas times the number of steps, added up in rows.
template <class C>
tensor range_gradient(const C& c, int operand, bool of_deltas) {
  const tensor &dy = c.dy(1), &splits = c.out(0);
  const std::int64_t count = dy.size(), rows = splits.size() - 1;
  if (count == 0) return c.zeros(operand);
  const tensor at = rows_of_splits(splits, count);
  if (!of_deltas) return c.reduced(operand, segment_sum(dy, at, rows));
  const tensor steps = arange(0, static_cast<double>(count), 1, dtype::int32) - gather(splits, at);
  return c.reduced(operand, segment_sum(dy * cast(steps, dy.type()), at, rows));
}

/// The numbers from `first` on, one for each row of operand `i`.
template <class C>
tensor numbered_rows(const C& c, int i, std::int64_t first) {
  return arange(static_cast<double>(first), static_cast<double>(first + c.dims(i)[0]), 1, dtype::int64);
}

/// The gradient of the values of RaggedGather.
template <class C>
tensor gathered_back(const C& c) {
  const std::int64_t rank = c.template attr<"outputRaggedRank">().as_integer();
  const std::int64_t levels = rank - c.dims(1).rank() + 1;
  std::vector<tensor> operands = {numbered_rows(c, 0, 0), c.in(1)};
  for (int level = 0; level < levels; ++level) operands.push_back(c.in(2 + level));
  const tensor_list numbers = call_list<"RaggedGather">(operands, attr<"outputRaggedRank">(rank));
  return added_rows(c.dy(static_cast<int>(rank)), numbers[rank], c.dims(0)[0]);
}

/// [rows + 1, inner] of a gradient of RaggedTensorToTensor: in row 0 what default values were given, in the others what
/// the values were.
template <class C>
tensor dense_rows_back(const C& c) {
  const tensor& dy = c.dy();
  const shape& values = c.dims(1);
  const int outer = dy.rank() - values.rank() + 1;
  const attr_value& types = c.template attr<"rowPartitionTypes">();
  const std::string_view text = types.as_text();
  int partitions = 1;
  for (const char one : text) partitions += one == '|' || one == ',' ? 1 : 0;
  std::vector<tensor> operands = {c.in(0).rank() == 0 ? c.in(0) : slice(c.in(0), {0}, {outer}), numbered_rows(c, 1, 1),
                                  zeros({}, dtype::int64)};
  for (int i = 0; i < partitions; ++i) operands.push_back(c.in(3 + i));
  const tensor numbers = call_list<"RaggedTensorToTensor">(operands, attr<"rowPartitionTypes">(types))[0];
  const std::int64_t inner = shape(values.dims().subspan(1)).size();
  return added_rows(reshape(dy, {numbers.size(), inner}), reshape(numbers, {numbers.size()}), values[0] + 1);
}

inline constexpr auto sparse_rules = family_rules(rule_list{
    rule<"SparseFillEmptyRows">(
        constant_operand(), wrt(keep::out3, [](const auto& c) { return gather(c.dy(1), c.out(3)); }),
        constant_operand(), wrt(keep::out3, [](const auto& c) { return sum_of_missing(c.dy(1), c.out(3)); })),
    rule<"SparseSegmentSum">(
        wrt(keep::in1 | keep::in2,
            [](const auto& c) { return segment_sum(gather(c.dy(), c.in(2)), c.in(1), c.dims(0)[0]); }),
        constant_operand(), constant_operand()),
    rule<"SparseSegmentMean">(wrt(keep::in1 | keep::in2,
                                  [](const auto& c) {
                                    const tensor share = c.dy() / rows_of_segments_counted(c.in(2), c.dy());
                                    return segment_sum(gather(share, c.in(2)), c.in(1), c.dims(0)[0]);
                                  }),
                              constant_operand(), constant_operand()),
    rule<"EmbeddingBag">(wrt(keep::all_in | keep::out0,
                             [](const auto& c) {
                               if (c.dims(1).size() == 0) return c.zeros(0);
                               return segment_sum(bag_rows_back(c), c.in(1), c.dims(0)[0]);
                             }),
                         constant_operand(), constant_operand(),
                         wrt(keep::all_in, [](const auto& c) { return bag_weights_back(c); })),
    rule<"RaggedRange">(wrt(keep::out0, [](const auto& c) { return range_gradient(c, 0, false); }),
                        wrt(keep::nothing, [](const auto& c) { return c.zeros(1); }),
                        wrt(keep::out0, [](const auto& c) { return range_gradient(c, 2, true); })),
    rule<"RaggedGather">(wrt(keep::in1 | keep::in2, [](const auto& c) { return gathered_back(c); }), constant_operand(),
                         constant_operand()),
    rule<"RaggedTensorToTensor">(constant_operand(),
                                 wrt(keep::in0 | keep::in3,
                                     [](const auto& c) {
                                       const tensor rows = c.template once<0>([&] { return dense_rows_back(c); });
                                       return reshape(slice(rows, {1, 0}, {c.dims(1)[0], rows.dims()[1]}), c.dims(1));
                                     }),
                                 wrt(keep::in0 | keep::in3,
                                     [](const auto& c) {
                                       const tensor rows = c.template once<0>([&] { return dense_rows_back(c); });
                                       return c.reduced(2, reshape(slice(rows, {0, 0}, {1, rows.dims()[1]}),
                                                                   shape(c.dims(1).dims().subspan(1))));
                                     }),
                                 constant_operand()),
});

}  // namespace kerngrad::rules
