// SPDX-License-Identifier: Apache-2.0
// Shape rules of attention.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_attention;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;

namespace kerngrad::attributes {

inline constexpr attr_spec attention[] = {boolean_attr("causal", "query i sees the keys 0 to i only"),
                                          {.name = "scale",
                                           .kind = attr_kind::number,
                                           .doc = "factor of the scores, finite",
                                           .required = true,
                                           .least = std::numeric_limits<double>::lowest(),
                                           .most = std::numeric_limits<double>::max()}};

}  // namespace kerngrad::attributes

namespace kerngrad::shapes {

/// Sizes of the operands of attention. `batch` has the axes before the matrices, broadcast to one shape.
struct attention_sizes {
  shape batch;
  std::int64_t length, keys, numbers, out;
};

/// Returns the shape with two more axes at the end: `rows` and `columns`. with_rows appends `rows` alone.
constexpr shape with_matrix(const shape& batch, std::int64_t rows, std::int64_t columns) {
  return with_inserted(with_inserted(batch, batch.rank(), rows), batch.rank() + 1, columns);
}
constexpr shape with_rows(const shape& batch, std::int64_t rows) { return with_inserted(batch, batch.rank(), rows); }

/// Reads the sizes of query, key and value, the first operands. Throws if they do not fit each other.
constexpr attention_sizes matrices_of_attention(const inference& call) {
  const auto text = [&](std::size_t i) {
    return std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims);
  };
  for (std::size_t i = 0; i < 3; ++i)
    if (call.in[i].dims.rank() < 2) call.refuse(text(i), "rank 2 or more");
  const shape &query = call.in[0].dims, &key = call.in[1].dims, &value = call.in[2].dims;
  const std::int64_t numbers = query[query.rank() - 1], keys = key[key.rank() - 2];
  if (numbers != key[key.rank() - 1]) call.refuse(text(0) + " and " + text(1), "as many numbers in both");
  if (numbers == 0) call.refuse(text(0), "at least one number");
  if (keys != value[value.rank() - 2]) call.refuse(text(1) + " and " + text(2), "as many keys as values");
  std::optional<shape> batch = shape();
  for (std::size_t i = 0; i < 3 && batch; ++i)
    batch =
        broadcast(*batch, shape(call.in[i].dims.dims().first(static_cast<std::size_t>(call.in[i].dims.rank()) - 2)));
  if (!batch) call.refuse(text(0) + ", " + text(1) + " and " + text(2), "axes before the last two that broadcast");
  return {*batch, query[query.rank() - 2], keys, numbers, value[value.rank() - 1]};
}

/// Rejects masks, from operand `first` on, that do not broadcast to the scores.
constexpr void check_masks(const inference& call, const attention_sizes& of, std::size_t first) {
  const shape scores = with_matrix(of.batch, of.length, of.keys);
  for (std::size_t i = first; i < first + 2; ++i) {
    if (!call.has(i)) continue;
    const std::optional<shape> both = broadcast(scores, call.in[i].dims);
    if (!both || !(*both == scores))
      call.refuse(std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims),
                  "a shape that broadcasts to that of the scores, " + to_string(scores));
  }
}

/// ScaledDotProductAttention: the result [batch..., length, out], and the logarithms of sums [batch..., length]. The
/// logarithms are float32 for half precision, as the sums are.
export constexpr void attention(inference& call) {
  const attention_sizes of = matrices_of_attention(call);
  check_masks(call, of, 3);
  call.give(with_matrix(of.batch, of.length, of.out));
  call.give(with_rows(of.batch, of.length), halves.has(call.compute) ? dtype::float32 : call.compute);
}

/// ScaledDotProductAttentionGrad: a vector of the gradients of query, key and value, one after another.
export constexpr void attention_grad(inference& call) {
  const attention_sizes of = matrices_of_attention(call);
  check_masks(call, of, 6);
  const shape rows = with_rows(of.batch, of.length), result = with_matrix(of.batch, of.length, of.out);
  for (std::size_t i = 3; i < 6; ++i) {
    const shape& wanted = i < 5 ? rows : result;
    if (!(call.in[i].dims == wanted))
      call.refuse(std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims),
                  to_string(wanted));
  }
  call.give({with_matrix(of.batch, of.length, of.numbers).size() + with_matrix(of.batch, of.keys, of.numbers).size() +
             with_matrix(of.batch, of.keys, of.out).size()});
}

}  // namespace kerngrad::shapes
