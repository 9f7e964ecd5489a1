// SPDX-License-Identifier: Apache-2.0
// Typed names of the ops that order elements. NaN is greater than all numbers in each of them.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_sort;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :axes;

export namespace kerngrad {

/// Axis and order of a sort. `axis` counts from the back if it is negative.
struct sort_options {
  axis_index axis = -1;
  bool descending = false;
};
/// Sorts the elements along an axis: x's shape and dtype, which may be any but complex. NaN comes last, in descending
/// order first, and becomes the quiet NaN without sign; -0 is less than 0. A scalar is one element. Throws for an axis
/// that x does not have. Differentiable to any order: dy goes to the positions that `argsort` returns.
inline tensor sort(const tensor& x, const sort_options& options = {}) {
  return call<"Sort">(x, attr<"axis">(options.axis.value()), attr<"descending">(options.descending));
}
template <class Axis>
  requires number<Axis>
tensor sort(const tensor& x, Axis axis) {
  return sort(x, {.axis = axis});
}
/// The indices that sort x along an axis, int32, of x's shape. The order is stable in both directions: equal elements,
/// -0 and 0, and all NaN keep theirs. Throws for an axis that x does not have, or that has more than 2^31 - 1 elements.
inline tensor argsort(const tensor& x, const sort_options& options = {}) {
  return call<"ArgSort">(x, attr<"axis">(options.axis.value()), attr<"descending">(options.descending));
}
template <class Axis>
  requires number<Axis>
tensor argsort(const tensor& x, Axis axis) {
  return argsort(x, {.axis = axis});
}

/// The `k` largest elements along the last axis, in descending order, and their int32 indices: `auto [values, indices]
/// = top_k(x, 3)`. Among equal elements the first ones are taken, and come first; NaN is the largest. Throws for a
/// scalar, and for k below 0 or above the size of the axis. The values are differentiable to any order: their gradient
/// goes to their positions.
inline std::array<tensor, 2> top_k(const tensor& x, std::int64_t k = 1) { return call<"TopK">(x, attr<"k">(k)); }

/// The index at which each value belongs in an ascending sequence, int32 of the shape of `values`: the number of
/// elements less than it. `sequences` [n] serves all values. `sequences` [..., n] has one sequence for each row of
/// `values` [..., m], with the same leading axes. Throws for other shapes and for more than 2^31 - 1 elements. The
/// order of a sequence is not checked; an unsorted one gives some index from 0 to n. All dtypes but complex ones; two
/// are promoted. Not differentiable.
inline tensor lower_bound(const tensor& sequences, const tensor& values) {
  return call<"LowerBound">(sequences, values);
}
/// The number of elements of an ascending sequence that are not larger than each value: the index after those that
/// equal it. Operands, dtypes and errors are those of `lower_bound`.
inline tensor upper_bound(const tensor& sequences, const tensor& values) {
  return call<"UpperBound">(sequences, values);
}
/// `lower_bound`, or `upper_bound` if `right` is set.
inline tensor search_sorted(const tensor& sequences, const tensor& values, bool right = false) {
  return call<"SearchSorted">(sequences, values, attr<"side">(right ? "right" : "left"));
}
/// `search_sorted` with the arguments of numpy.searchsorted: `side` is "left" or "right".
inline tensor searchsorted(const tensor& sequences, const tensor& values, std::string_view side = "left") {
  return call<"SearchSorted">(sequences, values, attr<"side">(side));
}

}  // namespace kerngrad
