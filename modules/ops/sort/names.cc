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

/// Axis and order of a sort. A negative `axis` counts from the back.
struct sort_options {
  axis_index axis = -1;
  bool descending = false;
};
/// Sorts the elements along an axis; the last by default. The result has x's shape and dtype, which may be any but
/// complex and text. NaN comes last, in descending order first, and becomes the quiet NaN without sign; -0 is less than
/// 0. A scalar is one element. Throws for an axis that x does not have. Differentiable to any order: dy goes to the
/// positions that `argsort` returns.
inline tensor sort(const tensor& x, const sort_options& options = {}) {
  return call<"Sort">(x, attr<"axis">(options.axis.value()), attr<"descending">(options.descending));
}
template <class Axis>
  requires number<Axis>
tensor sort(const tensor& x, Axis axis) {
  return sort(x, {.axis = axis});
}
/// The indices that sort x along an axis: int32 of x's shape. Equal elements keep their order, in descending order too.
/// Here -0 equals 0, and NaN equals NaN and is larger than all numbers. x has any real dtype or bool. Throws for an
/// axis that x does not have, or that has more than 2^31 - 1 elements. No gradient.
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

/// The index at which each value belongs in an ascending sequence: the number of elements less than the value. The
/// result is int32 in the shape of `values`. A vector `sequences` [n] serves all values. `sequences` [..., n] has one
/// sequence for each row of `values` [..., m], with the same leading axes. Throws for other shapes and for more than
/// 2^31 - 1 elements. The order of a sequence is not checked; an unsorted one gives some index from 0 to n. NaN is
/// larger than all numbers. Dtypes are real or bool and are promoted. No gradient.
inline tensor lower_bound(const tensor& sequences, const tensor& values) {
  return call<"LowerBound">(sequences, values);
}
/// The number of elements of an ascending sequence that are not larger than each value: the index after the elements
/// that equal it. Operands, dtypes and errors are those of `lower_bound`.
inline tensor upper_bound(const tensor& sequences, const tensor& values) {
  return call<"UpperBound">(sequences, values);
}
/// The index at which each value belongs in an ascending sequence: `lower_bound`, or `upper_bound` if `right` is set.
/// Operands, dtypes and errors are those of `lower_bound`.
inline tensor search_sorted(const tensor& sequences, const tensor& values, bool right = false) {
  return call<"SearchSorted">(sequences, values, attr<"side">(right ? "right" : "left"));
}
/// The index at which each value belongs in an ascending sequence, with the arguments of numpy.searchsorted: `side` is
/// "left" or "right". The rest is as for `lower_bound`.
inline tensor searchsorted(const tensor& sequences, const tensor& values, std::string_view side = "left") {
  return call<"SearchSorted">(sequences, values, attr<"side">(side));
}

}  // namespace kerngrad
