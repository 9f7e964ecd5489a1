// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_scaling;
import :tape;

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
tensor in_floats(const tensor& x) { return cast(x, computed_in(lifted(x.type(), lift::quotients), wide_floats)); }

// Each is one pass: the steps run on blocks that stay in the cache.
constexpr auto counted = fuse([](auto x) { return where(is_nan(x), 0, ones_like(x)); });
constexpr auto distance_from = fuse([](auto x, auto center) { return where(is_nan(x), 0, x - center); });

tensor count_of(const tensor& floats, const axes& over) { return sum(counted(floats), over, true); }

// Number of elements of a group over that of its numbers; 1 instead of a number that is none.
tensor share_of(const tensor& floats, const tensor& numbers) {
  const double size =
      static_cast<double>(floats.size()) / static_cast<double>(std::max<std::int64_t>(numbers.size(), 1));
  return size / where(numbers > 0, numbers, ones_like(numbers));
}

// The mean of the elements that are not NaN; the mean of all is right where their sum leaves the range. It keeps axes.
tensor nan_mean(const tensor& floats, const axes& over) {
  const tensor count = count_of(floats, over), numbers = with_nan_as(floats, 0);
  const tensor total = sum(numbers, over, true), y = total / count;
  if (detail::all_finite(total)) return y;
  return where(is_finite(total), y, mean(numbers, over, true) * share_of(floats, count));
}

tensor slice_of_axis(const tensor& x, int axis, std::int64_t begin, std::int64_t size) {
  std::vector<std::int64_t> begins(static_cast<std::size_t>(x.rank()), 0), sizes(begins.size(), -1);
  begins[static_cast<std::size_t>(axis)] = begin;
  sizes[static_cast<std::size_t>(axis)] = size;
  return slice(x, begins, sizes);
}

tensor without(const tensor& y, const axes& over, bool keep_dims) { return keep_dims ? y : squeeze(y, over); }

// The distances of the numbers from a center, and in place of NaN their mean: they have the variance of the numbers,
// which does not depend on the center, times the share of the numbers.
tensor nan_distances(const tensor& floats, const tensor& count, const axes& over) {
  const tensor share = share_of(floats, count);
  const tensor center = [&] {
    const detail::unrecorded pause;
    return mean(with_nan_as(floats, 0), over, true) * share;
  }();
  const tensor distances = distance_from(floats, center);
  return where(is_nan(floats), mean(distances, over, true) * share, distances);
}

// The variance, or its root. It keeps the axes and is float32 for half precision.
tensor nan_deviation(const composed& call, const tensor& x, const axes& over, std::int64_t ddof, bool root) {
  call.real("x", x);
  const tensor floats = in_floats(x), count = count_of(floats, over);
  const tensor divisor = count - static_cast<double>(ddof), share = share_of(floats, divisor);
  const tensor distances = nan_distances(floats, count, over);
  const tensor y =
      root ? standard_deviation(distances, over, true) * sqrt(share) : variance(distances, over, true) * share;
  return where(divisor > 0, y, not_a_number);
}

// The greatest or the least of the floats by an op, which gives `none` for a slice without numbers.
template <fixed_string Op>
tensor nan_extreme(const tensor& x, const axes& over, bool keep_dims, double none) {
  const tensor y = call<Op>(x, attr<"axis">(over.value()), attr<"keepDims">(keep_dims));
  if (any(y == none).item() == 0) return y;
  return where(all(is_nan(x), over, keep_dims), not_a_number, y);
}

tensor nan_index(const composed& call, const tensor& x, axis_index axis, bool greatest) {
  call.real("x", x);
  const int at = call.axis(axis.value(), x.rank());
  const tensor index = greatest ? argmax(x, axis) : argmin(x, axis);
  if (!floating.has(x.type()) || x.size() == 0) return index;
  // argmax passes over NaN but for the first element of a slice: slices that begin with one are looked at again.
  const tensor first = x.rank() == 0 ? x : slice_of_axis(x, at, 0, 1);
  if (any(is_nan(first)).item() == 0) return index;
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
  return narrowed(without(nan_mean(in_floats(x), over), over, keep_dims), x.type());
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
  const tensor y = nan_deviation(composed{"nanvar"}, x, over, ddof, false);
  return narrowed(without(y, over, keep_dims), x.type());
}
tensor nanstd(const tensor& x, const axes& over, bool keep_dims, std::int64_t ddof) {
  const tensor y = nan_deviation(composed{"nanstd"}, x, over, ddof, true);
  return narrowed(without(y, over, keep_dims), x.type());
}

tensor nanargmax(const tensor& x, axis_index axis) { return nan_index(composed{"nanargmax"}, x, axis, true); }
tensor nanargmax(const tensor& x) {
  constexpr composed call{"nanargmax"};
  call.given("x", x);
  return nan_index(call, flatten(x), 0, true);
}
tensor nanargmin(const tensor& x, axis_index axis) { return nan_index(composed{"nanargmin"}, x, axis, false); }
tensor nanargmin(const tensor& x) {
  constexpr composed call{"nanargmin"};
  call.given("x", x);
  return nan_index(call, flatten(x), 0, false);
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
