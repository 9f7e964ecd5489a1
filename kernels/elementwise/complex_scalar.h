// SPDX-License-Identifier: Apache-2.0
// Functions of one complex number of T, a real type: for operands outside of the range of the vector functions, and
// the definitions of the reference kernels. Values at zeros, infinities and NaN are those of C99's Annex G.6; of
// ctanh(0 + i inf) those of C17.
#pragma once
#include <cmath>
#include <limits>

namespace kerngrad::kernels::complex_scalar {

template <class T>
struct number {
  T re, im;
};
template <class T> inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T> inline constexpr T nan = std::numeric_limits<T>::quiet_NaN();

template <class T>
number<T> product(number<T> a, number<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// i z and -i z, which turn sinh into sin.
template <class T>
number<T> turned(number<T> z) {
  return {-z.im, z.re};
}
template <class T>
number<T> turned_back(number<T> z) {
  return {z.im, -z.re};
}

/// The exponent of the larger part; 0 where that is 0, infinite or NaN.
template <class T>
int exponent_of(number<T> z) {
  const T most = std::fmax(std::fabs(z.re), std::fabs(z.im));
  return most > 0 && std::isfinite(most) ? std::ilogb(most) : 0;
}
template <class T>
number<T> scaled(number<T> z, int exponent) {
  return {std::scalbn(z.re, exponent), std::scalbn(z.im, exponent)};
}

/// a / b by the formula, with both brought near 1 first. A quotient by 0 is NaN.
template <class T>
number<T> quotient(number<T> a, number<T> b) {
  const int of_a = exponent_of(a), of_b = exponent_of(b);
  const number<T> p = scaled(a, -of_a), q = scaled(b, -of_b);
  const T length = q.re * q.re + q.im * q.im;
  return scaled(number<T>{(p.re * q.re + p.im * q.im) / length, (p.im * q.re - p.re * q.im) / length}, of_a - of_b);
}
template <class T>
number<T> reciprocal(number<T> z) {
  return quotient(number<T>{1, 0}, z);
}

/// factor e^x cis(y) for finite x and y; parts that are in range although e^x is not are right.
template <class T>
number<T> on_circle(T x, T y, T factor) {
  const T step = static_cast<T>(std::numeric_limits<T>::max_exponent / 2);  // less than ln of the greatest number
  T re = factor * std::cos(y), im = factor * std::sin(y);
  for (int i = 0; i < 4 && x > step; ++i) {
    x -= step;  // exact
    re *= std::exp(step);
    im *= std::exp(step);
  }
  const T e = std::exp(x);
  return {re * e, im * e};
}

template <class T>
number<T> exp(number<T> z) {
  const auto [x, y] = z;
  if (y == 0) return {std::exp(x), y};
  if (std::isinf(x)) {
    if (std::isfinite(y))
      return x > 0 ? number<T>{x * std::cos(y), x * std::sin(y)}
                   : number<T>{std::copysign(T{0}, std::cos(y)), std::copysign(T{0}, std::sin(y))};
    return x > 0 ? number<T>{x, nan<T>} : number<T>{0, std::copysign(T{0}, y)};
  }
  if (!std::isfinite(y) || std::isnan(x)) return {nan<T>, nan<T>};
  return on_circle(x, y, T{1});
}

template <class T>
number<T> log(number<T> z) {
  const T angle = std::atan2(z.im, z.re);
  const T p = std::fabs(z.re), q = std::fabs(z.im);
  const T most = p < q ? q : p, least = p < q ? p : q;
  if (std::isinf(p) || std::isinf(q)) return {infinity<T>, angle};
  if (most > T(0.5) && most < 2) {
    const T excess = (most - 1) * (most + 1) + least * least;
    if (excess > T(-0.5)) return {std::log1p(excess) / 2, angle};
  }
  const int exponent = exponent_of(z);
  const number<T> near = scaled(z, -exponent);
  const T ln_2 = static_cast<T>(0.693147180559945309417232121458176568L);
  return {std::log(std::hypot(near.re, near.im)) + static_cast<T>(exponent) * ln_2, angle};
}

template <class T>
number<T> sqrt(number<T> z) {
  const auto [x, y] = z;
  if (std::isinf(y)) return {infinity<T>, y};
  if (std::isnan(x)) return {x, x};
  if (std::isinf(x) && x > 0) return {x, std::isnan(y) ? y : std::copysign(T{0}, y)};
  if (std::isinf(x)) return {std::isnan(y) ? y : T{0}, std::copysign(infinity<T>, y)};
  if (std::isnan(y)) return {y, y};
  if (x == 0 && y == 0) return {0, y};
  const int exponent = exponent_of(z) / 2 * 2;
  const number<T> near = scaled(z, -exponent);
  const T large = std::sqrt((std::fabs(near.re) + std::hypot(near.re, near.im)) / 2);
  const T small = std::fabs(near.im) / (2 * large);
  const number<T> root{near.re < 0 ? small : large, std::copysign(near.re < 0 ? large : small, y)};
  return scaled(root, exponent / 2);
}

template <class T>
number<T> sinh(number<T> z) {
  const auto [x, y] = z;
  if (y == 0) return {std::sinh(x), y};
  if (!std::isfinite(y)) return {x == 0 || std::isinf(x) ? x : nan<T>, nan<T>};
  if (std::isnan(x)) return {x, x};
  if (std::isinf(x)) return {x * std::cos(y), std::fabs(x) * std::sin(y)};
  if (std::fabs(x) < 20) return {std::sinh(x) * std::cos(y), std::cosh(x) * std::sin(y)};
  const number<T> half = on_circle(std::fabs(x), y, T(0.5));
  return {x < 0 ? -half.re : half.re, half.im};
}

template <class T>
number<T> cosh(number<T> z) {
  const auto [x, y] = z;
  if (y == 0) return {std::cosh(x), std::copysign(T{1}, x) * y};
  if (!std::isfinite(y)) {
    if (x == 0) return {nan<T>, x};
    return {std::isinf(x) ? infinity<T> : nan<T>, nan<T>};
  }
  if (std::isnan(x)) return {x, x};
  if (std::isinf(x)) return {std::fabs(x) * std::cos(y), x * std::sin(y)};
  if (std::fabs(x) < 20) return {std::cosh(x) * std::cos(y), std::sinh(x) * std::sin(y)};
  const number<T> half = on_circle(std::fabs(x), y, T(0.5));
  return {half.re, x < 0 ? -half.im : half.im};
}

template <class T>
number<T> tanh(number<T> z) {
  const auto [x, y] = z;
  if (y == 0) return {std::tanh(x), y};
  if (std::isinf(x)) {
    const T turn = std::isfinite(y) ? std::sin(y) * std::cos(y) : y;
    return {std::copysign(T{1}, x), std::copysign(T{0}, turn)};
  }
  if (!std::isfinite(y)) return {x == 0 ? x : nan<T>, nan<T>};
  if (std::isnan(x)) return {x, x};
  const T s = std::sin(y), c = std::cos(y);
  if (std::fabs(x) > 50) return {std::copysign(T{1}, x), 4 * s * c * std::exp(-2 * std::fabs(x))};
  const T sh = std::sinh(x), length = sh * sh + c * c;
  return {sh * std::cosh(x) / length, s * c / length};
}

template <class T>
number<T> sin(number<T> z) {
  return turned_back(sinh(turned(z)));
}
template <class T>
number<T> cos(number<T> z) {
  return cosh(turned(z));
}
template <class T>
number<T> tan(number<T> z) {
  return turned_back(tanh(turned(z)));
}

/// Whole exponents up to this size are computed by products.
inline constexpr int most_factors = 32;

/// a^b: 1 for b = 0; of 0 it is 0 where the real part of b is positive, else NaN; products for small whole b; else
/// exp(b log(a)).
template <class T>
number<T> pow(number<T> a, number<T> b) {
  if (b.re == 0 && b.im == 0) return {1, 0};
  if (a.re == 0 && a.im == 0) return b.re > 0 ? number<T>{0, 0} : number<T>{nan<T>, nan<T>};
  if (b.im == 0 && std::fabs(b.re) <= most_factors && std::nearbyint(b.re) == b.re) {
    number<T> power{1, 0};
    for (int i = 0; i < static_cast<int>(std::fabs(b.re)); ++i) power = i == 0 ? a : product(power, a);
    if (std::isfinite(power.re) && std::isfinite(power.im)) return b.re < 0 ? reciprocal(power) : power;
  }
  return exp(product(b, log(a)));
}

}  // namespace kerngrad::kernels::complex_scalar
