// SPDX-License-Identifier: Apache-2.0
// Typed names of the ops that count elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_count;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :axes;

export namespace kerngrad {

/// How often x, integers or booleans of any shape, has each of 0, 1, ..., size - 1: a result of shape [size]. Elements
/// of `size` and more are dropped, negative ones rejected. Counts are int64 where x is, else int32: then more than 2^31
/// - 1 elements throw.
inline tensor bincount(const tensor& x, std::int64_t size) { return call<"Bincount">(x, attr<"size">(size)); }
/// The sum of the weights, of x's shape, at each of them, in the dtype of the weights: floats are added up in double
/// precision, integers wrap. Weights of shape [0] are none: then it counts, in their dtype, in which a large count is
/// rounded. Differentiable in the weights; those of dropped elements have the gradient 0.
inline tensor bincount(const tensor& x, std::int64_t size, const tensor& weights) {
  return call<"Bincount">(x, weights, attr<"size">(size));
}

/// Options of dense_bincount: weights as those of bincount. With `binary`, a bin is 1 if it has an element and 0 if
/// not; weights then do not count, and have the gradient 0.
struct dense_bincount_options {
  tensor weights{};
  bool binary = false;
};
/// bincount of each row of x's last axis: [..., n] gives [..., size]. x has rank 1 or more.
inline tensor dense_bincount(const tensor& x, std::int64_t size, const dense_bincount_options& options = {}) {
  return call<"DenseBincount">(x, options.weights, attr<"size">(size), attr<"binaryOutput">(options.binary));
}

/// Options of unique. Values come in the order of their first appearance, and in ascending order if `sorted` is set.
struct unique_options {
  bool sorted = false;
};
/// The distinct slices of x along an axis, or without one its distinct elements, and for each slice of x, in int32,
/// which of them it is: `auto [values, indices] = unique(x, axis)`, with which `gather(values, indices, axis)` is x.
/// They come in the order of their first appearance by default, in ascending order with `{.sorted = true}` as NumPy's:
/// slices by their first elements that differ, NaN last. Any real or boolean dtype or text, rank 1 or more with an
/// axis, at most 2^31 - 1 slices. Slices are equal when all of their elements are; NaN equals NaN, and -0 equals 0.
/// Expected time is linear, n log n for elements chosen to collide.
///
/// Gradient: that of a value goes to the slice that came first, the others have 0.
inline auto unique(const tensor& x, axis_index axis, const unique_options& options = {}) {
  return call<"Unique">(x, attr<"axis">(axis.value()), attr<"sorted">(options.sorted));
}
inline auto unique(const tensor& x, const unique_options& options = {}) {
  return unique(detail::in_a_row(x), 0, options);
}

}  // namespace kerngrad
