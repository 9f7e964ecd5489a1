// SPDX-License-Identifier: Apache-2.0
module;
#include <cmath>
#include <limits>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::narrowed;
using detail::shaped;

namespace {

// The reduced axes as one, the last; and the shape of a result that keeps them with size 1.
struct reduced_last {
  tensor elements;
  std::vector<std::int64_t> kept, all;
};
reduced_last with_reduced_last(const tensor& x, detail::axis_bits reduced) {
  std::vector<std::int64_t> perm, back, kept, all;
  for (int i = 0; i < x.rank(); ++i) {
    const bool goes = (reduced >> i) & 1;
    (goes ? back : perm).push_back(i);
    if (!goes) kept.push_back(x.dims()[i]);
    all.push_back(goes ? 1 : x.dims()[i]);
  }
  std::int64_t count = 1;
  for (const std::int64_t axis : back) count *= x.dims()[axis];
  perm.insert(perm.end(), back.begin(), back.end());
  std::vector<std::int64_t> dims = kept;
  dims.push_back(count);
  return {reshape(transpose(x, perm), shape(dims)), kept, all};
}

// The element of each row at a place.
tensor element_of_rows(const tensor& rows, std::int64_t at) {
  std::vector<std::int64_t> begin(static_cast<std::size_t>(rows.rank()), 0), size(begin.size(), -1);
  begin.back() = at;
  size.back() = 1;
  return squeeze(slice(rows, begin, size), -1);
}

// The number a share of the way from a to b, a <= b: never beyond the two and never falling as the share rises, as
// std::lerp. A step from a keeps that for numbers of one sign, where the difference does not overflow; a weighted sum
// for two signs, and where the difference of infinities is NaN.
tensor interpolated(const tensor& a, const tensor& b, double share) {
  const tensor stepped = a + (b - a) * share, weighted = a * (1 - share) + b * share;
  const tensor apart = logical_or(logical_and(a < 0, b > 0), is_inf(a));
  return where(apart, weighted, where(stepped > b, b, stepped));
}

tensor quantile_of(const composed& call, const tensor& x, double q, const axes& over, bool keep_dims) {
  call.real("x", x);
  if (!(q >= 0 && q <= 1)) call.refuse("q " + to_string(attr_value(q)), "a number from 0 to 1");
  const tensor floats = cast(x, lifted(computed_in(x.type(), wide_floats), lift::quotients));
  const reduced_last rows = with_reduced_last(floats, call.axes_of(over, x.rank()));
  const shape result(keep_dims ? rows.all : rows.kept);
  const std::int64_t count = rows.elements.dims()[rows.elements.rank() - 1];
  if (count == 0) return narrowed(full(result, std::numeric_limits<double>::quiet_NaN(), floats.type()), x.type());
  const tensor sorted = sort(rows.elements);
  const double place = q * static_cast<double>(count - 1), below = std::floor(place);
  const auto at = static_cast<std::int64_t>(below);
  const tensor low = element_of_rows(sorted, at);
  // Without the other element where there is nothing to interpolate: an infinite one would make NaN.
  const tensor between = place == below ? low : interpolated(low, element_of_rows(sorted, at + 1), place - below);
  const tensor last = element_of_rows(sorted, count - 1);
  return narrowed(reshape(where(is_nan(last), last, between), result), x.type());
}

}  // namespace

tensor quantile(const tensor& x, double q, const axes& over, bool keep_dims) {
  return quantile_of(composed{"quantile"}, x, q, over, keep_dims);
}
tensor median(const tensor& x, const axes& over, bool keep_dims) {
  return quantile_of(composed{"median"}, x, 0.5, over, keep_dims);
}

difference_parts list_difference(const tensor& x, const tensor& y) {
  constexpr composed call{"list_difference"};
  call.rank("x", x, 1, 1);
  call.rank("y", y, 1, 1);
  if (x.type() != y.type())
    call.refuse(
        "operands x and y of dtypes " + std::string(name_of(x.type())) + " and " + std::string(name_of(y.type())),
        "one dtype", "cast one of them");
  tensor stays = ones(x.dims(), dtype::boolean);
  if (x.size() > 0 && y.size() > 0) {
    // A number that is in y has elements between its two bounds. Adding 0 makes -0, which sorts apart, equal to 0.
    const auto plain = [](const tensor& t) { return floating.has(t.type()) ? t + 0 : t; };
    const tensor sorted = sort(plain(y)), wanted = plain(x);
    stays = lower_bound(sorted, wanted) == upper_bound(sorted, wanted);
  }
  const tensor indices = squeeze(nonzero(stays), -1);
  return {gather(x, indices), indices};
}

}  // namespace kerngrad
