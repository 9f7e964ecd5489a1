// SPDX-License-Identifier: Apache-2.0
module;
#include <limits>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::narrowed;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// x with a number in place of NaN.
tensor with_nan_as(const tensor& x, double value) {
  return floating.has(x.type()) ? where(is_nan(x), full({}, value, x.type()), x) : x;
}

// Operands as floats whose quotients are taken: half precision as float32, integers as `mean` has them.
tensor in_floats(const tensor& x) { return cast(x, lifted(computed_in(x.type(), wide_floats), lift::quotients)); }

// Mean and number of the elements that are not NaN. Both keep the axes.
struct nan_moments {
  tensor mean, count;
};
nan_moments nan_moments_of(const tensor& floats, const axes& over) {
  const tensor count = cast(sum(cast(!is_nan(floats), dtype::int64), over, true), floats.type());
  return {sum(with_nan_as(floats, 0), over, true) / count, count};
}

tensor without(const tensor& y, const axes& over, bool keep_dims) { return keep_dims ? y : squeeze(y, over); }

// The variance keeps the axes; it is float32 for half precision.
tensor nan_variance(const composed& call, const tensor& x, const axes& over, std::int64_t ddof) {
  call.real("x", x);
  const tensor floats = in_floats(x);
  const nan_moments of = nan_moments_of(floats, over);
  const tensor distance = with_nan_as(floats - of.mean, 0);
  const tensor divisor = of.count - static_cast<double>(ddof);
  const tensor folded = sum(square(where(is_nan(floats), zeros_like(distance), distance)), over, true);
  return where(divisor > 0, folded / divisor, not_a_number);
}

// The greatest or the least of the numbers. Infinity in place of NaN never wins against one.
tensor nan_extreme(const composed& call, const tensor& x, const axes& over, bool keep_dims, bool greatest) {
  call.real("x", x);
  const tensor numbers = with_nan_as(x, greatest ? -infinite : infinite);
  const tensor y = greatest ? max(numbers, over, keep_dims) : min(numbers, over, keep_dims);
  return floating.has(x.type()) ? where(all(is_nan(x), over, keep_dims), not_a_number, y) : y;
}

tensor nan_place(const composed& call, const tensor& x, axis_index axis, bool greatest) {
  call.real("x", x);
  call.axis(axis.value(), x.rank());
  if (!floating.has(x.type())) return greatest ? argmax(x, axis) : argmin(x, axis);
  const tensor is_none = is_nan(x);
  if (any(all(is_none, axis)).item() != 0) call.refuse("a slice without numbers", "a number in each slice");
  // An infinity in place of NaN may stand before an infinite element: then the first one that is a number is taken.
  const tensor numbers = with_nan_as(x, greatest ? -infinite : infinite);
  const tensor extreme = greatest ? max(numbers, axis, true) : min(numbers, axis, true);
  return argmax(cast(x == extreme, dtype::int32), axis);
}

}  // namespace

tensor nansum(const tensor& x, const axes& over, bool keep_dims) {
  composed{"nansum"}.real("x", x);
  return sum(with_nan_as(x, 0), over, keep_dims);
}
tensor nanprod(const tensor& x, const axes& over, bool keep_dims) {
  composed{"nanprod"}.real("x", x);
  return prod(with_nan_as(x, 1), over, keep_dims);
}
tensor nanmean(const tensor& x, const axes& over, bool keep_dims) {
  composed{"nanmean"}.real("x", x);
  return narrowed(without(nan_moments_of(in_floats(x), over).mean, over, keep_dims), x.type());
}
tensor nanmax(const tensor& x, const axes& over, bool keep_dims) {
  return nan_extreme(composed{"nanmax"}, x, over, keep_dims, true);
}
tensor nanmin(const tensor& x, const axes& over, bool keep_dims) {
  return nan_extreme(composed{"nanmin"}, x, over, keep_dims, false);
}
tensor nanvar(const tensor& x, const axes& over, bool keep_dims, std::int64_t ddof) {
  return narrowed(without(nan_variance(composed{"nanvar"}, x, over, ddof), over, keep_dims), x.type());
}
tensor nanstd(const tensor& x, const axes& over, bool keep_dims, std::int64_t ddof) {
  const tensor variance = nan_variance(composed{"nanstd"}, x, over, ddof);
  return narrowed(without(detail::root_of(variance), over, keep_dims), x.type());
}

tensor nanargmax(const tensor& x, axis_index axis) { return nan_place(composed{"nanargmax"}, x, axis, true); }
tensor nanargmax(const tensor& x) {
  constexpr composed call{"nanargmax"};
  call.given("x", x);
  return nan_place(call, flatten(x), 0, true);
}
tensor nanargmin(const tensor& x, axis_index axis) { return nan_place(composed{"nanargmin"}, x, axis, false); }
tensor nanargmin(const tensor& x) {
  constexpr composed call{"nanargmin"};
  call.given("x", x);
  return nan_place(call, flatten(x), 0, false);
}

tensor nancumsum(const tensor& x, axis_index axis) {
  composed{"nancumsum"}.real("x", x);
  return cumsum(with_nan_as(x, 0), axis);
}
tensor nancumsum(const tensor& x) {
  composed{"nancumsum"}.real("x", x);
  return cumsum(with_nan_as(x, 0));
}
tensor nancumprod(const tensor& x, axis_index axis) {
  composed{"nancumprod"}.real("x", x);
  return cumprod(with_nan_as(x, 1), axis);
}
tensor nancumprod(const tensor& x) {
  composed{"nancumprod"}.real("x", x);
  return cumprod(with_nan_as(x, 1));
}

}  // namespace kerngrad
