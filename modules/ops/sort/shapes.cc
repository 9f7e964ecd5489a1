// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops that order elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_sort;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;

namespace kerngrad::shapes {

/// Checks that int32 holds all indices along an axis of this size.
constexpr void check_index_range(const inference& call, std::int64_t size) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (size > most)
    call.refuse("an axis of size " + std::to_string(size), "at most 2^31 - 1 elements to index by int32");
}

/// ArgSort: an int32 index for every element of x. A scalar has the index 0.
export constexpr void arg_sort(inference& call) {
  const int axis = resolve_axis_along(call);
  if (axis >= 0) check_index_range(call, call.in[0].dims[axis]);
  call.give(call.in[0].dims);
}

/// TopK: x with a last axis of size k, for the values and for the indices.
export constexpr void top_k(inference& call) {
  const shape& x = call.in[0].dims;
  if (x.rank() == 0) call.refuse("x of shape []", "rank 1 or more");
  const std::int64_t k = call.attr(place_in(attributes::top_k, "k")).as_integer(), size = x[x.rank() - 1];
  if (k < 0 || k > size)
    call.refuse("k " + std::to_string(k), "0 to the size of the last axis, " + std::to_string(size));
  check_index_range(call, size);
  const shape y = with_axis(x, x.rank() - 1, k);
  call.give(y);
  call.give(y);
}

/// SearchSorted, LowerBound and UpperBound: an index for every value, in the shape of the values. There is one sequence
/// for all values, or one for each of their rows.
export constexpr void search_sorted(inference& call) {
  const shape &sequences = call.in[0].dims, &values = call.in[1].dims;
  if (sequences.rank() == 0) call.refuse("sortedSequence of shape []", "rank 1 or more");
  check_index_range(call, sequences[sequences.rank() - 1]);
  if (sequences.rank() > 1 && !equal_but_for(values, sequences, sequences.rank() - 1))
    call.refuse("sortedSequence " + to_string(sequences) + " and values " + to_string(values),
                "one sequence, or equal sizes but for the last axis");
  call.give(values);
}

}  // namespace kerngrad::shapes
