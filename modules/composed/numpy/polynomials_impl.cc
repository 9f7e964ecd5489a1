// SPDX-License-Identifier: Apache-2.0
// Roots of polynomials by the simultaneous iteration of Aberth and Ehrlich, from Bini's starting points (1996).
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad {

using detail::composed;
using detail::shaped;

namespace {

using point = std::complex<double>;
using numbers = std::vector<double>;

// p(z), p'(z) and the sum of |a[k]| |z|^k, which bounds the rounding error of p(z). For |z| > 1 all are those of the
// reversed polynomial at 1 / z, so that no power overflows.
struct value_at {
  point p, slope;
  double size;
};
value_at horner(std::span<const double> lowest_first, point z, bool reversed) {
  value_at at{0, 0, 0};
  const double radius = std::abs(z);
  const std::size_t n = lowest_first.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double a = lowest_first[reversed ? i : n - 1 - i];
    at.slope = at.slope * z + at.p;
    at.p = at.p * z + a;
    at.size = at.size * radius + std::fabs(a);
  }
  return at;
}

// Radii of the starting points: slopes of the upper convex hull of (k, log |a[k]|) tell how many roots are how large.
std::vector<point> starting_points(std::span<const double> a) {
  const std::size_t degree = a.size() - 1;
  std::vector<std::size_t> hull;
  const auto height = [&](std::size_t k) { return std::log(std::fabs(a[k])); };
  for (std::size_t k = 0; k <= degree; ++k) {
    if (a[k] == 0) continue;
    const auto below = [&](std::size_t i, std::size_t j) {  // j is not above the line from i to k
      return (height(j) - height(i)) * static_cast<double>(k - i) <=
             (height(k) - height(i)) * static_cast<double>(j - i);
    };
    while (hull.size() > 1 && below(hull[hull.size() - 2], hull.back())) hull.pop_back();
    hull.push_back(k);
  }
  std::vector<point> points;
  for (std::size_t e = 1; e < hull.size(); ++e) {
    const std::size_t from = hull[e - 1], count = hull[e] - from;
    const double radius = std::exp((height(from) - height(hull[e])) / static_cast<double>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const double angle = 2 * std::numbers::pi *
                               (static_cast<double>(i) / static_cast<double>(count) +
                                static_cast<double>(e) / static_cast<double>(degree)) +
                           0.7;
      points.push_back(std::polar(radius, angle));
    }
  }
  return points;
}

// Newton's correction p / p' of the whole polynomial at z, and whether p(z) is as small as its rounding error.
point newton_step(std::span<const double> a, point z, bool& done) {
  const double degree = static_cast<double>(a.size() - 1);
  const bool outside = std::abs(z) > 1;
  const point at = outside ? 1.0 / z : z;
  const value_at v = horner(a, at, outside);
  done = std::abs(v.p) <= 4 * degree * std::numeric_limits<double>::epsilon() * v.size;
  if (!outside) return v.p / v.slope;
  // With r(w) = w^n p(1 / w): p / p' = 1 / (w (n - w r' / r)).
  return 1.0 / (at * (degree - at * v.slope / v.p));
}

bool iterate(std::span<const double> a, std::vector<point>& z) {
  std::vector<bool> finished(z.size());
  constexpr int most_steps = 500;
  for (int step = 0; step < most_steps; ++step) {
    bool all = true;
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (finished[i]) continue;
      bool small = false;
      const point newton = newton_step(a, z[i], small);
      if (newton == 0.0 || !std::isfinite(std::abs(newton))) {
        finished[i] = small;
        if (!small) z[i] *= point(1, 1e-3), all = false;  // a stationary point
        continue;
      }
      point others = 0;
      for (std::size_t j = 0; j < z.size(); ++j)
        if (j != i && z[j] != z[i]) others += 1.0 / (z[i] - z[j]);
      const point change = newton / (1.0 - newton * others);
      z[i] -= change;
      finished[i] = small || std::abs(change) <= std::numeric_limits<double>::epsilon() * std::abs(z[i]);
      all = all && finished[i];
    }
    if (all) return true;
  }
  return false;
}

}  // namespace

tensor roots(const tensor& coefficients) {
  constexpr composed call{"roots"};
  call.rank("coefficients", coefficients, 1, 1);
  call.real("coefficients", coefficients);
  numbers a = coefficients.to_doubles();
  for (const double v : a)
    if (!std::isfinite(v)) call.refuse("a coefficient " + to_string(attr_value(v)), "finite numbers");
  const auto first = std::ranges::find_if(a, [](double v) { return v != 0; });
  a.erase(a.begin(), first);
  std::size_t zeros_behind = 0;
  while (!a.empty() && a.back() == 0) a.pop_back(), ++zeros_behind;
  std::vector<point> found;
  if (a.size() > 1) {
    std::ranges::reverse(a);
    // A common factor changes no root; it keeps sums of large coefficients finite.
    const double largest = std::fabs(*std::ranges::max_element(a, {}, [](double v) { return std::fabs(v); }));
    for (double& v : a) v /= largest;
    if (a.back() == 0 || a.front() == 0)
      call.refuse("coefficients from " + to_string(attr_value(largest)) + " to below 1e-308 of that",
                  "sizes that doubles hold next to each other", "scale the variable");
    found = starting_points(a);
    if (!iterate(a, found))
      call.refuse("a polynomial whose roots were not found in 500 steps", "coefficients of nearer sizes",
                  "scale the variable");
  }
  found.resize(found.size() + zeros_behind);
  numbers re, im;
  for (const point z : found) {
    // An imaginary part below the rounding of the real one is rounding.
    const bool is_real = std::abs(z.imag()) < std::numeric_limits<double>::epsilon() * std::abs(z.real());
    re.push_back(z.real()), im.push_back(is_real ? 0 : z.imag());
  }
  const shape dims{static_cast<std::int64_t>(found.size())};
  return complex(tensor(re, dims), tensor(im, dims));
}

}  // namespace kerngrad
