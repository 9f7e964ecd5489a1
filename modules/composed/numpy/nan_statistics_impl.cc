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

// Each is one pass: the steps run on blocks that stay in the cache, and sums of rows add up these blocks.
constexpr auto counted = fuse([](auto x) { return where(is_nan(x), 0, ones_like(x)); });
constexpr auto numbers_of = fuse([](auto x) { return where(is_nan(x), 0, x); });
constexpr auto counted_in_rows = fuse([](auto x) { return sum(where(is_nan(x), 0, ones_like(x)), -1); });
constexpr auto summed_in_rows = fuse([](auto x) { return sum(where(is_nan(x), 0, x), -1); });
constexpr auto distance_from = fuse([](auto x, auto center) { return where(is_nan(x), 0, x - center); });
constexpr auto squared_distance = fuse([](auto x, auto center) { return square(where(is_nan(x), 0, x - center)); });

// Elements of groups that are not NaN: their number and their sum. Both keep axes.
struct nan_sums {
  tensor count, total;
};
nan_sums sums_of(const composed& call, const tensor& floats, const axes& over) {
  const shape& dims = floats.dims();
  const detail::axis_bits reduced = call.axes_of(over, dims.rank()), all = (detail::axis_bits{1} << dims.rank()) - 1;
  // Groups are rows if they have the last axes: those that follow from the least one on.
  const detail::axis_bits from_least = all & ~((reduced & (~reduced + 1)) - 1);
  if (reduced == 0 || reduced != from_least || floats.size() == 0)
    return {sum(counted(floats), over, true), sum(numbers_of(floats), over, true)};
  const std::int64_t each = call.elements_of(reduced, dims);
  const tensor rows = reshape(floats, {floats.size() / each, each});
  std::vector<std::int64_t> kept(dims.dims().begin(), dims.dims().end());
  for (std::size_t i = 0; i < kept.size(); ++i)
    if ((reduced >> i) & 1) kept[i] = 1;
  const shape groups{std::span<const std::int64_t>(kept)};
  return {reshape(counted_in_rows(rows), groups), reshape(summed_in_rows(rows), groups)};
}

// Number of elements of a group over that of its numbers; 1 instead of a number that is none.
tensor share_of(const tensor& floats, const tensor& numbers) {
  const double size =
      static_cast<double>(floats.size()) / static_cast<double>(std::max<std::int64_t>(numbers.size(), 1));
  return size / where(numbers > 0, numbers, ones_like(numbers));
}

// The mean of the elements that are not NaN; the mean of all is right where their sum leaves the range. It keeps axes.
tensor nan_mean(const composed& call, const tensor& floats, const axes& over) {
  const auto [count, total] = sums_of(call, floats, over);
  const tensor y = total / count;
  if (detail::all_finite(total)) return y;
  return where(is_finite(total), y, mean(with_nan_as(floats, 0), over, true) * share_of(floats, count));
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

// The variance, or its root, of groups of any kind.
tensor any_deviation(const tensor& floats, const tensor& count, const tensor& divisor, const axes& over, bool root) {
  const tensor distances = nan_distances(floats, count, over), share = share_of(floats, divisor);
  return root ? standard_deviation(distances, over, true) * sqrt(share) : variance(distances, over, true) * share;
}

// The variance, or its root. It keeps the axes and is float32 for half precision.
tensor nan_deviation(const composed& call, const tensor& x, const axes& over, std::int64_t ddof, bool root) {
  call.real("x", x);
  const tensor floats = in_floats(x);
  const auto [count, total] = sums_of(call, floats, over);
  const tensor divisor = count - static_cast<double>(ddof);
  const tensor center = total / maximum(count, 1);
  const tensor squares = sum(squared_distance(floats, center), over, true);
  // The squares are right if the mean is near the numbers; otherwise the distances have a mean of their own.
  const tensor y = [&] {
    if (!detail::centred(center, squares / maximum(count, 1))) return any_deviation(floats, count, divisor, over, root);
    const tensor variances = squares / maximum(divisor, 1);
    if (!root) return variances;
    return detail::square_in_range(variances) ? detail::root_of(variances)
                                              : any_deviation(floats, count, divisor, over, root);
  }();
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
  constexpr composed call{"nanmean"};
  call.real("x", x);
  return narrowed(without(nan_mean(call, in_floats(x), over), over, keep_dims), x.type());
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
