// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops that count elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_count;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;

namespace kerngrad::shapes {

/// True if operand 1 has weights, one for each element of x. An omitted operand and one without elements have none.
constexpr bool has_weights(const inference& call) { return call.has(1) && call.in[1].dims.size() > 0; }

constexpr void check_weights(const inference& call) {
  const shape& x = call.in[0].dims;
  if (has_weights(call) && !(call.in[1].dims == x))
    call.refuse("weights of shape " + to_string(call.in[1].dims),
                "the shape of x, " + to_string(x) + ", or [0] for none");
}

/// Rejects rows with more elements than the dtype of a count can hold. Sums of weights may wrap.
constexpr void check_counts(const inference& call, std::int64_t elements) {
  if (has_weights(call) || call.in[0].dims.size() == 0 || call.compute == dtype::int64 || floating.has(call.compute))
    return;
  if (elements > std::numeric_limits<std::int32_t>::max())
    call.refuse(std::to_string(elements) + " elements to count", "at most 2^31 - 1, which int32 counts",
                "cast them to int64, or count parts of them");
}

/// Bincount: a vector of `size` bins for all elements.
export constexpr void bincount(inference& call) {
  check_weights(call);
  check_counts(call, call.in[0].dims.size());
  call.give({call.attr(place_in(attributes::bincount, "size")).as_integer()});
}

/// DenseBincount: `size` bins for each row of the last axis, which they replace.
export constexpr void dense_bincount(inference& call) {
  const shape& x = call.in[0].dims;
  if (x.rank() == 0) call.refuse("x of rank 0", "rank 1 or more: the elements along the last axis are counted");
  check_weights(call);
  if (!call.attr(place_in(attributes::dense_bincount, "binaryOutput")).as_bool()) check_counts(call, x[x.rank() - 1]);
  call.give(with_axis(x, x.rank() - 1, call.attr(place_in(attributes::dense_bincount, "size")).as_integer()));
}

/// Unique: at most as many values as x has slices, and an index for each slice of x.
export constexpr void unique(inference& call) {
  const shape& x = call.in[0].dims;
  if (x.rank() == 0) call.refuse("x of rank 0", "rank 1 or more: slices along an axis are compared");
  const int axis = axis_of(call, place_in(attributes::unique, "axis"), x.rank());
  if (x[axis] > std::numeric_limits<std::int32_t>::max())
    call.refuse(std::to_string(x[axis]) + " slices", "at most 2^31 - 1, which have numbers in int32");
  call.resolved.set_axis(axis);
  call.give(x);
  call.give({x[axis]});
}

}  // namespace kerngrad::shapes
