// SPDX-License-Identifier: Apache-2.0
module;
#include <limits>
#include <string>
#include <vector>
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

// Each is one pass: the steps run on blocks that stay in the cache.
constexpr auto counted = fuse([](auto x) { return where(is_nan(x), 0, ones_like(x)); });
constexpr auto square_from = fuse([](auto x, auto center) { return square(where(is_nan(x), 0, x - center)); });

// Mean and number of the elements that are not NaN. Both keep the axes.
struct nan_moments {
  tensor mean, count;
};
nan_moments nan_moments_of(const tensor& floats, const axes& over) {
  const tensor count = sum(counted(floats), over, true);
  return {sum(with_nan_as(floats, 0), over, true) / count, count};
}

tensor slice_of_axis(const tensor& x, int axis, std::int64_t begin, std::int64_t size) {
  std::vector<std::int64_t> begins(static_cast<std::size_t>(x.rank()), 0), sizes(begins.size(), -1);
  begins[static_cast<std::size_t>(axis)] = begin;
  sizes[static_cast<std::size_t>(axis)] = size;
  return slice(x, begins, sizes);
}

tensor without(const tensor& y, const axes& over, bool keep_dims) { return keep_dims ? y : squeeze(y, over); }

// The variance keeps the axes; it is float32 for half precision.
tensor nan_variance(const composed& call, const tensor& x, const axes& over, std::int64_t ddof) {
  call.real("x", x);
  const tensor floats = in_floats(x);
  const nan_moments of = nan_moments_of(floats, over);
  const tensor divisor = of.count - static_cast<double>(ddof);
  const tensor folded = sum(square_from(floats, of.mean), over, true);
  return where(divisor > 0, folded / divisor, not_a_number);
}

// The greatest or the least of the floats by an op, which gives `none` for a slice without numbers.
template <fixed_string Op>
tensor nan_extreme(const tensor& x, const axes& over, bool keep_dims, double none) {
  const tensor y = call<Op>(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
  if (any(y == none).item() == 0) return y;
  return where(all(is_nan(x), over, keep_dims), not_a_number, y);
}

tensor nan_place(const composed& call, const tensor& x, axis_index axis, bool greatest) {
  call.real("x", x);
  const int at = call.axis(axis.value(), x.rank());
  const tensor place = greatest ? argmax(x, axis) : argmin(x, axis);
  if (!floating.has(x.type()) || x.size() == 0) return place;
  // argmax passes over NaN but for the first element of a slice: slices that begin with one are looked at again.
  const tensor first = x.rank() == 0 ? x : slice_of_axis(x, at, 0, 1);
  if (any(is_nan(first)).item() == 0) return place;
  const tensor extreme = greatest ? nanmax(x, axis, true) : nanmin(x, axis, true);
  if (any(is_nan(extreme)).item() != 0) call.refuse("a slice without numbers", "a number in each slice");
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
  composed{"nanmax"}.real("x", x);
  return floating.has(x.type()) ? nan_extreme<"NanMax">(x, over, keep_dims, -infinite) : max(x, over, keep_dims);
}
tensor nanmin(const tensor& x, const axes& over, bool keep_dims) {
  composed{"nanmin"}.real("x", x);
  return floating.has(x.type()) ? nan_extreme<"NanMin">(x, over, keep_dims, infinite) : min(x, over, keep_dims);
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
