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
using sizes_of = std::vector<std::int64_t>;

namespace {

// The reduced axes as one, the last; and the shape of a result that keeps them with size 1.
struct reduced_last {
  tensor elements;
  sizes_of kept, all;
};
reduced_last with_reduced_last(const tensor& x, detail::axis_bits reduced) {
  sizes_of perm, back, kept, all;
  for (int i = 0; i < x.rank(); ++i) {
    const bool goes = (reduced >> i) & 1;
    (goes ? back : perm).push_back(i);
    if (!goes) kept.push_back(x.dims()[i]);
    all.push_back(goes ? 1 : x.dims()[i]);
  }
  std::int64_t count = 1;
  for (const std::int64_t axis : back) count *= x.dims()[axis];
  perm.insert(perm.end(), back.begin(), back.end());
  sizes_of dims = kept;
  dims.push_back(count);
  return {reshape(transpose(x, perm), shape(dims)), kept, all};
}

// The number a share of the way from a to b, a <= b. As std::lerp it is never beyond the two and never falls as the
// share rises. A step from a keeps that for numbers of one sign, where the difference does not overflow. A weighted
// sum serves two signs, and infinities, whose difference is NaN. Shares of 0 and 1 are an element itself: an infinite
// one times 0 would be NaN.
tensor interpolated(const tensor& a, const tensor& b, const tensor& share) {
  const tensor end = where(share == 0, a, b);
  const tensor stepped = a + (end - a) * share, weighted = a * (1 - share) + end * share;
  const tensor apart = logical_or(logical_and(a < 0, end > 0), is_inf(a));
  const tensor whole = logical_or(share == 0, share == 1);
  return where(whole, end, where(apart, weighted, where(stepped > end, end, stepped)));
}

// Positions among `count` sorted elements from 0 on, before they are clipped to them: Hyndman and Fan 1996, table 1.
tensor positions(const tensor& count, const tensor& q, quantile_method method) {
  const auto between = [&](double alpha, double beta) { return count * q + (alpha + q * (1 - alpha - beta)) - 1; };
  switch (method) {
    case quantile_method::inverted_cdf:
    case quantile_method::averaged_inverted_cdf: return count * q - 1;
    case quantile_method::closest_observation: return count * q - 1.5;
    case quantile_method::interpolated_inverted_cdf: return between(0, 1);
    case quantile_method::hazen: return between(0.5, 0.5);
    case quantile_method::weibull: return between(0, 0);
    case quantile_method::median_unbiased: return between(1.0 / 3, 1.0 / 3);
    case quantile_method::normal_unbiased: return between(3.0 / 8, 3.0 / 8);
    default: return (count - 1) * q;
  }
}

// The share of the upper neighbor, from the position's fraction.
tensor shares(const tensor& fraction, const tensor& below, quantile_method method) {
  const tensor inside = fraction > 0;
  switch (method) {
    case quantile_method::inverted_cdf:
    case quantile_method::higher: return cast(inside, dtype::float64);
    case quantile_method::averaged_inverted_cdf: return where(inside, 1, full_like(fraction, 0.5));
    // Halfway the observation with an even number wins, where numbers begin with 1.
    case quantile_method::closest_observation: return cast(inside | (mod(below, 2) == 0), dtype::float64);
    case quantile_method::lower: return zeros_like(fraction);
    case quantile_method::midpoint: return where(inside, full_like(fraction, 0.5), 0);
    case quantile_method::nearest: return round(below + fraction) - below;
    default: return fraction;
  }
}

// The quantiles of sorted rows, of which the first `count` elements take part: [rows..., qs].
tensor quantiles_of_sorted(const tensor& sorted, const tensor& count, const tensor& q, quantile_method method) {
  const tensor position = positions(count, q, method), below = floor(position);
  const tensor share = cast(shares(position - below, below, method), sorted.type());
  const tensor last = maximum(count - 1, 0);
  const auto at = [&](const tensor& index) {
    const tensor inside = minimum(maximum(index, 0), last);
    return take_along_axis(sorted, cast(inside, dtype::int64), -1);
  };
  return interpolated(at(below), at(below + 1), share);
}

tensor with_quantiles_first(const tensor& y, const sizes_of& dims, std::int64_t count) {
  sizes_of result(dims);
  result.insert(result.begin(), count);
  const tensor moved = moveaxis(y, -1, 0);
  return reshape(moved, shape(result));
}

// NaN is passed over, or makes its row NaN.
enum class of_nan : bool { passed_over, kept };

struct request {
  std::span<const double> qs;
  double scale = 1;  // of the number that stands for all elements
  const axes& over;
  bool keep_dims;
  quantile_method method;
  of_nan nan;
};

tensor quantiles_of(const composed& call, const tensor& x, const request& of) {
  call.real("x", x);
  if (of.method > quantile_method::nearest)
    call.refuse("method " + std::to_string(static_cast<int>(of.method)), "a quantile_method");
  std::vector<double> shares_of;
  for (const double q : of.qs) {
    if (!(q >= 0 && q <= of.scale))
      call.refuse("q " + to_string(attr_value(q)), "a number from 0 to " + to_string(attr_value(of.scale)));
    shares_of.push_back(q / of.scale);
  }
  const tensor floats = cast(x, computed_in(lifted(x.type(), lift::quotients), wide_floats));
  const reduced_last rows = with_reduced_last(floats, call.axes_of(of.over, x.rank()));
  const auto number = static_cast<std::int64_t>(shares_of.size());
  const std::int64_t length = rows.elements.dims()[rows.elements.rank() - 1];
  sizes_of found_dims(rows.kept);
  found_dims.push_back(number);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  tensor found = full(shape(found_dims), nan, floats.type());
  if (found.size() > 0 && length > 0) {
    const tensor sorted = sort(rows.elements), q(shares_of);
    const tensor numbers = sum(cast(!is_nan(sorted), dtype::float64), -1, true);
    const bool passes = of.nan == of_nan::passed_over;
    const tensor count = passes ? numbers : full_like(numbers, length);
    const tensor is_number = passes ? numbers > 0 : numbers == length;
    found = where(is_number, quantiles_of_sorted(sorted, count, q, of.method), found);
  }
  return narrowed(with_quantiles_first(found, of.keep_dims ? rows.all : rows.kept, number), x.type());
}

tensor quantile_of(const composed& call, const tensor& x, double q, request of) {
  of.qs = {&q, 1};
  return squeeze(quantiles_of(call, x, of), 0);
}

}  // namespace

