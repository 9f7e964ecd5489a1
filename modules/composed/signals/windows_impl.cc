// SPDX-License-Identifier: Apache-2.0
// Windows by their formulas (Harris 1978; the coefficients are those of scipy.signal.windows).
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <utility>
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

// Sum of (-1)^k a[k] cos(2 pi k i / (n - 1)). The cosines of multiples follow from the first one.
template <std::size_t N>
double cosines(const point& at, const double (&a)[N]) {
  const double first = std::cos(2 * pi * at.i / (at.n - 1));
  double before = 1, here = first, sum = a[0];
  for (std::size_t k = 1; k < N; ++k) {
    sum += (k % 2 ? -a[k] : a[k]) * here;
    before = std::exchange(here, 2 * first * here - before);
  }
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

// Taylor's window (Carrara, Goodman and Majewski 1995): cosines whose sum has `nbar` side lobes of one level.
double taylor(const point& at, parameters p) {
  const double nbar = p.empty() ? 4 : p[0], level = p.size() < 2 ? 30 : p[1];
  const double a = std::acosh(std::pow(10, level / 20)) / pi;
  const double widening = nbar * nbar / (a * a + (nbar - 0.5) * (nbar - 0.5));
  double here = 1, middle = 1;
  for (double m = 1; m < nbar; ++m) {
    double factor = std::fmod(m, 2) == 1 ? 1 : -1;
    for (double k = 1; k < nbar; ++k) {
      factor *= 1 - m * m / widening / (a * a + (k - 0.5) * (k - 0.5));
      if (k != m) factor /= 1 - m * m / (k * k);
    }
    here += factor * std::cos(2 * pi * m * at.from_middle / at.n);
    middle += factor;
  }
  return here / middle;
}

// Dolph's window by Chebyshev polynomials: the transform of T(beta cos(pi k / n)), whose side lobes are all as high.
std::vector<double> chebwin(std::int64_t n, parameters p) {
  const double order = static_cast<double>(n - 1), beta = std::cosh(std::acosh(std::pow(10, p[0] / 20)) / order);
  std::vector<double> re, im;
  for (std::int64_t k = 0; k < n; ++k) {
    const double angle = pi * static_cast<double>(k) / static_cast<double>(n), x = beta * std::cos(angle);
    const double value = std::fabs(x) <= 1 ? std::cos(order * std::acos(x))
                         : x > 1           ? std::cosh(order * std::acosh(x))
                                           : (n % 2 ? 1 : -1) * std::cosh(order * std::acosh(-x));
    // Half an element later where there is no middle one.
    re.push_back(n % 2 ? value : value * std::cos(angle));
    im.push_back(n % 2 ? 0 : value * std::sin(angle));
  }
  const std::vector<double> bins = real(fft(complex(tensor(re), tensor(im)))).to_doubles();
  std::vector<double> window(static_cast<std::size_t>(n));
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = n % 2 ? std::abs(i - n / 2) : (i < n / 2 ? n / 2 - i : i - n / 2 + 1);
    largest = std::max(largest, window[static_cast<std::size_t>(i)] = bins[static_cast<std::size_t>(from)]);
  }
  for (double& w : window) w /= largest;
  return window;
}

