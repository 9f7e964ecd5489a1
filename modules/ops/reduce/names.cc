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

/// The sum over axes; all by default. bool counts as int32, uint8 as int64; int32 and int64 wrap.
inline tensor sum(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Sum">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The mean over axes. Homogeneous of degree 1.
inline tensor mean(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Mean">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The product over axes. bool counts as int32, uint8 as int64; integers wrap.
inline tensor prod(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Prod">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The largest element over axes.
inline tensor max(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Max">(x, attr<"reductionIndices">(over.value()), attr<"keepDims">(keep_dims));
}
/// The smallest element over axes.
inline tensor min(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Min">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// Type of `all`: a function, and an index.
template <fixed_string Op>
  requires known_op<Op>
struct whole_axis_op : detail::whole_axis {
  tensor operator()(const tensor& x, const axes& over = all_axes, bool keep_dims = false) const {
    return call<Op>(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
  }
};
/// True if all are true, `all(x > 0)`; and the index that takes a whole axis, `x(all, 0)`.
inline constexpr whole_axis_op<"All"> all;
/// True if one is true.
inline tensor any(const tensor& x, const axes& over = all_axes, bool keep_dims = false) {
  return call<"Any">(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
}
/// The index of the first largest element along an axis, int32; without an axis, of all elements in their order. NaN is
/// passed over unless it is the first element, as in TensorFlow.js: `argmax(tensor({1., nan, 3.}))` is 2. NumPy returns
/// the index of the first NaN. `nanargmax` passes over every NaN.
inline tensor argmax(const tensor& x, axis_index axis) { return call<"ArgMax">(x, attr<"axis">(axis.value())); }
inline tensor argmax(const tensor& x) { return argmax(detail::in_a_row(x), 0); }
/// The index of the first smallest element along an axis, int32; without an axis, of all elements in their order. NaN
/// is treated as by `argmax`.
inline tensor argmin(const tensor& x, axis_index axis) { return call<"ArgMin">(x, attr<"axis">(axis.value())); }
inline tensor argmin(const tensor& x) { return argmin(detail::in_a_row(x), 0); }
/// The running sum along an axis; without one, of all elements in their order, on one axis, and neither exclusive nor
/// in reverse. bool counts as int32, uint8 as int64; integers wrap.
inline tensor cumsum(const tensor& x, axis_index axis, bool exclusive = false, bool reverse = false) {
  return call<"Cumsum">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
inline tensor cumsum(const tensor& x) { return cumsum(detail::in_a_row(x), 0); }
/// The running product along an axis; without one, as `cumsum`.
inline tensor cumprod(const tensor& x, axis_index axis, bool exclusive = false, bool reverse = false) {
  return call<"Cumprod">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
inline tensor cumprod(const tensor& x) { return cumprod(detail::in_a_row(x), 0); }
/// The largest element so far along an axis of x, of any real dtype (bool counts as int32), in x's shape: the first one
/// of equal elements, whose sign a zero has, and NaN from the first NaN on. `reverse` walks from the end; `exclusive`
/// leaves the element itself out, so that the walk starts with -infinity, or the least integer of the dtype.
/// Differentiable to any order: dy goes to the element that each result is, the first one on the walk of equal ones or
/// of NaNs, and that of the start to none. Without an axis, as `cumsum`.
inline tensor cummax(const tensor& x, axis_index axis, bool exclusive = false, bool reverse = false) {
  return call<"CumMax">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
inline tensor cummax(const tensor& x) { return cummax(detail::in_a_row(x), 0); }
/// The smallest element so far along an axis, as `cummax`; an exclusive walk starts with infinity, or the greatest
/// integer of the dtype.
inline tensor cummin(const tensor& x, axis_index axis, bool exclusive = false, bool reverse = false) {
  return call<"CumMin">(x, attr<"axis">(axis.value()), attr<"exclusive">(exclusive), attr<"reverse">(reverse));
}
inline tensor cummin(const tensor& x) { return cummin(detail::in_a_row(x), 0); }

}  // namespace kerngrad
