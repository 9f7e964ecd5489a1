// SPDX-License-Identifier: Apache-2.0
// Gradients by differences. The loss is a sum of all results with random weights; its derivative in each direction is
// taken with the central stencil of order six, whose error is far below what is asked for.
#pragma once
#include <gtest/gtest.h>

#include "tests/support/samples.h"

namespace kgtest {

using results_of = std::function<kg::tensor_list(std::span<const kg::tensor>)>;

struct precision {
  double step, tolerance;
};
inline constexpr precision fine{2e-3, 1e-6};    // float64
inline constexpr precision coarse{1e-2, 4e-3};  // float32 and complex64

/// Weights for a tensor's elements, of its dtype.
inline kg::tensor weights_like(const kg::tensor& x, std::uint64_t seed) {
  stream draw(seed);
  std::vector<double> values(static_cast<std::size_t>(x.size()) * (x.type() == kg::dtype::complex64 ? 2 : 1));
  for (double& v : values) v = 0.5 + draw.unit();
  return from_doubles(values, x.dims(), x.type());
}

/// The real number that weighted results add up to, as a differentiable tensor. For complex z and w it takes
/// re(z) re(w) + im(z) im(w), so that every part counts.
inline kg::tensor weighted(const kg::tensor& x, const kg::tensor& w) {
  if (x.type() != kg::dtype::complex64) return kg::sum(x * w);
  return kg::sum(kg::real(x) * kg::real(w)) + kg::sum(kg::imag(x) * kg::imag(w));
}
inline double weighted_number(const kg::tensor& x, const kg::tensor& w) {
  const std::vector<double> a = doubles_of(x), b = doubles_of(w);
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

inline bool counts(const kg::tensor& x) { return kg::differentiable.has(x.type()); }

inline kg::tensor loss_of(const kg::tensor_list& results) {
  kg::tensor total;
  for (int k = 0; k < results.size(); ++k) {
    if (!counts(results[k])) continue;
    const kg::tensor part = weighted(results[k], weights_like(results[k], 17 + static_cast<std::uint64_t>(k)));
    total = total.defined() ? total + part : part;
  }
  return total;
}
inline double loss_number(const kg::tensor_list& results) {
  double total = 0;
  for (int k = 0; k < results.size(); ++k)
    if (counts(results[k]))
      total += weighted_number(results[k], weights_like(results[k], 17 + static_cast<std::uint64_t>(k)));
  return total;
}

inline std::vector<kg::tensor> analytic(const results_of& f, std::span<const kg::tensor> xs) {
  return kg::value_and_grads_of([&](std::span<const kg::tensor> leaves) { return loss_of(f(leaves)); }, xs).grads;
}

/// The derivative of a real function with respect to every element (and every part of complex ones).
inline std::vector<std::vector<double>> differences(const std::function<double(std::span<const kg::tensor>)>& f,
                                                    std::span<const kg::tensor> xs, double step) {
  constexpr double weight[3] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
  std::vector<std::vector<double>> all;
  std::vector<kg::tensor> moved(xs.begin(), xs.end());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    std::vector<double> values = doubles_of(xs[i]);
    std::vector<double> slopes;
    for (double& value : values) {
      const double kept = value;
      double slope = 0;
      for (int k = 1; k <= 3; ++k)
        for (int side : {1, -1}) {
          value = kept + side * k * step;
          moved[i] = from_doubles(values, xs[i].dims(), xs[i].type());
          slope += side * weight[k - 1] * f(moved) / step;
        }
      value = kept;
      slopes.push_back(slope);
    }
    moved[i] = xs[i];
    all.push_back(std::move(slopes));
  }
  return all;
}

/// The largest error of gradients relative to max(1, |difference|); infinite for wrong shapes, dtypes and NaN.
inline double worst(const std::vector<kg::tensor>& grads, std::span<const kg::tensor> xs,
                    const std::vector<std::vector<double>>& expected) {
  double largest = 0;
  if (grads.size() != xs.size()) return HUGE_VAL;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (!(grads[i].dims() == xs[i].dims()) || grads[i].type() != xs[i].type()) return HUGE_VAL;
    const std::vector<double> got = doubles_of(grads[i]);
    for (std::size_t e = 0; e < got.size(); ++e) {
      const double error = std::fabs(got[e] - expected[i][e]) / std::max(1.0, std::fabs(expected[i][e]));
      largest = std::isfinite(error) ? std::max(largest, error) : HUGE_VAL;
    }
  }
  return largest;
}

inline double first_order_error(const results_of& f, std::span<const kg::tensor> xs, const precision& at) {
  const auto number = [&](std::span<const kg::tensor> moved) { return loss_number(f(moved)); };
  return worst(analytic(f, xs), xs, differences(number, xs, at.step));
}

/// The gradient, projected on random directions, is differentiated both ways.
inline double second_order_error(const results_of& f, std::span<const kg::tensor> xs, const precision& at) {
  std::vector<kg::tensor> along;
  for (std::size_t i = 0; i < xs.size(); ++i) along.push_back(weights_like(xs[i], 91 + i));
  const auto projected = [&](std::span<const kg::tensor> moved) {
    const std::vector<kg::tensor> grads = analytic(f, moved);
    kg::tensor total;
    for (std::size_t i = 0; i < grads.size(); ++i) {
      const kg::tensor part = weighted(grads[i], along[i]);
      total = total.defined() ? total + part : part;
    }
    return total;
  };
  const auto number = [&](std::span<const kg::tensor> moved) {
    const std::vector<kg::tensor> grads = analytic(f, moved);
    double total = 0;
    for (std::size_t i = 0; i < grads.size(); ++i) total += weighted_number(grads[i], along[i]);
    return total;
  };
  return worst(kg::value_and_grads_of(projected, xs).grads, xs, differences(number, xs, at.step));
}

inline void check_first_order(const results_of& f, const std::vector<kg::tensor>& xs, const precision& at) {
  EXPECT_LE(first_order_error(f, xs, at), at.tolerance);
}
inline void check_second_order(const results_of& f, const std::vector<kg::tensor>& xs, const precision& at) {
  EXPECT_LE(second_order_error(f, xs, at), at.tolerance);
}

}  // namespace kgtest
