// SPDX-License-Identifier: Apache-2.0
// Calls of reductions and scans, with masks and without.
#include <algorithm>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool keeps(in s, int place) { return s.truth("keepdim", place); }

// The divisor of a variance is the number of elements less this: 1 unless told.
std::int64_t lost_degrees(in s, int place) {
  if (s.has("correction")) return s.whole("correction", -1);
  return s.truth("unbiased", place, true) ? 1 : 0;
}

// The second argument of var(x, unbiased) is no axis.
bool second_is_truth(in s) { return s.count() > 1 && s.raw("", 1).is_boolean(); }

kg::tensor variance_of(in s) {
  if (second_is_truth(s)) return kg::variance(s.x(), kg::all_axes, false, s.truth("", 1) ? 1 : 0);
  return kg::variance(s.x(), s.axes("dim", 1), keeps(s, 3), lost_degrees(s, 2));
}

kg::tensor mean_beside(in s) {
  if (second_is_truth(s)) return kg::mean(s.x());
  return kg::mean(s.x(), s.axes("dim", 1), keeps(s, 3));
}

// ---- extremes

// max(x), max(x, dim) with the indices, and max(x, y).
template <bool Greatest>
results extreme(in s) {
  const kg::tensor x = s.x();
  if (s.count() > 1 && !s.is_number(1)) return list_of(Greatest ? kg::maximum(x, s.x(1)) : kg::minimum(x, s.x(1)));
  if (!s.has("dim", 1)) return list_of(Greatest ? kg::max(x) : kg::min(x));
  const auto axis = s.whole("dim", 1);
  const bool keep = keeps(s, 2);
  const kg::tensor flat = x.rank() == 0 ? kg::reshape(x, {1}) : x;
  kg::tensor index = Greatest ? kg::argmax(flat, axis) : kg::argmin(flat, axis);
  if (keep && x.rank() > 0) index = kg::expand_dims(index, axis);
  return {Greatest ? kg::max(x, axis, keep) : kg::min(x, axis, keep), index};
}

template <bool Greatest>
results extreme_index(in s) {
  const kg::tensor x = s.x();
  if (!s.has("dim", 1)) {
    const kg::tensor index = Greatest ? kg::argmax(x) : kg::argmin(x);
    return list_of(keeps(s, 2)
                       ? kg::reshape(index, kg::shape(std::vector<std::int64_t>(static_cast<std::size_t>(x.rank()), 1)))
                       : index);
  }
  const auto axis = s.whole("dim", 1);
  const bool keep = keeps(s, 2);
  if (x.rank() == 0) return list_of(Greatest ? kg::argmax(x) : kg::argmin(x));
  const kg::tensor index = Greatest ? kg::argmax(x, axis) : kg::argmin(x, axis);
  return list_of(keep ? kg::expand_dims(index, axis) : index);
}

// The least index at which the running extreme is: of the last of equal elements, as PyTorch's.
template <bool Greatest>
results running_extreme(in s) {
  const auto axis = s.whole("dim", 1);
  const kg::tensor x = s.x();
  if (x.rank() == 0) return {x, kg::zeros({}, kg::dtype::int64)};
  const kg::tensor y = Greatest ? kg::cummax(x, axis) : kg::cummin(x, axis);
  const std::int64_t last = axis < 0 ? axis + x.rank() : axis;
  std::vector<std::int64_t> dims(static_cast<std::size_t>(x.rank()), 1);
  dims[static_cast<std::size_t>(last)] = x.dims()[static_cast<int>(last)];
  const kg::tensor places =
      kg::reshape(kg::arange(0, dims[static_cast<std::size_t>(last)], 1, kg::dtype::int32), kg::shape(dims));
  return {y, kg::cummax(kg::where(x == y, kg::broadcast_to(places, x.dims()), 0), axis)};
}

// ---- order

kg::tensor lower_median(const kg::tensor& x, std::int64_t axis) {
  const std::int64_t size = x.dims()[static_cast<int>(axis < 0 ? axis + x.rank() : axis)];
  return kg::take(kg::sort(x, {.axis = axis}), kg::tensor({static_cast<std::int32_t>((size - 1) / 2)}), axis);
}

results median(in s) {
  const kg::tensor x = s.x();
  if (!s.has("dim", 1)) return list_of(kg::squeeze(lower_median(kg::ravel(x), 0)));
  throw skip{"the index of the median"};
}

