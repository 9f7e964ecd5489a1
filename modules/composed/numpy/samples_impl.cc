// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_scaling;

namespace kerngrad {

using detail::composed;
using detail::narrowed;
using detail::promoted;
using detail::shaped;
using sizes_of = std::vector<std::int64_t>;

namespace {

dtype float_of(dtype type) { return computed_in(lifted(type, lift::quotients), wide_floats); }
tensor in_floats(const tensor& x) { return cast(x, float_of(x.type())); }

// Slices along an axis. Those along the first one lie together, so that they share the memory of x.
tensor part(const tensor& x, int axis, std::int64_t first, std::int64_t count) {
  if (axis == 0) return x(range(first, first + count));
  sizes_of begin(static_cast<std::size_t>(x.rank()), 0), size(begin.size(), -1);
  begin[static_cast<std::size_t>(axis)] = first;
  size[static_cast<std::size_t>(axis)] = count;
  return slice(x, begin, size);
}

// A list that broadcasts along an axis.
tensor along(const tensor& list, int axis, int rank) {
  sizes_of dims(static_cast<std::size_t>(rank), 1);
  dims[static_cast<std::size_t>(axis)] = list.size();
  return reshape(list, shape(dims));
}

// An operand of rank 1 or more, and its axis.
int sampled_axis(const composed& call, const tensor& y, axis_index axis) {
  call.rank("y", y, 1);
  call.real("y", y);
  return call.axis(axis.value(), y.rank());
}

}  // namespace

tensor average(const tensor& x, const tensor& weights, const axes& over, bool keep_dims) {
  constexpr composed call{"average"};
  call.real("x", x);
  call.real("weights", weights);
  const dtype type = promote(x.type(), weights.type()), computed = float_of(type);
  tensor w = cast(weights, computed);
  if (!(x.dims() == weights.dims())) {
    const attr_value& value = over.value();
    const bool one_axis = value.kind() == attr_kind::integer && x.rank() > 0;
    const int axis = one_axis ? call.axis(value.as_integer(), x.rank()) : 0;
    if (!one_axis || weights.rank() != 1 || weights.size() != x.dims()[axis])
      call.refuse(shaped("weights", weights) + " next to " + shaped("x", x),
                  "the shape of x or, with one axis, a list of its size");
    w = broadcast_to(along(w, axis, x.rank()), x.dims());
  }
  return narrowed(sum(cast(x, computed) * w, over, keep_dims) / sum(w, over, keep_dims), type);
}

// ------------------------------------------------------------------------------------------ covariances

namespace {

tensor variables_of(const composed& call, std::string_view name, const tensor& x, bool rowvar) {
  call.rank(name, x, 0, 2);
  call.real(name, x);
  const tensor floats = in_floats(x);
  if (x.rank() < 2) return reshape(floats, {1, x.size()});
  return rowvar ? floats : transpose(floats);
}

tensor observation_weights(const composed& call, std::string_view name, const tensor& weights, const tensor& x) {
  call.rank(name, weights, 1, 1);
  call.real(name, weights);
  if (weights.size() != x.dims()[1])
    call.refuse(shaped(name, weights) + " for " + std::to_string(x.dims()[1]) + " observations", "one for each");
  return cast(weights, x.type());
}

// The sums of the products of two rows, with weights where there are any. A matrix by itself takes half the products.
tensor product_sums(const tensor& x, const tensor& weights) {
  return matmul(weights.defined() ? x * weights : x, x, false, true);
}

// The sums over a divisor. A power of two in both factors keeps the sum of a large mean in range. Small products would
// lose digits by it, so it is for sums that are infinite without it.
tensor mean_products(const tensor& x, const tensor& weights, const tensor& divisor) {
  const tensor sums = product_sums(x, weights), means = sums / divisor;
  if (detail::all_finite(sums)) return means;
  const auto count = static_cast<double>(std::max<std::int64_t>(x.dims()[1], 1));
  const double part = std::exp2(-std::ceil(std::log2(count) / 2));
  return where(is_finite(sums), means, product_sums(x * part, weights) / (divisor * (part * part)));
}

// A matrix also of one variable. `scaled` gives that of rows in units of their own.
tensor covariances(const composed& call, const tensor& x, const cov_options& options, bool scaled = false) {
  tensor all = variables_of(call, "x", x, options.rowvar);
  if (options.y.defined()) {
    const tensor more = variables_of(call, "y", options.y, options.rowvar);
    if (more.dims()[1] != all.dims()[1])
      call.refuse(shaped("y", options.y) + " next to " + shaped("x", x), "as many observations");
    const dtype type = promote(all.type(), more.type());
    all = concat({cast(all, type), cast(more, type)}, 0);
  }
  const auto count = static_cast<double>(all.dims()[1]);
  const auto ddof = static_cast<double>(options.ddof.value_or(options.bias ? 0 : 1));
  const auto in_own_units = [&](const tensor& y) { return scaled ? detail::in_square_units(y, 1).x : y; };
  const bool counted = options.fweights.defined(), valued = options.aweights.defined();
  if (!counted && !valued) {
    const tensor from_mean = in_own_units(all - mean(all, 1, true));
    return mean_products(from_mean, tensor(), full({}, std::max(count - ddof, 0.0), all.type()));
  }
  const tensor one = ones({all.dims()[1]}, all.type());
  const tensor often = counted ? observation_weights(call, "fweights", options.fweights, all) : one;
  // The unit of these weights cancels. Without it, products with small ones are 0.
  const tensor much =
      valued ? detail::in_square_units(observation_weights(call, "aweights", options.aweights, all), 0).x : one;
  const tensor w = often * much, total = sum(w);
  const tensor from_mean = in_own_units(all - sum(all * w, 1, true) / total);
  const tensor lost = valued ? sum(w * much) * ddof / total : full_like(total, ddof);
  return mean_products(from_mean, w, maximum(total - lost, 0));
}

dtype type_of(const tensor& x, const cov_options& options) { return promoted({&x, &options.y}); }

// One variable has a number, not a matrix of it.
tensor without_axes_of_one(const tensor& y) { return y.size() == 1 ? reshape(y, {}) : y; }

}  // namespace

tensor cov(const tensor& x, const cov_options& options) {
  return narrowed(without_axes_of_one(covariances(composed{"cov"}, x, options)), type_of(x, options));
}

tensor corrcoef(const tensor& x, const cov_options& options) {
  // The units of the rows cancel.
  const tensor c = covariances(composed{"corrcoef"}, x, {.y = options.y, .rowvar = options.rowvar}, true);
  const tensor deviation = sqrt(diagonal(c));
  const tensor y = clip(c / expand_dims(deviation, 1) / expand_dims(deviation, 0), -1.0, 1.0);
  return narrowed(without_axes_of_one(y), type_of(x, options));
}

// ------------------------------------------------------------------------------------------ integrals, derivatives

namespace {

// Each is one pass: the steps run on blocks that stay in the cache. Samples are halved first, because sums and
// differences of large ones leave the range. Halves are exact.
constexpr auto areas_of_steps =
    fuse([](auto left, auto right, auto step) { return (right * 0.5 + left * 0.5) * step; });
constexpr auto areas_of_places =
    fuse([](auto left, auto right, auto from, auto to) { return sum((right * 0.5 + left * 0.5) * (to - from)); });
constexpr auto slope_between =
    fuse([](auto left, auto right, auto half_width) { return (right * 0.5 - left * 0.5) / half_width; });
// The scale is a power of two, so that both products are exact.
constexpr auto scaled_slope = fuse([](auto left, auto right, auto scale) { return right * scale - left * scale; });

// All but the last samples, and all but the first ones.
struct neighbors {
  tensor left, right;
  neighbors(const tensor& y, int axis) {
    const std::int64_t count = std::max<std::int64_t>(y.dims()[axis] - 1, 0);
    left = part(y, axis, 0, count), right = part(y, axis, y.dims()[axis] - count, count);
  }
};

tensor distances_between(const composed& call, const tensor& y, const tensor& x, int axis, dtype computed) {
  call.real("x", x);
  const bool is_list = x.rank() == 1 && x.size() == y.dims()[axis];
  if (!is_list && !(x.dims() == y.dims()))
    call.refuse(shaped("x", x) + " next to " + shaped("y", y), "the shape of y or a list of the size of the axis");
  const tensor floats = cast(x, computed), at = is_list ? along(floats, axis, y.rank()) : floats;
  return at.dims()[axis] > 1 ? diff(at, 1, axis) : part(at, axis, 0, 0);
}

// The areas between neighbors.
tensor areas_by(const composed& call, const tensor& y, double dx, axis_index axis) {
  const int at = sampled_axis(call, y, axis);
  const neighbors of(in_floats(y), at);
  return areas_of_steps(of.left, of.right, dx);
}
tensor areas_by(const composed& call, const tensor& y, const tensor& x, axis_index axis) {
  const int at = sampled_axis(call, y, axis);
  call.given("x", x);
  const dtype computed = float_of(promote(y.type(), x.type()));
  const neighbors of(cast(y, computed), at);
  return areas_of_steps(of.left, of.right, distances_between(call, y, x, at, computed));
}

// The integral of samples along an axis, which it drops. Sums on the way may leave the range where the integral does
// not: then the samples are taken in units.
template <class F>
tensor integral_of(const tensor& y, int axis, F integral) {
  const tensor found = integral(y);
  if (y.size() == 0 || detail::all_finite(found)) return found;
  const auto [scaled, unit] = detail::in_product_units(y, axis);
  return unit.defined() ? integral(scaled) * squeeze(unit, axis) : found;
}
// The same for integrals up to each sample. No integral after an infinite one is finite.
template <class F>
tensor integrals_of(const tensor& y, int axis, F integrals) {
  const tensor found = integrals(y);
  if (found.size() == 0 || detail::all_finite(part(found, axis, found.dims()[axis] - 1, 1))) return found;
  const auto [scaled, unit] = detail::in_product_units(y, axis);
  return unit.defined() ? integrals(scaled) * unit : found;
}

}  // namespace

// All samples count once, the ends half as much. Ends are added last, so that no infinite one is subtracted.
tensor trapezoid(const tensor& y, double dx, axis_index axis) {
  constexpr composed call{"trapezoid"};
  const int at = sampled_axis(call, y, axis);
  const tensor floats = in_floats(y);
  const std::int64_t count = y.dims()[at];
  if (count < 2) return narrowed(sum(part(floats, at, 0, 0), axis), y.type());
  const tensor area = integral_of(floats, at, [&](const tensor& f) {
    const tensor ends = sum(part(f, at, 0, 1), axis) * 0.5 + sum(part(f, at, count - 1, 1), axis) * 0.5;
    return (sum(part(f, at, 1, count - 2), axis) + ends) * dx;
  });
  return narrowed(area, y.type());
}
tensor trapezoid(const tensor& y, const tensor& x, axis_index axis) {
  constexpr composed call{"trapezoid"};
  const dtype type = promote(y.type(), x.type());
  const int at = sampled_axis(call, y, axis);
  call.real("x", x);
  const tensor floats = cast(y, float_of(type));
  if (y.rank() == 1 && x.dims() == y.dims() && y.size() > 1) {
    const neighbors places(cast(x, float_of(type)), at);
    const tensor area = integral_of(floats, at, [&](const tensor& f) {
      const neighbors of(f, at);
      return areas_of_places(of.left, of.right, places.left, places.right);
    });
    return narrowed(area, type);
  }
  const auto area = [&](const tensor& f) { return sum(areas_by(call, f, x, axis), axis); };
  return narrowed(integral_of(floats, at, area), type);
}
tensor cumulative_trapezoid(const tensor& y, double dx, axis_index axis) {
  constexpr composed call{"cumulative_trapezoid"};
  const int at = sampled_axis(call, y, axis);
  const auto areas = [&](const tensor& f) { return cumsum(areas_by(call, f, dx, axis), axis); };
  return narrowed(integrals_of(in_floats(y), at, areas), y.type());
}
tensor cumulative_trapezoid(const tensor& y, const tensor& x, axis_index axis) {
  constexpr composed call{"cumulative_trapezoid"};
  const int at = sampled_axis(call, y, axis);
  call.real("x", x);
  const dtype type = promote(y.type(), x.type());
  const auto areas = [&](const tensor& f) { return cumsum(areas_by(call, f, x, axis), axis); };
  return narrowed(integrals_of(cast(y, float_of(type)), at, areas), type);
}

namespace {

// The slope at an end from differences of first order: that of the end and its neighbor, at distances a and b. At
// second order, the line through both derivatives continues to the end.
tensor end_slope(const tensor& nearest, const tensor& next, const tensor& a, const tensor& b, int order) {
  return order == 1 ? nearest : nearest + (nearest * 0.5 - next * 0.5) * (a / (a + b) * 2);
}

void check_samples(const composed& call, const tensor& y, int axis, int edge_order) {
  if (edge_order != 1 && edge_order != 2) call.refuse("edge_order " + std::to_string(edge_order), "1 or 2");
  if (y.dims()[axis] < edge_order + 1)
    call.refuse(shaped("y", y) + " along axis " + std::to_string(axis),
                std::to_string(edge_order + 1) + " samples or more");
}

// The slope of evenly spaced samples is the difference of both neighbors over twice the step.
tensor even_derivative(const composed& call, const tensor& y, double step, int axis, int edge_order) {
  check_samples(call, y, axis, edge_order);
  const std::int64_t count = y.dims()[axis];
  const auto at = [&](std::int64_t i) { return part(y, axis, i, 1); };
  const auto slope = [&](std::int64_t from, std::int64_t to) { return slope_between(at(from), at(to), step * 0.5); };
  // At second order, the line through the slopes between three samples is followed to the end.
  const auto end = [&](std::int64_t i, std::int64_t next, std::int64_t third) {
    const tensor nearest = slope(i, next);
    return edge_order == 1 ? nearest : nearest + (nearest * 0.5 - slope(next, third) * 0.5);
  };
  const tensor first = end(0, 1, 2), last = neg(end(count - 1, count - 2, count - 3));
  if (count == 2) return concat({first, last}, axis);
  const tensor left = part(y, axis, 0, count - 2), right = part(y, axis, 2, count - 2);
  int exponent = 0;  // the inverse of a power of two is exact, and a product is faster than a quotient
  const bool exact = std::fabs(std::frexp(step, &exponent)) == 0.5;
  const tensor inside = exact ? scaled_slope(left, right, 0.5 / step) : slope_between(left, right, step);
  return concat({first, inside, last}, axis);
}

tensor derivative(const composed& call, const tensor& y, const tensor& steps, int axis, int edge_order) {
  check_samples(call, y, axis, edge_order);
  const std::int64_t count = y.dims()[axis];
  const neighbors of(y, axis);
  const tensor slopes = slope_between(of.left, of.right, steps * 0.5);
  const auto slope = [&](std::int64_t at) { return part(slopes, axis, at, 1); };
  const auto step = [&](std::int64_t at) { return part(steps, axis, at, 1); };
  const std::int64_t last = count - 2, second = std::min<std::int64_t>(1, last), before = last - second;
  const tensor first_end = end_slope(slope(0), slope(second), step(0), step(second), edge_order);
  const tensor last_end = end_slope(slope(last), slope(before), step(last), step(before), edge_order);
  if (count == 2) return concat({first_end, last_end}, axis);
  // Between two slopes the nearer one counts more.
  const tensor left = part(steps, axis, 0, last), right = part(steps, axis, 1, last);
  const tensor both = left + right;
  const tensor inside = part(slopes, axis, 0, last) * (right / both) + part(slopes, axis, 1, last) * (left / both);
  return concat({first_end, inside, last_end}, axis);
}

}  // namespace

tensor gradient(const tensor& y, double spacing, axis_index axis, int edge_order) {
  constexpr composed call{"gradient"};
  const int at = sampled_axis(call, y, axis);
  return narrowed(even_derivative(call, in_floats(y), spacing, at, edge_order), y.type());
}
tensor gradient(const tensor& y, const tensor& positions, axis_index axis, int edge_order) {
  constexpr composed call{"gradient"};
  const int at = sampled_axis(call, y, axis);
  call.rank("positions", positions, 1, 1);
  call.real("positions", positions);
  if (positions.size() != y.dims()[at])
    call.refuse(shaped("positions", positions) + " next to " + shaped("y", y), "a list of the size of the axis");
  const dtype type = promote(y.type(), positions.type()), computed = float_of(type);
  const tensor steps = distances_between(call, y, positions, at, computed);
  return narrowed(derivative(call, cast(y, computed), steps, at, edge_order), type);
}

// ------------------------------------------------------------------------------------------ curves

tensor interp(const tensor& x, const tensor& xp, const tensor& fp, const interp_options& options) {
  constexpr composed call{"interp"};
  for (const tensor* operand : {&x, &xp, &fp}) call.real(operand == &x ? "x" : operand == &xp ? "xp" : "fp", *operand);
  call.rank("xp", xp, 1, 1);
  call.one_shape("xp", xp, "fp", fp);
  if (xp.size() == 0) call.refuse(shaped("xp", xp), "one point or more");
  const dtype type = promoted({&x, &xp, &fp}), computed = float_of(type);
  const tensor at = cast(x, computed), points = cast(xp, computed), values = cast(fp, computed);
  const auto [scaled, unit] = detail::in_product_units(values, 0);  // differences and slopes stay in range
  const auto last = static_cast<double>(xp.size() - 1);
  const tensor found = cast(upper_bound(points, at), dtype::int64) - 1;
  const tensor low = minimum(maximum(found, 0), std::max(last - 1, 0.0)), high = minimum(low + 1, last);
  const tensor x0 = gather(points, low), y0 = gather(scaled, low), distance = gather(points, high) - x0;
  const tensor apart = distance != 0;
  const tensor slope = (gather(scaled, high) - y0) / where(apart, distance, ones_like(distance));
  const tensor inside = detail::times_unit(where(apart, slope * (at - x0) + y0, y0), unit);
  const auto end = [&](const std::optional<double>& given, std::int64_t index) {
    return given ? full({}, *given, computed) : reshape(part(values, 0, index, 1), {});
  };
  const tensor first_x = reshape(part(points, 0, 0, 1), {}), last_x = reshape(part(points, 0, xp.size() - 1, 1), {});
  const tensor on_the_last = reshape(part(values, 0, xp.size() - 1, 1), {});
  const tensor up_to_last = where(at == last_x, on_the_last, inside);
  const tensor bounded = where(at > last_x, end(options.right, xp.size() - 1), up_to_last);
  const tensor y = where(at < first_x, end(options.left, 0), bounded);
  return narrowed(where(is_nan(at), at, y), type);
}

tensor interp(double x, const tensor& xp, const tensor& fp, const interp_options& options) {
  composed{"interp"}.real("xp", xp);
  return interp(detail::number_like("kg::interp", detail::number_of(x), in_floats(xp)), xp, fp, options);
}

tensor polyval(const tensor& p, const tensor& x) {
  constexpr composed call{"polyval"};
  call.rank("p", p, 1, 1);
  call.numbers("p", p);
  call.numbers("x", x);
  const dtype type = promote(p.type(), x.type());
  const tensor at = detail::widened(cast(x, type)), coefficients = detail::widened(cast(p, type));
  tensor y = zeros_like(at);
  for (std::int64_t i = 0; i < p.size(); ++i) y = y * at + reshape(part(coefficients, 0, i, 1), {});
  return narrowed(y, type);
}

tensor polyval(const tensor& p, double x) {
  composed{"polyval"}.numbers("p", p);
  return polyval(p, detail::number_like("kg::polyval", detail::number_of(x), p));
}

namespace {

// Polynomials that are orthogonal at weighted positions: their values there, and their coefficients, the lowest power
// first. Each is the one before it times x, less its parts along all earlier ones (Brubeck, Nakatsukasa and Trefethen,
// "Vandermonde with Arnoldi", 2021).
struct orthogonal_polynomial {
  tensor values, coefficients;
};
constexpr auto less_multiple = fuse([](auto a, auto b, auto factor) { return a - b * factor; });
constexpr auto product_sum = fuse([](auto a, auto b) { return sum(a * b); });

// p less its parts along orthogonal ones, to length 1. The second turn removes what rounding left of the first one.
orthogonal_polynomial orthogonal_to(std::span<const orthogonal_polynomial> others, orthogonal_polynomial p) {
  for (int turn = 0; turn < 2 && !others.empty(); ++turn)
    for (const orthogonal_polynomial& other : others) {
      const tensor along = product_sum(p.values, other.values);
      p.values = less_multiple(p.values, other.values, along);
      p.coefficients = p.coefficients - other.coefficients * along;
    }
  const tensor length = sqrt(product_sum(p.values, p.values));
  return {p.values / length, p.coefficients / length};
}

}  // namespace

tensor polyfit(const tensor& x, const tensor& y, std::int64_t degree, const tensor& weights) {
  constexpr composed call{"polyfit"};
  call.rank("x", x, 1, 1);
  call.real("x", x);
  call.one_shape("x", x, "y", y);
  call.real("y", y);
  if (degree < 0 || degree >= x.size())
    call.refuse("degree " + std::to_string(degree) + " for " + std::to_string(x.size()) + " samples",
                "0 to the number of samples less 1");
  const dtype type = promoted({&x, &y, &weights});
  const tensor at = cast(x, dtype::float64);
  tensor rows = ones_like(at), right = cast(y, dtype::float64);
  if (weights.defined()) {
    call.one_shape("weights", weights, "x", x);
    call.real("weights", weights);
    rows = cast(weights, dtype::float64), right = right * rows;
  }
  const std::vector<std::int64_t> up = {1, 0}, constant = {0, degree};
  std::vector<orthogonal_polynomial> basis = {orthogonal_to({}, {rows, pad(ones({1}, dtype::float64), constant)})};
  for (std::int64_t i = 0; i < degree; ++i) {
    const auto& [values, coefficients] = basis.back();
    const tensor raised = part(pad(coefficients, up), 0, 0, degree + 1);
    basis.push_back(orthogonal_to(basis, {values * at, raised}));
  }
  tensor found = zeros({degree + 1}, dtype::float64);
  for (const auto& [values, coefficients] : basis) {
    const tensor along = product_sum(values, right);
    right = less_multiple(right, values, along);
    found = found + coefficients * along;
  }
  return cast(reverse(found, 0), lifted(type, lift::quotients));
}

}  // namespace kerngrad
