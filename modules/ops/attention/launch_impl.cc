// SPDX-License-Identifier: Apache-2.0
// The launcher of attention and its gradient.
module;
#include <algorithm>
#include "kernels/attention/attention.h"
#include "kernels/common/abi.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {
namespace {

// Steps of an operand whose axes are aligned at the last one.
kernels::attention_steps steps_of(const shape& dims, int batch_rank) {
  kernels::attention_steps steps{};
  std::int64_t stride = 1;
  for (int axis = dims.rank() - 1, from_end = 0; axis >= 0; --axis, ++from_end) {
    std::int64_t& step = from_end == 0   ? steps.column
                         : from_end == 1 ? steps.row
                                         : steps.batch[batch_rank + 1 - from_end];
    step = dims[axis] == 1 ? 0 : stride;
    stride *= dims[axis];
  }
  return steps;
}

}  // namespace

// The masks are the last operands. The rows of operand 3 of the gradient, logSum, are those of the forward pass's
// second result.
void attention(const launch_call& c) {
  const bool backward = c.out.size() == 1;
  const shape &query = c.in[0].dims, &value = c.in[2].dims, &rows = backward ? c.in[3].dims : c.out[1].dims;
  kernels::attention_geometry g{};
  g.length = query[query.rank() - 2];
  g.numbers = query[query.rank() - 1];
  g.keys = value[value.rank() - 2];
  g.out = value[value.rank() - 1];
  g.batch_rank = rows.rank() - 1;
  std::copy_n(rows.begin(), g.batch_rank, g.batch_dims);
  g.scale = c.call.attr(place_in(attributes::attention, "scale")).as_number();
  g.causal = c.call.attr(place_in(attributes::attention, "causal")).as_bool();
  g.query = steps_of(query, g.batch_rank);
  g.key = steps_of(c.in[1].dims, g.batch_rank);
  g.value = steps_of(value, g.batch_rank);
  const std::size_t bias = backward ? 6 : 3, seen = bias + 1;
  if (c.call.has(bias)) g.bias = steps_of(c.in[bias].dims, g.batch_rank);
  if (c.call.has(seen)) g.seen = steps_of(c.in[seen].dims, g.batch_rank);
  const void* in[8] = {};
  for (std::size_t i = 0; i < c.in.size(); ++i) in[i] = c.call.has(i) ? c.in[i].data : nullptr;
  void* out[] = {c.out[0].data, backward ? nullptr : c.out[1].data};
  c.kernel.run(in, out, &g);
}

}  // namespace kerngrad::launch
