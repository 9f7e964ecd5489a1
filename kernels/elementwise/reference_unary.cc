// SPDX-License-Identifier: Apache-2.0
// Transcendental functions are computed in the next wider type by the C library and rounded once.
#include "kernels/elementwise/reference_maps.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace kerngrad::kernels::reference {
namespace {

template <class T>
T negated(T x) {
  if constexpr (is_float<T>) return -x;
  else return static_cast<T>(0 - static_cast<std::uint64_t>(x));  // wraps
}
complex64 negated(complex64 x) { return {-x.real, -x.imag}; }

template <class T>
T Abs(T x) {
  if constexpr (is_float<T>) return std::fabs(x);
  else return x < 0 ? negated(x) : x;
}
template <class T>
T Neg(T x) {
  return negated(x);
}
template <class T>
T Sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x == 0 ? x : T{0};
}
template <class T>
T Square(T x) {
  if constexpr (is_float<T>) return x * x;
  else return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(x));
}
complex64 Square(complex64 x) {
  const double re = x.real, im = x.imag;
  return {static_cast<float>(re * re - im * im), static_cast<float>(2 * re * im)};
}
template <class T>
T Sqrt(T x) {
  return std::sqrt(x);
}
template <class T>
T Reciprocal(T x) {
  return 1 / x;
}

// Functions of a wide x.
KG_WIDE(Rsqrt, 1 / std::sqrt(x))
KG_WIDE(Exp, std::exp(x))
KG_WIDE(Exp2, std::exp2(x))
KG_WIDE(Expm1, std::expm1(x))
KG_WIDE(Log, std::log(x))
KG_WIDE(Log2, std::log2(x))
KG_WIDE(Log10, std::log10(x))
KG_WIDE(Log1p, std::log1p(x))
KG_WIDE(Cbrt, std::cbrt(x))
KG_WIDE(Sin, std::sin(x))
KG_WIDE(Cos, std::cos(x))
KG_WIDE(Tan, std::tan(x))
KG_WIDE(Asin, std::asin(x))
KG_WIDE(Acos, std::acos(x))
KG_WIDE(Atan, std::atan(x))
KG_WIDE(Sinh, std::sinh(x))
KG_WIDE(Cosh, std::cosh(x))
KG_WIDE(Tanh, std::tanh(x))
KG_WIDE(Asinh, std::asinh(x))
KG_WIDE(Acosh, std::acosh(x))
KG_WIDE(Atanh, std::atanh(x))
KG_WIDE(Erf, std::erf(x))
KG_WIDE(Erfc, std::erfc(x))
KG_WIDE(Sigmoid, 1 / (1 + std::exp(-x)))
KG_WIDE(Softplus, x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)))
KG_WIDE(Elu, x < 0 ? std::expm1(x) : x)
KG_WIDE(Selu, 1.0507009873554804934193349852946L * (x < 0 ? 1.6732632423543772848170429916717L * std::expm1(x) : x))
KG_WIDE(Gelu, std::isinf(x) ? std::fmax(x, wide_t<T>{0}) : x / 2 * std::erfc(x * -0.70710678118654752440084436L))
KG_WIDE(Silu, std::isinf(x) ? std::fmax(x, wide_t<T>{0}) : x / (1 + std::exp(-x)))

template <class T>
T Ceil(T x) {
  if constexpr (is_float<T>) return std::ceil(x);
  else return x;
}
template <class T>
T Floor(T x) {
  if constexpr (is_float<T>) return std::floor(x);
  else return x;
}
// Halves go to even: the remainder by 1 of IEEE 754 is the distance from the nearest integer in that sense.
template <class T>
T Round(T x) {
  if constexpr (is_float<T>) return std::isfinite(x) ? std::copysign(x - std::remainder(x, T{1}), x) : x;
  else return x;
}
template <class T>
T Trunc(T x) {
  if constexpr (is_float<T>) return std::trunc(x);
  else return x;
}
template <class T>
T BitwiseNot(T x) {
  return static_cast<T>(~x);
}
template <class T>
T Relu(T x) {
  return x < 0 ? T{0} : x;
}
template <class T>
T Relu6(T x) {
  return x < 0 ? T{0} : x > 6 ? T{6} : x;
}

// A bound or slope in the kernel's dtype.
template <class T>
T rounded(double value) {
  if constexpr (is_float<T>) {
    return static_cast<T>(value);
  } else {
    if (std::isnan(value)) return 0;
    if (value < -std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::min();
    if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
    if (value < 0 && std::is_unsigned_v<T>) return 0;
    return static_cast<T>(value);
  }
}
template <class T>
T leaky_relu(T x, const double* p) {
  return x < 0 ? rounded<T>(p[0]) * x : x;
}
template <class T>
T step(T x, const double* p) {
  if (x != x) return x;
  return x > 0 ? T{1} : rounded<T>(p[0]);
}
// Compared in long double, which holds both sides exactly on x86; the bounds of int64 elsewhere are those of double.
template <class T>
T clip(T x, const double* p) {
  const long double value = static_cast<long double>(x);
  if constexpr (is_float<T>) {
    if (p[0] != p[0] || p[1] != p[1]) return std::numeric_limits<T>::quiet_NaN();
    return value < p[0] ? rounded<T>(p[0]) : value > p[1] ? rounded<T>(p[1]) : x;
  }
  return value < p[0] ? rounded<T>(std::ceil(p[0])) : value > p[1] ? rounded<T>(std::floor(p[1])) : x;
}

template <class T>
std::uint8_t IsNan(T x) {
  return x != x;
}
template <class T>
std::uint8_t IsInf(T x) {
  return std::fabs(x) > std::numeric_limits<T>::max();
}
template <class T>
std::uint8_t IsFinite(T x) {
  return std::fabs(x) <= std::numeric_limits<T>::max();
}
std::uint8_t LogicalNot(std::uint8_t x) { return x == 0; }

template <class T, class Map>
void map_all(const unary_geometry& g, const T* x, T* y, Map map) {
  for (std::int64_t i = 0; i < g.count; ++i) y[i] = map(x[i], g.params);
}
template <dtype Type, class T = storage_t<Type>>
void LeakyRelu(const unary_geometry& g, const T* x, T* y) {
  map_all(g, x, y, leaky_relu<T>);
}
template <dtype Type, class T = storage_t<Type>>
void Step(const unary_geometry& g, const T* x, T* y) {
  map_all(g, x, y, step<T>);
}
template <dtype Type, class T = storage_t<Type>>
void ClipByValue(const unary_geometry& g, const T* x, T* y) {
  map_all(g, x, y, clip<T>);
}

}  // namespace

KG_UNARY_KERNELS(KG_DEFINE_PLAIN_MAP1)
KG_DEFINE_PLAIN_KERNELS(KG_PARAMETRIC_KERNELS)

}  // namespace kerngrad::kernels::reference
