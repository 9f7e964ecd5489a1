// SPDX-License-Identifier: Apache-2.0
// Windows by their formulas (Harris 1978; the coefficients are those of scipy.signal.windows).
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_last_axis;

namespace kerngrad {

using detail::composed;

namespace {

constexpr double pi = std::numbers::pi;

// Element i of a symmetric window of n > 1 elements: `u` goes from -1 to 1, `from_middle` counts elements.
struct point {
  double i, n, u, from_middle;
};
using parameters = std::span<const double>;

// Sum of (-1)^k a[k] cos(2 pi k i / (n - 1)).
template <std::size_t N>
double cosines(const point& at, const double (&a)[N]) {
  double sum = 0;
  for (std::size_t k = 0; k < N; ++k)
    sum += (k % 2 ? -a[k] : a[k]) * std::cos(2 * pi * static_cast<double>(k) * at.i / (at.n - 1));
  return sum;
}

double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (double k = 1; term > sum * 1e-18; ++k) sum += term *= x * x / (4 * k * k);
  return sum;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(pi * x) / (pi * x); }

double triang(const point& at, parameters) {
  const double half = std::fmod(at.n, 2) == 0 ? at.n / 2 : (at.n + 1) / 2;
  return 1 - std::fabs(at.from_middle) / half;
}
double bartlett(const point& at, parameters) { return 1 - std::fabs(at.u); }
double parzen(const point& at, parameters) {
  const double x = std::fabs(at.from_middle) / (at.n / 2);
  return std::fabs(at.from_middle) <= (at.n - 1) / 4 ? 1 - 6 * x * x * (1 - x) : 2 * (1 - x) * (1 - x) * (1 - x);
}
double bohman(const point& at, parameters) {
  const double x = std::fabs(at.u);
  return x == 1 ? 0 : (1 - x) * std::cos(pi * x) + std::sin(pi * x) / pi;
}
double barthann(const point& at, parameters) {
  const double x = std::fabs(at.i / (at.n - 1) - 0.5);
  return 0.62 - 0.48 * x + 0.38 * std::cos(2 * pi * x);
}
double tukey(const point& at, parameters p) {
  const double share = p.empty() ? 0.5 : p[0], beyond = std::fabs(at.u) - (1 - share);
  return beyond <= 0 ? 1 : 0.5 * (1 + std::cos(pi * beyond / share));
}

struct formula {
  std::string_view name;
  std::size_t least, most;  // parameters
  double lower, upper;      // bounds of each parameter
  double (*at)(const point&, parameters);
};
constexpr double any = 1e300, above_0 = 1e-300;
constexpr formula formulas[] = {
    {"boxcar", 0, 0, 0, 0, [](const point&, parameters) { return 1.0; }},
    {"triang", 0, 0, 0, 0, triang},
    {"bartlett", 0, 0, 0, 0, bartlett},
    {"parzen", 0, 0, 0, 0, parzen},
    {"bohman", 0, 0, 0, 0, bohman},
    {"barthann", 0, 0, 0, 0, barthann},
    {"cosine", 0, 0, 0, 0, [](const point& at, parameters) { return std::sin(pi * (at.i + 0.5) / at.n); }},
    {"lanczos", 0, 0, 0, 0, [](const point& at, parameters) { return sinc(at.u); }},
    {"hann", 0, 0, 0, 0, [](const point& at, parameters) { return cosines(at, {0.5, 0.5}); }},
    {"hamming", 0, 0, 0, 0, [](const point& at, parameters) { return cosines(at, {0.54, 0.46}); }},
    {"blackman", 0, 0, 0, 0, [](const point& at, parameters) { return cosines(at, {0.42, 0.5, 0.08}); }},
    {"nuttall", 0, 0, 0, 0,
     [](const point& at, parameters) { return cosines(at, {0.3635819, 0.4891775, 0.1365995, 0.0106411}); }},
    {"blackmanharris", 0, 0, 0, 0,
     [](const point& at, parameters) { return cosines(at, {0.35875, 0.48829, 0.14128, 0.01168}); }},
    {"flattop", 0, 0, 0, 0,
     [](const point& at, parameters) {
       return cosines(at, {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368});
     }},
    {"general_hamming", 1, 1, -any, any, [](const point& at, parameters p) { return cosines(at, {p[0], 1 - p[0]}); }},
    {"kaiser", 1, 1, 0, 700,
     [](const point& at, parameters p) {
       return bessel_i0(p[0] * std::sqrt(std::max(0.0, 1 - at.u * at.u))) / bessel_i0(p[0]);
     }},
    {"gaussian", 1, 1, above_0, any,
     [](const point& at, parameters p) { return std::exp(-0.5 * std::pow(at.from_middle / p[0], 2)); }},
    {"general_gaussian", 2, 2, above_0, any,
     [](const point& at, parameters p) {
       return std::exp(-0.5 * std::pow(std::fabs(at.from_middle / p[1]), 2 * p[0]));
     }},
    {"exponential", 1, 1, above_0, any,
     [](const point& at, parameters p) { return std::exp(-std::fabs(at.from_middle) / p[0]); }},
    {"tukey", 0, 1, 0, 1, tukey},
};

const formula& formula_of(const composed& call, const window_kind& kind) {
  const auto* const found = std::ranges::find(formulas, kind.name(), &formula::name);
  if (found == std::end(formulas)) {
    std::string names;
    for (const formula& each : formulas) names += (names.empty() ? "" : ", ") + std::string(each.name);
    call.refuse("a window named " + kind.name(), "one of " + names);
  }
  const parameters given = kind.parameters();
  if (given.size() < found->least || given.size() > found->most)
    call.refuse(std::to_string(given.size()) + " parameters of the window " + kind.name(), std::to_string(found->most));
  for (const double p : given)
    if (!(p >= found->lower && p <= found->upper))
      call.refuse("parameter " + to_string(attr_value(p)) + " of the window " + kind.name(),
                  found->lower == above_0 ? "a number above 0"
                  : found->upper == any   ? "a finite number"
                                          : "0 to " + to_string(attr_value(found->upper)));
  return *found;
}

}  // namespace

tensor get_window(const window_kind& kind, std::int64_t length, bool periodic, dtype type) {
  constexpr composed call{"get_window"};
  const formula& of = formula_of(call, kind);
  if (length < 0 || length > 1'000'000'000) call.refuse("length " + std::to_string(length), "0 to 10^9");
  if (!floating.has(type)) call.refuse("dtype " + std::string(name_of(type)), to_string(floating));
  if (length == 1) return ones({1}, type);
  const double n = static_cast<double>(periodic ? length + 1 : length);
  return detail::numbers_of_indices(length, type, [&](std::int64_t k) {
    const double i = static_cast<double>(k), from_middle = i - (n - 1) / 2;
    return of.at({i, n, from_middle / ((n - 1) / 2), from_middle}, kind.parameters());
  });
}

}  // namespace kerngrad