tensor quantile(const tensor& x, double q, const axes& over, bool keep_dims) {
  return quantile(x, q, over, keep_dims, quantile_method::linear);
}
tensor median(const tensor& x, const axes& over, bool keep_dims) {
  return quantile_of(composed{"median"}, x, 0.5, {{}, 1, over, keep_dims, quantile_method::linear, of_nan::kept});
}
tensor quantile(const tensor& x, double q, const axes& over, bool keep_dims, quantile_method method) {
  return quantile_of(composed{"quantile"}, x, q, {{}, 1, over, keep_dims, method, of_nan::kept});
}
tensor quantile(const tensor& x, std::span<const double> qs, const axes& over, bool keep_dims, quantile_method method) {
  return quantiles_of(composed{"quantile"}, x, {qs, 1, over, keep_dims, method, of_nan::kept});
}
tensor percentile(const tensor& x, double percent, const axes& over, bool keep_dims, quantile_method method) {
  return quantile_of(composed{"percentile"}, x, percent, {{}, 100, over, keep_dims, method, of_nan::kept});
}
tensor percentile(const tensor& x, std::span<const double> percents, const axes& over, bool keep_dims,
                  quantile_method method) {
  return quantiles_of(composed{"percentile"}, x, {percents, 100, over, keep_dims, method, of_nan::kept});
}
tensor nanquantile(const tensor& x, double q, const axes& over, bool keep_dims, quantile_method method) {
  return quantile_of(composed{"nanquantile"}, x, q, {{}, 1, over, keep_dims, method, of_nan::passed_over});
}
tensor nanquantile(const tensor& x, std::span<const double> qs, const axes& over, bool keep_dims,
                   quantile_method method) {
  return quantiles_of(composed{"nanquantile"}, x, {qs, 1, over, keep_dims, method, of_nan::passed_over});
}
tensor nanpercentile(const tensor& x, double percent, const axes& over, bool keep_dims, quantile_method method) {
  return quantile_of(composed{"nanpercentile"}, x, percent, {{}, 100, over, keep_dims, method, of_nan::passed_over});
}
tensor nanmedian(const tensor& x, const axes& over, bool keep_dims) {
  return quantile_of(composed{"nanmedian"}, x, 0.5,
                     {{}, 1, over, keep_dims, quantile_method::linear, of_nan::passed_over});
}

}  // namespace kerngrad
