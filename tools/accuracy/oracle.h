// SPDX-License-Identifier: Apache-2.0
// Exact values of the vector mathematics, the operands to try, and the measure of errors: shared by
// `./dev accuracy` and tests/elementwise/math.cc.
#pragma once
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kgaccuracy {

/// A function of one operand: y = f(x) with t as scratch, and f in double precision by the C library, right to
/// `estimate_margin`.
struct unary_oracle {
  const char* op;
  void (*exact)(mpfr_t y, mpfr_t x, mpfr_t t);
  double (*estimate)(double x);
};
/// A function of two operands.
struct binary_oracle {
  const char* op;
  int (*exact)(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b, mpfr_rnd_t rounding);
};
extern const std::span<const unary_oracle> unary_oracles;
extern const std::span<const binary_oracle> binary_oracles;

/// How far an estimate may be off, in units in the last place of float32: 2^-16 of them is 2^12 of double's. The
/// functions of glibc are right to less than 10 of double's, their compositions here lose 200 more at worst (Gelu,
/// where the rounded argument of erfc is multiplied by its square's derivative).
inline constexpr double estimate_margin = 0x1p-16;

/// f(x) rounded to 64 bits.
long double exact_value(const unary_oracle& oracle, double x);
long double exact_value(const binary_oracle& oracle, double a, double b);

// |y - exact| in units in the last place of T around `exact`; infinity stands for the value after the largest.
template <class T>
double distance(T y, long double exact) {
  using limits = std::numeric_limits<T>;
  if (std::isnan(y) || std::isnan(exact)) return std::isnan(y) && std::isnan(exact) ? 0 : HUGE_VAL;
  const long double top = std::ldexp(1.0L, limits::max_exponent);
  const long double found = std::isinf(y) ? std::copysign(top, static_cast<long double>(y)) : y;
  exact = std::clamp(exact, -top, top);
  if (exact == 0) return found == 0 ? 0 : HUGE_VAL;
  int exponent;
  std::frexp(exact, &exponent);
  exponent = std::min(std::max(exponent, limits::min_exponent), static_cast<int>(limits::max_exponent));
  return static_cast<double>(std::fabs(found - exact) / std::ldexp(1.0L, exponent - limits::digits));
}

template <class T, class Bits>
T from_bits(Bits bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// All exponents; the exponents where the functions bend; a linear grid over the range of the exponential function;
// neighbours of round numbers.
template <class T>
std::vector<T> points(std::size_t count) {
  using bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  constexpr int bias = std::numeric_limits<T>::max_exponent - 1;
  std::vector<T> x;
  const bits everything = std::numeric_limits<bits>::max();
  for (std::size_t i = 0; i < count; ++i) x.push_back(from_bits<T>(static_cast<bits>(i * (everything / count | 1))));
  const bits low = static_cast<bits>(bias - 6) << mantissa, range = static_cast<bits>(14) << mantissa;
  for (std::size_t i = 0; i < count; ++i) {
    const T v = from_bits<T>(static_cast<bits>(low + i * (range / count | 1)));
    x.push_back(v);
    x.push_back(-v);
  }
  const double reach = std::is_same_v<T, float> ? 105 : 750;
  for (std::size_t i = 0; i < count; ++i) x.push_back(static_cast<T>(reach * (2.0 * i / count - 1)));
  for (const double centre : {0.0015362741,  // Softplus errs by 2.1 there where no multiplication is fused with a sum
                              0.25,
                              0.5,
                              0.625,
                              0.7071067811865476,
                              0.84375,
                              0.92773,
                              1.0,
                              1.4142135623730951,
                              1.5707963267948966,
                              2.0,
                              2.5,
                              3.1415926535897932,
                              4.0,
                              6.283185307179586,
                              11.0,
                              710.47,
                              88.72,
                              1e5,
                              8e5,
                              1e22}) {
    T v = static_cast<T>(centre);
    for (int i = 0; i < 8; ++i) v = std::nextafter(v, T{0});
    for (int i = 0; i < 16; ++i, v = std::nextafter(v, std::numeric_limits<T>::infinity())) {
      x.push_back(v);
      x.push_back(-v);
    }
  }
  return x;
}

// A small generator of 64-bit words (splitmix64, Steele, Lea and Flood 2014).
struct words {
  std::uint64_t state = 1;
  std::uint64_t operator()() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
};

/// Operands of a function of two.
template <class T>
struct pairs {
  std::vector<T> a, b;
};

// Bases of all sizes and near 1 with exponents that reach from underflow to overflow; negative bases with integers.
template <class T>
pairs<T> pow_points(std::size_t count) {
  words next;
  std::vector<T> a, b;
  const double reach = std::is_same_v<T, float> ? 105 : 750;
  for (std::size_t i = 0; i < count; ++i) {
    const double spread = i % 3 == 0 ? 1 : i % 3 == 1 ? 0.02 : 1e-6;
    const T base = static_cast<T>(std::exp((2 * next.unit() - 1) * reach * 0.98 * spread));
    const double logarithm = std::log(static_cast<double>(base));
    T exponent = static_cast<T>((2 * next.unit() - 1) * reach / (logarithm == 0 ? 1 : logarithm));
    const bool negative = i % 5 == 0;
    if (negative) exponent = std::nearbyint(exponent);
    a.push_back(negative ? -base : base);
    b.push_back(exponent);
  }
  return {a, b};
}

// Both operands of all sizes, most of them close to each other; every quadrant.
template <class T>
pairs<T> atan2_points(std::size_t count) {
  words next;
  std::vector<T> a, b;
  const double reach = std::is_same_v<T, float> ? 80 : 700;
  for (std::size_t i = 0; i < count; ++i) {
    const double base = (2 * next.unit() - 1) * reach, close = (2 * next.unit() - 1) * (i % 4 == 0 ? reach : 3);
    const T y = static_cast<T>(std::exp(base)), x = static_cast<T>(std::exp(std::clamp(base + close, -reach, reach)));
    a.push_back(i % 2 == 0 ? y : -y);
    b.push_back(i % 3 == 0 ? x : -x);
  }
  return {a, b};
}

// Factors of all sizes for logarithms near 0 and far from it.
template <class T>
pairs<T> xlogy_points(std::size_t count) {
  pairs<T> swapped = pow_points<T>(count);
  for (T& x : swapped.a) x = std::fabs(x);
  return {std::move(swapped.b), std::move(swapped.a)};
}

// Gradients of at most 1 for operands of all sizes: below the normal numbers a slope has an absolute error, which a
// larger gradient would make larger.
template <class T>
pairs<T> slope_points(std::size_t count) {
  words next;
  pairs<T> all{{}, points<T>(count / 4)};
  for (std::size_t i = 0; i < all.b.size(); ++i)
    all.a.push_back(static_cast<T>((i % 2 == 0 ? 1 : -1) * std::exp2(-8 * next.unit())));
  return all;
}

template <class T>
pairs<T> points_of(const binary_oracle& oracle, std::size_t count) {
  const std::string_view op = oracle.op;
  if (op == "SigmoidGrad" || op == "TanhGrad") return slope_points<T>(count);
  return op == "Pow" ? pow_points<T>(count) : op == "Xlogy" ? xlogy_points<T>(count) : atan2_points<T>(count);
}

}  // namespace kgaccuracy
