// SPDX-License-Identifier: Apache-2.0
// Gradients by differences. The loss is a sum of all results with random weights; its derivative in each direction is
// taken with the central stencil of order six, whose error is far below what is asked for.
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/numeric/inner_product.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/zip.hpp>
#include <range/v3/view/zip_with.hpp>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

namespace views = ranges::views;

constexpr double stencil[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};

// Its points: so many steps, to either side.
auto stencil_points() {
  static constexpr int steps[] = {1, 2, 3}, sides[] = {1, -1};
  return views::cartesian_product(steps, sides);
}

// Weights for a tensor's elements, of its dtype.
tensor weights_like(const tensor& x, std::uint64_t seed) {
  stream draw(seed);
  std::vector<double> values(kernels::extent(x.size(), parts_of(x.type())));
  for (double& v : values) v = 0.5 + draw.unit();
  return from_doubles(values, x.dims(), x.type());
}
// Others for each of several.
std::vector<tensor> weights_like_each(std::span<const tensor> xs) {
  return views::zip_with(weights_like, xs, views::iota(std::uint64_t{91})) | ranges::to<std::vector>();
}

// The real number that weighted results add up to, as a differentiable tensor. For complex z and w it takes
// re(z) re(w) + im(z) im(w), so that every part counts.
tensor weighted(const tensor& x, const tensor& w) {
  if (parts_of(x.type()) == 1) return sum(x * w);
  return sum(real(x) * real(w)) + sum(imag(x) * imag(w));
}
double weighted_number(const tensor& x, const tensor& w) {
  const std::vector<double> a = doubles_of(x), b = doubles_of(w);
  if (a.size() != b.size()) return std::numeric_limits<double>::quiet_NaN();  // a gradient of another shape
  return ranges::inner_product(a, b, 0.0);
}

bool counts(const tensor& x) { return differentiable.has(x.type()); }
std::uint64_t weight_seed(int k) { return 17 + static_cast<std::uint64_t>(k); }

tensor loss_of(const tensor_list& results) {
  tensor total;
  for (int k = 0; k < results.size(); ++k) {
    if (!counts(results[k])) continue;
    const tensor part = weighted(results[k], weights_like(results[k], weight_seed(k)));
    total = total.defined() ? total + part : part;
  }
  return total;
}
double loss_number(const tensor_list& results) {
  double total = 0;
  for (int k = 0; k < results.size(); ++k)
    if (counts(results[k])) total += weighted_number(results[k], weights_like(results[k], weight_seed(k)));
  return total;
}

std::vector<tensor> analytic(const results_of& f, std::span<const tensor> xs) {
  return value_and_grads_of([&](std::span<const tensor> leaves) { return loss_of(f(leaves)); }, xs).grads;
}

// The derivative of a real function with respect to every element (and every part of complex ones).
using number_of = std::function<double(std::span<const tensor>)>;
std::vector<std::vector<double>> differences(const number_of& f, std::span<const tensor> xs, double step) {
  std::vector<std::vector<double>> all;
  std::vector<tensor> moved(xs.begin(), xs.end());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    std::vector<double> values = doubles_of(xs[i]);
    std::vector<double> derivatives;
    for (double& value : values) {
      const double kept = value;
      double derivative = 0;
      for (const auto& [k, side] : stencil_points()) {
        value = kept + side * k * step;
        moved[i] = from_doubles(values, xs[i].dims(), xs[i].type());
        derivative += side * stencil[k - 1] * f(moved) / step;
      }
      value = kept;
      derivatives.push_back(derivative);
    }
    moved[i] = xs[i];
    all.push_back(std::move(derivatives));
  }
  return all;
}

bool is_near(double got, double expected, double tolerance) {
  return std::fabs(got - expected) <= tolerance * std::max(1.0, std::fabs(expected));
}

// Gradients against differences: the first that is too far off goes into the report.
void compare(report& found, check by, const derivative_call& call, const std::vector<tensor>& grads,
             const std::vector<std::vector<double>>& expected) {
  found.counted(by);
  for (std::size_t i = 0; i < call.xs.size(); ++i) {
    const std::string of = "operand " + std::to_string(i);
    if (!(grads[i].signature() == call.xs[i].signature()))
      return found.add(by, call.label, "a gradient of another shape or dtype for " + of, "those of the operand");
    const std::vector<double> got = doubles_of(grads[i]);
    for (std::size_t e = 0; e < got.size(); ++e)
      if (!is_near(got[e], expected[i][e], call.at.tolerance))
        return found.add(by, call.label,
                         "gradient " + text_of(got[e]) + " for element " + std::to_string(e) + " of " + of,
                         text_of(expected[i][e]) + " by differences, within " + text_of(call.at.tolerance));
  }
}

// ------------------------------------------------------------------------------------------ forward

// One result along a direction.
struct directed {
  const derivative_call& call;
  int k;

  std::vector<tensor> direction() const { return weights_like_each(call.xs); }
  tensor operator()(std::span<const tensor> xs) const { return call.f(xs)[k]; }
};

// d/dt of f(x + t v) at 0.
std::vector<double> difference_along(const directed& f, const std::vector<tensor>& vs, double step) {
  std::vector<double> derivatives;
  for (const auto& [n, side] : stencil_points()) {
    std::vector<tensor> moved;
    for (const auto& [x, v] : views::zip(f.call.xs, vs)) {
      std::vector<double> at = doubles_of(x);
      const std::vector<double> direction = doubles_of(v);
      for (auto&& [element, along] : views::zip(at, direction)) element += side * n * step * along;
      moved.push_back(from_doubles(at, v.dims(), v.type()));
    }
    const std::vector<double> values = doubles_of(f(moved));
    derivatives.resize(values.size());
    for (auto&& [derivative, value] : views::zip(derivatives, values))
      derivative += side * stencil[n - 1] * value / step;
  }
  return derivatives;
}

