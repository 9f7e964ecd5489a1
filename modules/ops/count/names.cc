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

/// Counts how often each of 0, 1, ..., size - 1 occurs in x. x has integers or booleans and any shape; the result is
/// [size]. Elements of `size` and more are dropped; negative ones throw. Counts are int64 for int64 x, else int32. More
/// than 2^31 - 1 elements throw if counts are int32.
inline tensor bincount(const tensor& x, std::int64_t size) { return call<"Bincount">(x, attr<"size">(size)); }
/// Sums the weights of the elements that equal each of 0, 1, ..., size - 1: [size]. `weights` has x's shape, and the
/// result has its dtype. Floats are added in double precision; integers wrap. Weights of shape [0] count elements in
/// their dtype, which rounds large counts. Elements of `size` and more are dropped; negative ones throw. Differentiable
/// in the weights; dropped elements have the gradient 0.
inline tensor bincount(const tensor& x, std::int64_t size, const tensor& weights) {
  return call<"Bincount">(x, weights, attr<"size">(size));
}

/// Options of dense_bincount. `weights` are as in bincount. With `binary` a bin is 1 if it has an element and 0 if not.
/// Weights are then ignored and have the gradient 0.
struct dense_bincount_options {
  tensor weights{};
  bool binary = false;
};
/// Counts the elements of each row of x's last axis, as `bincount`: [..., n] gives [..., size]. x has rank 1 or more.
/// Dtypes and errors are those of `bincount`. Differentiable in the weights.
inline tensor dense_bincount(const tensor& x, std::int64_t size, const dense_bincount_options& options = {}) {
  return call<"DenseBincount">(x, options.weights, attr<"size">(size), attr<"binaryOutput">(options.binary));
}

/// Options of unique. Values are in the order of their first occurrence, or ascending if `sorted` is set.
struct unique_options {
  bool sorted = false;
};
/// The distinct slices of x along an axis, and for each slice of x the int32 index of its value. After `auto [values,
/// indices] = unique(x, axis)`, `gather(values, indices, axis)` is x. Without an axis it compares the elements of the
/// flattened x. Values are in the order of their first occurrence. With `{.sorted = true}` they ascend as NumPy's:
/// slices by their first elements that differ, NaN last. Slices are equal if all their elements are; NaN equals NaN,
/// and -0 equals 0. x has any real or boolean dtype or text, and at most 2^31 - 1 slices. With an axis its rank is 1 or
/// more. Expected time is linear, or n log n for elements chosen to collide. The gradient of a value goes to its first
/// slice; the other slices get 0.
inline auto unique(const tensor& x, axis_index axis, const unique_options& options = {}) {
  return call<"Unique">(x, attr<"axis">(axis.value()), attr<"sorted">(options.sorted));
}
inline auto unique(const tensor& x, const unique_options& options = {}) {
  return unique(detail::in_a_row(x), 0, options);
}

}  // namespace kerngrad