results quantiles(in s) {
  if (s.text("interpolation", -1, "linear") != "linear") throw skip{"quantiles without interpolation"};
  const kg::axes over = s.axes("dim", 2);
  const bool keep = keeps(s, 3);
  if (s.is_number(1)) return list_of(kg::quantile(s.x(), s.number("q", 1), over, keep));
  const kg::tensor q = s.x(1);
  if (q.rank() == 0) return list_of(kg::quantile(s.x(), q.item<double>(), over, keep));
  std::vector<kg::tensor> parts;
  for (const double at : q.to_doubles()) parts.push_back(kg::quantile(s.x(), at, over, keep));
  return list_of(kg::stack(parts, 0));
}

// ---- NaN

kg::tensor numbers_in(const kg::tensor& x) { return kg::floating.has(x.type()) ? kg::where(kg::isnan(x), 0, x) : x; }

kg::tensor mean_of_numbers(in s) {
  const kg::tensor x = s.x();
  const kg::axes over = s.axes("dim", 1);
  const bool keep = keeps(s, 2);
  return s.typed(kg::sum(numbers_in(x), over, keep) / kg::cast(kg::sum(!kg::isnan(x), over, keep), x.type()));
}

// ---- integrals and differences

kg::tensor halves_of_neighbours(in s, std::int64_t axis) {
  const kg::tensor y = kg::moveaxis(s.x(), axis, -1);
  kg::tensor sums = y(kg::ellipsis, kg::range(1, kg::end)) + y(kg::ellipsis, kg::range(0, -1));
  if (s.has("dx")) sums = sums * s.number("dx", -1);
  if (s.has("x", 1)) {
    const kg::tensor places = s.x(1).rank() == s.x().rank() ? kg::moveaxis(s.x(1), axis, -1) : s.x(1);
    sums = sums * kg::diff(places);
  }
  return sums * 0.5;
}

kg::tensor differences(in s) {
  const auto axis = s.whole("dim", 2, -1);
  if (s.whole("n", 1, 1) == 0) return s.has("prepend", 3), s.has("append", 4), s.x();
  std::vector<kg::tensor> parts;
  if (s.has("prepend", 3)) parts.push_back(s.tensor("prepend", 3));
  parts.push_back(s.x());
  if (s.has("append", 4)) parts.push_back(s.tensor("append", 4));
  return kg::diff(parts.size() > 1 ? kg::concat(parts, axis) : s.x(), s.whole("n", 1, 1), axis);
}

// A matrix of one variable is a scalar in PyTorch.
kg::tensor covariance(const kg::tensor& rows, std::int64_t lost) {
  if (rows.rank() > 2) throw skip{"the covariance of other than a matrix"};
  const kg::tensor x = rows.rank() < 2 ? kg::reshape(rows, {1, -1}) : rows, c = x - kg::mean(x, 1, true);
  const kg::tensor y = kg::matmul(c, kg::conj(c), false, true) / static_cast<double>(x.dims()[1] - lost);
  return y.size() == 1 ? kg::reshape(y, {}) : y;
}

kg::tensor correlation(const kg::tensor& x) {
  if (x.rank() < 2) throw skip{"the correlation of one variable"};
  const kg::tensor c = x - kg::mean(x, 1, true), r = c / kg::euclidean_norm(c, 1, true);
  const kg::tensor y = kg::matmul(r, kg::conj(r), false, true);
  return y.size() == 1 ? kg::reshape(y, {}) : y;
}

// The logarithm of running sums of exponentials: of each sum by itself, since a later element may be far larger.
kg::tensor running_logarithm(const kg::tensor& x, std::int64_t axis) {
  if (x.rank() == 0) return kg::identity(x);
  const kg::tensor rows = kg::moveaxis(x, axis, -1);
  const std::int64_t size = rows.dims()[rows.rank() - 1];
  if (size == 0) return kg::identity(x);
  const kg::tensor terms = kg::where(kg::tril(kg::ones({size, size})) != 0, kg::expand_dims(rows, -2), -infinity);
  return kg::moveaxis(kg::logsumexp(terms), -1, axis);
}

// ---- with masks

// x with another number where the mask is false.
kg::tensor masked(in s, double otherwise) {
  if (!s.has("mask")) return s.x();
  const kg::tensor x = s.x();
  return kg::where(kg::broadcast_to(s.tensor("mask"), x.dims()), x, kg::full_like(x, otherwise));
}