void judge_tangent(report& found, const directed& f, const value_and_tangent& got, const std::vector<tensor>& vs) {
  if (!same_bits(got.value, f(f.call.xs)))
    return found.add(check::forward, f.call.label, "another value next to the tangent", "that of the call");
  if (!(got.tangent.signature() == got.value.signature()))
    return found.add(check::forward, f.call.label, "a tangent of another shape or dtype", "those of the value");
  const std::vector<double> tangent = doubles_of(got.tangent), expected = difference_along(f, vs, f.call.at.step);
  for (std::size_t e = 0; e < tangent.size(); ++e)
    if (!is_near(tangent[e], expected[e], f.call.at.tolerance))
      return found.add(check::forward, f.call.label,
                       "tangent " + text_of(tangent[e]) + " in element " + std::to_string(e),
                       text_of(expected[e]) + " by differences, within " + text_of(f.call.at.tolerance));
}

// <dy, J v> is <J^T dy, v>.
void judge_transpose(report& found, const directed& f, const value_and_tangent& forward,
                     const std::vector<tensor>& vs) {
  const value_and_pullback_list backward = vjp_of(f, f.call.xs);
  const tensor dy = weights_like(forward.value, 5);
  const std::vector<tensor> grads = backward.back(dy);
  double right = 0, size = 1;
  for (const auto& [grad, v] : views::zip(grads, vs)) {
    right += weighted_number(grad, v);
    for (double g : doubles_of(grad)) size += std::fabs(g) * 1.5;
  }
  const double left = weighted_number(forward.tangent, dy);
  if (!(std::fabs(left - right) <= f.call.transposed * size))
    found.add(check::forward, f.call.label, "<dy, J v> = " + text_of(left), "<J^T dy, v> = " + text_of(right));
}

}  // namespace

// ------------------------------------------------------------------------------------------ functions

std::optional<int> first_differentiable(const tensor_list& results) {
  for (int k = 0; k < results.size(); ++k)
    if (counts(results[k])) return k;
  return {};
}

void judge_gradient(report& found, const derivative_call& call) {
  const auto number = [&](std::span<const tensor> moved) { return loss_number(call.f(moved)); };
  compare(found, check::gradient, call, analytic(call.f, call.xs), differences(number, call.xs, call.at.step));
}

void judge_half_gradient(report& found, const derivative_call& half, const results_of& in_float32) {
  std::vector<tensor> singles;
  for (const tensor& x : half.xs) singles.push_back(cast(x, dtype::float32));
  const std::vector<tensor> wide = analytic(in_float32, singles);
  // One rounding each of the weights, of dy and of the gradient; sums of them lose as much as their terms.
  std::vector<std::vector<double>> expected;
  double largest = 1;
  for (const tensor& g : wide) {
    expected.push_back(doubles_of(g));
    for (const double v : expected.back()) largest = std::max(largest, std::fabs(v));
  }
  derivative_call call = half;
  call.at.tolerance = 8 * largest * range_of_floats(half.xs[0].type()).epsilon;
  compare(found, check::gradient, call, analytic(half.f, half.xs), expected);
}

// The gradient, projected on random directions, is differentiated both ways.
void judge_second_order(report& found, const derivative_call& call) {
  const std::vector<tensor> along = weights_like_each(call.xs);
  const auto projected = [&](std::span<const tensor> moved) {
    const std::vector<tensor> grads = analytic(call.f, moved);
    tensor total;
    for (const auto& [grad, weights] : views::zip(grads, along)) {
      const tensor part = weighted(grad, weights);
      total = total.defined() ? total + part : part;
    }
    return total;
  };
  const auto number = [&](std::span<const tensor> moved) {
    const std::vector<tensor> grads = analytic(call.f, moved);
    double total = 0;
    for (const auto& [grad, weights] : views::zip(grads, along)) total += weighted_number(grad, weights);
    return total;
  };
  compare(found, check::second_order, call, value_and_grads_of(projected, call.xs).grads,
          differences(number, call.xs, call.at.step));
}

void judge_forward(report& found, const derivative_call& call) {
  const tensor_list results = call.f(call.xs);
  for (int k = 0; k < results.size(); ++k) {
    if (!counts(results[k])) continue;
    const directed f{call, k};
    const std::vector<tensor> vs = f.direction();
    const value_and_tangent got = jvp_of(f, call.xs, vs);
    found.counted(check::forward);
    judge_tangent(found, f, got, vs);
    judge_transpose(found, f, got, vs);
  }
}

}  // namespace kerngrad::testkit::detail

namespace kerngrad::testkit {

report check_function(std::string_view name, const results_of& f, std::span<const tensor> xs, const precision& at) {
  report found(name);
  bool wide = true;
  for (const tensor& x : xs) {
    if (!differentiable.has(x.type()))
      fail("check_function", "a tensor of " + std::string(kerngrad::name_of(x.type())), to_string(differentiable));
    wide = wide && x.type() == dtype::float64;
  }
  const detail::derivative_call call{"at the given values", f, xs, at, wide ? 1e-12 : 1e-5};
  detail::judge_gradient(found, call);
  detail::judge_second_order(found, call);
  detail::judge_forward(found, call);
  return found;
}

}  // namespace kerngrad::testkit