// The first of Slepian's sequences: the eigenvector of the largest eigenvalue of a symmetric tridiagonal matrix
// (Percival and Walden 1993). It is symmetric, so its recurrence goes from an end to the middle, where it grows.
std::vector<double> dpss(std::int64_t n, parameters p) {
  const double length = static_cast<double>(n), turn = std::cos(2 * pi * p[0] / length);
  const auto diagonal = [&](std::int64_t i) {
    const double half = (length - 1) / 2 - static_cast<double>(i);
    return half * half * turn;
  };
  const auto beside = [&](std::int64_t i) { return static_cast<double>(i) * (length - static_cast<double>(i)) / 2; };
  // Eigenvalues are below x if all pivots of the matrix minus x are negative.
  const auto all_below = [&](double x) {
    double pivot = diagonal(0) - x;
    for (std::int64_t i = 1; i < n && pivot < 0; ++i) pivot = diagonal(i) - x - beside(i) * beside(i) / pivot;
    return pivot < 0;
  };
  double above = length * length, below = -above;
  for (int step = 0; step < 200 && above > std::nextafter(below, above); ++step) {
    const double middle = below + (above - below) / 2;
    (all_below(middle) ? above : below) = middle;
  }
  std::vector<double> window(static_cast<std::size_t>(n), 1);
  const auto at = [&](std::int64_t i) -> double& { return window[static_cast<std::size_t>(i)]; };
  for (std::int64_t i = 0; i + 1 <= (n - 1) / 2; ++i) {
    at(i + 1) = ((above - diagonal(i)) * at(i) - (i > 0 ? beside(i) * at(i - 1) : 0)) / beside(i + 1);
    if (at(i + 1) > 1e200)
      for (std::int64_t k = 0; k <= i + 1; ++k) at(k) /= 1e200;
  }
  double largest = 0;
  for (std::int64_t i = 0; i <= (n - 1) / 2; ++i) largest = std::max(largest, at(i));
  // Without a middle element the largest one lies a little below the top of the curve.
  const double scale = (n % 2 ? 1 : length * length / (length * length + p[0])) / largest;
  for (std::int64_t i = 0; i <= (n - 1) / 2; ++i) at(n - 1 - i) = at(i) *= scale;
  return window;
}

struct formula {
  std::string_view name;
  std::size_t least, most;  // parameters
  double lower, upper;      // bounds of each parameter
  double (*at)(const point&, parameters);
  std::vector<double> (*whole)(std::int64_t, parameters) = nullptr;  // in place of single elements
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
    {"chebwin", 1, 1, 45, 300, nullptr, chebwin},
    {"dpss", 1, 1, above_0, any, nullptr, dpss},
    {"taylor", 0, 2, 1, 100, taylor},
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
                  : found->upper == any
                      ? "a finite number"
                      : to_string(attr_value(found->lower)) + " to " + to_string(attr_value(found->upper)));
  if (kind.name() == "taylor" && !given.empty() && given[0] != std::floor(given[0]))
    call.refuse("parameter " + to_string(attr_value(given[0])) + " of the window taylor", "a number of side lobes");
  return *found;
}

}  // namespace

tensor get_window(const window_kind& kind, std::int64_t length, bool periodic, dtype type) {
  constexpr composed call{"get_window"};
  const formula& of = formula_of(call, kind);
  if (length < 0 || length > 1'000'000'000) call.refuse("length " + std::to_string(length), "0 to 10^9");
  if (!floating.has(type)) call.refuse("dtype " + std::string(name_of(type)), to_string(floating));
  if (length < 2) return ones({length}, type);
  const std::int64_t symmetric = periodic ? length + 1 : length, half = std::min(length, (symmetric + 1) / 2);
  const double n = static_cast<double>(symmetric);
  if (of.name == "dpss" && 2 * kind.parameters()[0] >= n)
    call.refuse("parameter " + to_string(attr_value(kind.parameters()[0])) + " of the window dpss",
                "less than half of the length " + std::to_string(symmetric));
  if (of.whole) {
    std::vector<double> all = of.whole(symmetric, kind.parameters());
    all.resize(static_cast<std::size_t>(length));
    return cast(tensor(all, shape{length}), type);
  }
  const auto fill = [&](std::span<double> all) {
    for (std::int64_t k = 0; k < half; ++k) {
      const double i = static_cast<double>(k), from_middle = i - (n - 1) / 2;
      all[static_cast<std::size_t>(k)] = of.at({i, n, from_middle / ((n - 1) / 2), from_middle}, kind.parameters());
    }
    // Windows are symmetric.
    for (std::int64_t k = half; k < length; ++k)
      all[static_cast<std::size_t>(k)] = all[static_cast<std::size_t>(symmetric - 1 - k)];
  };
  return cast(tensor::build<double>({length}, fill), type);
}

}  // namespace kerngrad
