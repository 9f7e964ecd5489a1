// SPDX-License-Identifier: Apache-2.0
// Typed names of the reductions and scans. Defaults and meanings are those of their rows (docs/ops.md).
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_reduce;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;
import :axes;
import :indexing;

export namespace kerngrad {

/// The sum over axes; all by default. 0 without elements. bool counts as int32. Integers other than int32 give int64;
/// int32 and int64 wrap. `keep_dims` keeps the reduced axes with size 1. Any dtype but text. Differentiable.
inline tensor sum(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Sum">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The mean over axes; all by default. NaN without elements. Floats and complex numbers keep their dtype. bool and
/// integers of 8 and 16 bits give float32, wider ones float64. Differentiable. Homogeneous of degree 1.
inline tensor mean(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Mean">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The product over axes; all by default. 1 without elements. bool counts as int32. Integers other than int32 give
/// int64. Integers wrap. Any dtype but text. Differentiable.
inline tensor prod(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Prod">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The largest element over axes; all by default. NaN if an element is NaN. Without elements it is -infinity, or the
/// smallest integer. Gradient: the elements that equal the result share dy equally; NaN gets 0.
inline tensor max(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Max">(x, attr<"reductionIndices">(over.value()), attr<"keepDims">(keep_dims));
}
/// The smallest element over axes; all by default. NaN if an element is NaN. Without elements it is infinity, or the
/// largest integer. Gradient: the elements that equal the result share dy equally; NaN gets 0.
inline tensor min(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Min">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The type of `all`, which is both a function and an index.
template <fixed_string Op>
  requires known_op<Op>
struct whole_axis_op : detail::whole_axis {
  tensor operator()(const tensor& x, const axes& over = all_axes, bool keep_dims = false) const {
    return call<Op>(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
  }
};
/// True if all elements are true, over axes; all by default: `all(x > 0)`. True without elements. x is bool; other
/// dtypes throw. No gradient. As an index `all` takes a whole axis: `x(all, 0)`.
inline constexpr whole_axis_op<"All"> all;
/// True if any element is true, over axes; all by default. False without elements. x is bool; other dtypes throw. No
/// gradient.
inline tensor any(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Any">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The index of the first largest element along an axis, int32; without an axis, that in the flattened x. Throws for an
/// axis without elements. NaN is ignored unless it is the first element, as in TensorFlow.js: `argmax(tensor({1., nan,
/// 3.}))` is 2. NumPy returns the index of the first NaN. `nanargmax` ignores every NaN. No gradient.
inline tensor argmax(const tensor& x, axis_index axis) { return call<"ArgMax">(x, attr<"axis">(axis.value())); }
inline tensor argmax(const tensor& x) { return argmax(detail::in_a_row(x), 0); }
/// The index of the first smallest element along an axis, int32; without an axis, that in the flattened x. Throws for
/// an axis without elements. NaN is treated as by `argmax`. No gradient.
inline tensor argmin(const tensor& x, axis_index axis) { return call<"ArgMin">(x, attr<"axis">(axis.value())); }
inline tensor argmin(const tensor& x) { return argmin(detail::in_a_row(x), 0); }
/// The running sum along an axis; without an axis, that of the flattened x. `exclusive` leaves the element itself out,
/// so the first result is 0. `reverse` begins at the end of the axis. bool counts as int32. Integers other than int32
/// give int64. Integers wrap. Differentiable.
inline tensor cumsum(const tensor& x, axis_index axis, bool exclusive = false, bool reverse = false) {
  return call<"Cumsum">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
inline tensor cumsum(const tensor& x) { return cumsum(detail::in_a_row(x), 0); }
/// The running product along an axis; without an axis, that of the flattened x. `exclusive` leaves the element itself
/// out, so the first result is 1. `reverse` begins at the end of the axis. bool counts as int32. Integers other than
/// int32 give int64. Integers wrap. Differentiable.
inline tensor cumprod(const tensor& x, axis_index axis, bool exclusive = false, bool reverse = false) {
  return call<"Cumprod">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
inline tensor cumprod(const tensor& x) { return cumprod(detail::in_a_row(x), 0); }
/// The largest element so far along an axis, in x's shape; without an axis, of the flattened x. x has any real dtype;
/// bool counts as int32. The first of equal elements counts, also for the sign of a zero. The result is NaN from the
/// first NaN on. `reverse` begins at the end of the axis. `exclusive` leaves the element itself out, and begins with
/// -infinity or the smallest integer. Differentiable to any order: dy goes to the element that each result came from.
inline tensor cummax(const tensor& x, axis_index axis, bool exclusive = false, bool reverse = false) {
  return call<"CumMax">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
inline tensor cummax(const tensor& x) { return cummax(detail::in_a_row(x), 0); }
/// The smallest element so far along an axis, in x's shape; without an axis, of the flattened x. With `exclusive` it
/// begins with infinity, or the largest integer. The rest is as for `cummax`.
inline tensor cummin(const tensor& x, axis_index axis, bool exclusive = false, bool reverse = false) {
  return call<"CumMin">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
inline tensor cummin(const tensor& x) { return cummin(detail::in_a_row(x), 0); }

}  // namespace kerngrad