// x with the least or the greatest number of its dtype where the mask is false.
kg::tensor masked_by_end(in s, bool least) {
  const kg::tensor x = s.x();
  if (!s.has("mask")) return x;
  if (!kg::integral.has(x.type())) return masked(s, least ? -infinity : infinity);
  using whole = std::numeric_limits<std::int64_t>;
  const std::int64_t end = x.type() == kg::dtype::uint8 ? (least ? 0 : 255) : least ? whole::min() : whole::max();
  return kg::where(kg::broadcast_to(s.tensor("mask"), x.dims()), x, kg::cast(kg::tensor(end), x.type()));
}

// How many elements count.
kg::tensor counted(in s, const kg::axes& over, bool keep) {
  const kg::tensor x = s.x();
  if (!s.has("mask")) return kg::sum(kg::ones_like(x), over, keep);
  return kg::cast(kg::sum(kg::broadcast_to(s.tensor("mask"), x.dims()), over, keep), x.type());
}

results masked_mean(in s) {
  const kg::axes over = s.axes("dim", 1);
  if (!kg::floating.has(s.x().type())) throw skip{"a masked mean of integers"};
  return list_of(s.typed(kg::sum(masked(s, 0), over, keeps(s, 2)) / counted(s, over, keeps(s, 2))));
}

kg::tensor masked_variance(in s) {
  const kg::axes over = s.axes("dim", 1);
  if (!kg::floating.has(s.x().type())) throw skip{"a masked variance of integers"};
  const kg::tensor mean = kg::sum(masked(s, 0), over, true) / counted(s, over, true), distance = s.x() - mean;
  const kg::tensor squares = s.has("mask") ? kg::where(kg::broadcast_to(s.tensor("mask"), s.x().dims()),
                                                       kg::square(distance), kg::zeros_like(distance))
                                           : kg::square(distance);
  const double lost = s.truth("unbiased", 2, true) ? 1 : 0;
  return kg::sum(squares, over, keeps(s, 3)) / kg::maximum(counted(s, over, keeps(s, 3)) - lost, 0);
}

// PyTorch gives the indices the operand's dtype.
template <bool Greatest>
results masked_index(in s) {
  const kg::tensor x = masked_by_end(s, Greatest);
  const auto of_type = [&](const kg::tensor& index) { return list_of(kg::cast(index, s.x().type())); };
  if (!s.has("dim", 1)) return of_type(Greatest ? kg::argmax(x) : kg::argmin(x));
  const auto axis = s.whole("dim", 1);
  const kg::tensor index = x.rank() == 0 ? kg::zeros({}, kg::dtype::int32)
                           : Greatest    ? kg::argmax(x, axis)
                                         : kg::argmin(x, axis);
  return of_type(keeps(s, 2) && x.rank() > 0 ? kg::expand_dims(index, axis) : index);
}

