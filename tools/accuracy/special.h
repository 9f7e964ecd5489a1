// SPDX-License-Identifier: Apache-2.0
// The special functions from their definitions, in numbers of MPFR with 160 bits.
#pragma once
#include <mpfr.h>

#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "tools/accuracy/number.h"

namespace kgspecial {

using kgaccuracy::number;

inline number lgamma(number x) {
  int sign;
  mpfr_lgamma(x.get(), &sign, x.get(), MPFR_RNDN);
  return x;
}
inline number expi(number x) {
  mpfr_eint(x.get(), x.get(), MPFR_RNDN);
  return x;
}
inline number bessel_j0(number x) {
  mpfr_j0(x.get(), x.get(), MPFR_RNDN);
  return x;
}
inline number bessel_j1(number x) {
  mpfr_j1(x.get(), x.get(), MPFR_RNDN);
  return x;
}

/// The y with erf(y) = x, by Newton's steps on erfc. x is inside of -1 and 1.
inline number erfinv(number x) {
  if (x == number(0)) return x;
  const bool negative = x < number(0);
  const number rest = number(1) - abs(x);
  number two_over_root_pi;
  mpfr_const_pi(two_over_root_pi.get(), MPFR_RNDN);
  two_over_root_pi = number(2) / sqrt(two_over_root_pi);
  // From y = 0 on the steps rise to the solution, because erfc is convex there.
  number y = 0;
  for (int i = 0; i < 100; ++i) {
    const number step = (erfc(y) - rest) * exp(y * y) / two_over_root_pi;
    y = y + step;
    if (abs(step) < y * number(0x1p-120)) break;
  }
  return negative ? -y : y;
}

/// The series of a modified Bessel function; its terms are positive.
inline number bessel_i(int order, number x) {
  // Above 720 the result leaves the range of double, and the series takes thousands of terms.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (number(720) < abs(x)) return number(order == 1 && x < number(0) ? -infinity : infinity);
  const number quarter = x * x / number(4);
  number term = order == 0 ? number(1) : x / number(2), sum = term;
  for (int k = 1; k < 4000; ++k) {
    term = term * quarter / number(k) / number(k + order);
    sum = sum + term;
    if (abs(term) < abs(sum) * number(0x1p-130)) break;
  }
  return sum;
}

/// B_2j = (-1)^(j+1) 2 (2j)! zeta(2j) / (2 pi)^(2j).
inline number bernoulli(int j) {
  number zeta, pi, factorial;
  mpfr_zeta_ui(zeta.get(), static_cast<unsigned long>(2 * j), MPFR_RNDN);
  mpfr_const_pi(pi.get(), MPFR_RNDN);
  mpfr_fac_ui(factorial.get(), static_cast<unsigned long>(2 * j), MPFR_RNDN);
  return number(j % 2 == 1 ? 2 : -2) * factorial * zeta / pow(number(2) * pi, number(2 * j));
}
inline const std::vector<number>& bernoulli_numbers() {
  static const std::vector<number> all = [] {
    std::vector<number> list;
    for (int j = 1; j <= 30; ++j) list.push_back(bernoulli(j));
    return list;
  }();
  return all;
}

/// The logarithm's asymptotic series after 60 steps of the recurrence, and the reflection below 0. MPFR's own function
/// takes seconds for some operands.
inline number digamma(number x) {
  if (x < number(0)) {
    number pi;
    mpfr_const_pi(pi.get(), MPFR_RNDN);
    return digamma(number(1) - x) - pi * cos(pi * x) / sin(pi * x);
  }
  number sum = 0;
  for (int k = 0; k < 60; ++k, x = x + number(1)) sum = sum - number(1) / x;
  sum = sum + log(x) - number(0.5) / x;
  const number inverse_square = number(1) / x / x;
  number power = inverse_square;
  for (int j = 1; j <= 30; ++j, power = power * inverse_square)
    sum = sum - bernoulli_numbers()[static_cast<std::size_t>(j - 1)] / number(2 * j) * power;
  return sum;
}

/// Derivative number n >= 1 of digamma for x > 0: a sum of 60 terms, then Euler and Maclaurin's.
inline number polygamma(int n, number x) {
  const number s = number(-(n + 1));
  number sum = 0;
  for (int k = 0; k < 60; ++k, x = x + number(1)) sum = sum + pow(x, s);
  const number power = pow(x, s);
  number rest = power * x / number(n) + power / number(2);
  number factor = number(n + 1) / number(2) * power / x;  // (s)_(2j-1) / (2j)! x^(-s-2j+1)
  for (int j = 1; j <= 30; ++j) {
    rest = rest + factor * bernoulli_numbers()[static_cast<std::size_t>(j - 1)];
    factor = factor * number(n + 2 * j) * number(n + 2 * j + 1) / number(2 * j + 1) / number(2 * j + 2) / x / x;
  }
  number factorial;
  mpfr_fac_ui(factorial.get(), static_cast<unsigned long>(n), MPFR_RNDN);
  const number y = factorial * (sum + rest);
  return n % 2 == 1 ? y : -y;
}

inline number beta(const number& a, const number& b) {
  number y;
  mpfr_beta(y.get(), a.get(), b.get(), MPFR_RNDN);
  return y;
}

/// The regularized lower function, by its series, or by the upper one where that is the smaller.
inline number gammainc(const number& a, const number& x, bool upper) {
  number q, whole;
  mpfr_gamma(whole.get(), a.get(), MPFR_RNDN);
  if (a < x) {
    mpfr_gamma_inc(q.get(), a.get(), x.get(), MPFR_RNDN);
    q = q / whole;
    return upper ? q : number(1) - q;
  }
  number term = number(1) / a, sum = term;
  for (int k = 1; k < 100000; ++k) {
    term = term * x / (a + number(k));
    sum = sum + term;
    if (term < sum * number(0x1p-130)) break;
  }
  const number p = exp(a * log(x) - x) / whole * sum;
  return upper ? number(1) - p : p;
}

/// x^a (1 - x)^b / (a B(a, b)) times a hypergeometric series of positive terms (DLMF 8.17.8).
inline number betainc(const number& a, const number& b, const number& x) {
  if ((a + number(1)) / (a + b + number(2)) < x) return number(1) - betainc(b, a, number(1) - x);
  number term = 1, sum = term;
  for (int k = 0; k < 1000000; ++k) {
    term = term * x * (a + b + number(k)) / (a + number(k + 1));
    sum = sum + term;
    if (term < sum * number(0x1p-130)) break;
  }
  return exp(a * log(x) + b * log(number(1) - x)) / (a * beta(a, b)) * sum;
}

inline number exact(std::string_view op, const number& x) {
  if (op == "Lgamma") return lgamma(x);
  if (op == "Digamma") return digamma(x);
  if (op == "Erfinv") return erfinv(x);
  if (op == "Expi") return expi(x);
  if (op == "BesselI0") return bessel_i(0, x);
  if (op == "BesselI1") return bessel_i(1, x);
  if (op == "BesselJ0") return bessel_j0(x);
  return bessel_j1(x);
}

}  // namespace kgspecial