constexpr call_line lines[] = {
    {"reductions", "sum", [](in s) { return list_of(kg::sum(s.typed(s.x()), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "mean", [](in s) { return list_of(kg::mean(s.typed(s.x()), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "prod", [](in s) { return list_of(kg::prod(s.typed(s.x()), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "amax", [](in s) { return list_of(kg::max(s.x(), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "amin", [](in s) { return list_of(kg::min(s.x(), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "aminmax",
     [](in s) -> results {
       // A scalar with an axis that is kept has that axis.
       const kg::tensor x = s.x().rank() == 0 && keeps(s, -1) ? kg::reshape(s.x(), {1}) : s.x();
       const kg::axes over = s.axes("dim", -1);
       return {kg::min(x, over, keeps(s, -1)), kg::max(x, over, keeps(s, -1))};
     }},
    {"reductions", "max", extreme<true>},
    {"reductions", "min", extreme<false>},
    {"reductions", "argmax", extreme_index<true>},
    {"reductions", "argmin", extreme_index<false>},
    {"reductions", "all", [](in s) { return list_of(kg::all(s.x() != 0, s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "any", [](in s) { return list_of(kg::any(s.x() != 0, s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "var", [](in s) { return list_of(variance_of(s)); }},
    {"reductions", "std", [](in s) { return list_of(kg::sqrt(variance_of(s))); }},
    {"reductions", "var_mean", [](in s) -> results { return {variance_of(s), mean_beside(s)}; }},
    {"reductions", "std_mean", [](in s) -> results { return {kg::sqrt(variance_of(s)), mean_beside(s)}; }},
    {"reductions", "median", median},
    {"reductions", "quantile", quantiles},
    {"reductions", "count_nonzero", [](in s) { return list_of(kg::count_nonzero(s.x(), s.axes("dim", 1))); }},
    {"reductions", "nansum",
     [](in s) { return list_of(kg::sum(s.typed(numbers_in(s.x())), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "nanmean", [](in s) { return list_of(mean_of_numbers(s)); }},
    {"reductions", "cumsum", [](in s) { return list_of(kg::cumsum(s.typed(s.x()), s.whole("dim", 1))); }},
    {"reductions", "cumprod", [](in s) { return list_of(kg::cumprod(s.typed(s.x()), s.whole("dim", 1))); }},
    {"reductions", "cummax", running_extreme<true>},
    {"reductions", "cummin", running_extreme<false>},
    {"reductions", "logcumsumexp", [](in s) { return list_of(running_logarithm(s.x(), s.whole("dim", 1))); }},
    {"reductions", "logsumexp",
     [](in s) {
       const kg::axes over = s.axes("dim", 1);
       const kg::tensor x = kg::floating.has(s.x().type()) ? s.x() : kg::cast(s.x(), kg::dtype::float32);
       const kg::tensor most = kg::stop_gradient(kg::max(x, over, true));
       const kg::tensor y = kg::log(kg::sum(kg::exp(x - most), over, true)) + most;
       return list_of(keeps(s, 2) ? y : kg::sum(y, over));
     }},
    {"reductions", "trapezoid",
     [](in s) { return list_of(kg::sum(halves_of_neighbours(s, s.whole("dim", 2, -1)), -1)); }},
    {"reductions", "trapz", [](in s) { return list_of(kg::sum(halves_of_neighbours(s, s.whole("dim", 2, -1)), -1)); }},
    {"reductions", "cumulative_trapezoid",
     [](in s) {
       const auto axis = s.whole("dim", 2, -1);
       return list_of(kg::moveaxis(kg::cumsum(halves_of_neighbours(s, axis), -1), -1, axis));
     }},
    {"reductions", "diff", [](in s) { return list_of(differences(s)); }},
    {"reductions", "cov", [](in s) { return list_of(covariance(s.x(), s.whole("correction", -1, 1))); }},
    {"reductions", "corrcoef", [](in s) { return list_of(correlation(s.x())); }},
    {"reductions", "bincount",
     [](in s) {
       const double largest = s.x().size() == 0 ? -1 : kg::max(s.x()).item();
       const auto size = std::max(static_cast<std::int64_t>(largest) + 1, s.whole("minlength", 2, 0));
       if (!s.has("weights", 1)) return list_of(kg::bincount(s.x(), size));
       const kg::tensor weights = s.tensor("weights", 1);  // PyTorch adds up integers in float64
       return list_of(kg::bincount(s.x(), size,
                                   kg::integral.has(weights.type()) ? kg::cast(weights, kg::dtype::float64) : weights));
     }},
    {"reductions", "masked.sum",
     [](in s) { return list_of(kg::sum(s.typed(masked(s, 0)), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "masked.prod",
     [](in s) { return list_of(kg::prod(s.typed(masked(s, 1)), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "masked.amax",
     [](in s) { return list_of(kg::max(masked_by_end(s, true), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "masked.amin",
     [](in s) { return list_of(kg::min(masked_by_end(s, false), s.axes("dim", 1), keeps(s, 2))); }},
    {"reductions", "masked.argmax", masked_index<true>},
    {"reductions", "masked.argmin", masked_index<false>},
    {"reductions", "masked.mean", masked_mean},
    {"reductions", "masked.var", [](in s) { return list_of(masked_variance(s)); }},
    {"reductions", "masked.std", [](in s) { return list_of(kg::sqrt(masked_variance(s))); }},
    {"reductions", "masked.cumsum", [](in s) { return list_of(kg::cumsum(s.typed(masked(s, 0)), s.whole("dim", 1))); }},
    {"reductions", "masked.cumprod",
     [](in s) { return list_of(kg::cumprod(s.typed(masked(s, 1)), s.whole("dim", 1))); }},
};

}  // namespace

std::span<const call_line> reductions_calls() { return lines; }

}  // namespace opinfo
