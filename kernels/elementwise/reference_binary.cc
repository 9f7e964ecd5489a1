// SPDX-License-Identifier: Apache-2.0
// Integers are computed modulo 2^64 and cut to their type; transcendental functions in the next wider type.
#include "kernels/elementwise/reference_maps.h"

#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

namespace kerngrad::kernels::reference {
namespace {

template <class T>
std::uint64_t bits(T x) {
  return static_cast<std::uint64_t>(x);
}

// Sum, difference and product: the float operation, or modulo 2^64.
template <class T, class Op>
T ring(T a, T b, Op op) {
  if constexpr (is_float<T>) return op(a, b);
  else return static_cast<T>(op(bits(a), bits(b)));
}
template <class T> T Add(T a, T b) { return ring(a, b, std::plus<>()); }
template <class T> T Sub(T a, T b) { return ring(a, b, std::minus<>()); }
template <class T> T Multiply(T a, T b) { return ring(a, b, std::multiplies<>()); }
complex64 Add(complex64 a, complex64 b) { return {a.real + b.real, a.imag + b.imag}; }
complex64 Sub(complex64 a, complex64 b) { return {a.real - b.real, a.imag - b.imag}; }
complex64 Multiply(complex64 x, complex64 y) {
  const double a = x.real, b = x.imag, c = y.real, d = y.imag;
  return {static_cast<float>(a * c - b * d), static_cast<float>(a * d + b * c)};
}
template <class T>
T RealDiv(T a, T b) {
  return a / b;
}
complex64 RealDiv(complex64 x, complex64 y) {
  const long double a = x.real, b = x.imag, c = y.real, d = y.imag, scale = c * c + d * d;
  return {static_cast<float>((a * c + b * d) / scale), static_cast<float>((b * c - a * d) / scale)};
}
template <class T>
T SquaredDifference(T a, T b) {
  return Multiply(Sub(a, b), Sub(a, b));
}

// Integers: division by zero gives 0. The 128-bit quotient of the lowest value by -1 is cut to the lowest value.
__extension__ using wide = __int128;  // holds what overflows in int64
template <class T>
T FloorDiv(T a, T b) {
  if constexpr (is_float<T>) {
    // Floors the exact quotient: a less its remainder is a multiple of b, and their quotient is whole. From 2^digits on
    // the rounded quotient is whole and serves as it is.
    const T rounded = std::floor(a / b), rest = std::fmod(a, b);
    if (std::isinf(a) && b != 0) return std::numeric_limits<T>::quiet_NaN();
    if (!(std::fabs(rounded) <= std::ldexp(T{1}, std::numeric_limits<T>::digits))) return rounded;
    const wide_t<T> multiple = wide_t<T>{a} - rest, cut = std::nearbyint(multiple / b);
    if (rest != 0 && std::signbit(rest) != std::signbit(b)) return static_cast<T>(cut - 1);
    return cut == 0 ? std::copysign(T{0}, rounded) : static_cast<T>(cut);
  } else {
    if (b == 0) return 0;
    const wide p = a, q = b;
    const wide truncated = p / q;
    return static_cast<T>(truncated * q != p && (p < 0) != (q < 0) ? truncated - 1 : truncated);
  }
}
template <class T>
T Mod(T a, T b) {
  if constexpr (is_float<T>) {
    const T r = std::fmod(a, b);
    if (r == 0) return std::copysign(r, b);
    return std::signbit(r) != std::signbit(b) ? r + b : r;
  } else {
    if (b == 0) return 0;
    const wide p = a, q = b;
    return static_cast<T>((p % q + q) % q);
  }
}
// C's remainder of magnitudes, with the sign of a.
template <class T>
T Fmod(T a, T b) {
  if constexpr (is_float<T>) {
    return std::fmod(a, b);
  } else {
    return b == 0 ? T{0} : static_cast<T>(wide{a} % wide{b});
  }
}
template <class T>
T Copysign(T a, T b) {
  return std::signbit(a) == std::signbit(b) ? a : -a;
}

template <class T>
T Maximum(T a, T b) {
  return a != a || a > b ? a : b;
}
template <class T>
T Minimum(T a, T b) {
  return a != a || a < b ? a : b;
}

template <class T>
T Pow(T a, T b) {
  if constexpr (is_float<T>) {
    return static_cast<T>(std::pow(wide_t<T>{a}, wide_t<T>{b}));
  } else {
    if (b < 0) return a == 1 ? T{1} : a == -1 ? (b % 2 == 0 ? T{1} : T{-1}) : T{0};
    std::uint64_t power = 1, base = bits(a);
    for (T e = b; e > 0; e /= 2, base *= base) power *= e % 2 != 0 ? base : 1;
    return static_cast<T>(power);
  }
}
template <class T>
T Atan2(T a, T b) {
  return static_cast<T>(std::atan2(wide_t<T>{a}, wide_t<T>{b}));
}

template <class T>
T Hypot(T a, T b) {
  return static_cast<T>(std::hypot(wide_t<T>{a}, wide_t<T>{b}));
}
template <class T>
T Xlogy(T a, T b) {
  return a == 0 && b == b ? T{0} : static_cast<T>(a * std::log(wide_t<T>{b}));
}

template <class T>
T BitwiseAnd(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T BitwiseOr(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T BitwiseXor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
bool is_shift(T b) {
  return b >= 0 && b <= std::numeric_limits<T>::digits;
}
template <class T>
T LeftShift(T a, T b) {
  return is_shift(b) ? static_cast<T>(bits(a) << b) : T{0};
}
// Halved and rounded down, bit by bit.
template <class T>
T RightShift(T a, T b) {
  if (!is_shift(b)) return a < 0 ? T{-1} : T{0};
  for (; b > 0; --b) a = static_cast<T>(a / 2 - (a < 0 && a % 2 != 0));
  return a;
}
std::uint8_t LogicalAnd(std::uint8_t a, std::uint8_t b) { return a != 0 && b != 0; }
std::uint8_t LogicalOr(std::uint8_t a, std::uint8_t b) { return a != 0 || b != 0; }
std::uint8_t LogicalXor(std::uint8_t a, std::uint8_t b) { return (a != 0) != (b != 0); }

template <class T>
T Prelu(T x, T alpha) {
  return x < 0 ? alpha * x : x;
}
template <class T>
T ReluGrad(T dy, T y) {
  return y > 0 ? dy : 0;
}
template <class T>
T EluGrad(T dy, T y) {
  return y >= 0 ? dy : dy * (y + 1);
}
// A slope that rounds to 0 is 0, for an infinite dy too.
template <class T>
T times_slope(T dy, wide_t<T> slope) {
  return static_cast<T>(dy * (static_cast<T>(slope) == 0 ? 0 : slope));
}
// e^-x / (1 + e^-x)^2 as 1 / (4 cosh(x / 2)^2).
template <class T>
T SigmoidGrad(T dy, T x) {
  const wide_t<T> cosh = std::cosh(wide_t<T>{x} / 2);
  return times_slope(dy, 1 / (4 * cosh * cosh));
}
template <class T>
T TanhGrad(T dy, T x) {
  const wide_t<T> cosh = std::cosh(wide_t<T>{x});
  return times_slope(dy, 1 / (cosh * cosh));
}

template <class T>
std::uint8_t Equal(T a, T b) {
  return a == b;
}
std::uint8_t Equal(complex64 a, complex64 b) { return a.real == b.real && a.imag == b.imag; }
template <class T>
std::uint8_t NotEqual(T a, T b) {
  return a != b;
}
std::uint8_t NotEqual(complex64 a, complex64 b) { return a.real != b.real || a.imag != b.imag; }
template <class T>
std::uint8_t Greater(T a, T b) {
  return a > b;
}
template <class T>
std::uint8_t GreaterEqual(T a, T b) {
  return a >= b;
}
template <class T>
std::uint8_t Less(T a, T b) {
  return a < b;
}
template <class T>
std::uint8_t LessEqual(T a, T b) {
  return a <= b;
}

}  // namespace

KG_BINARY_KERNELS(KG_DEFINE_PLAIN_MAP2)

}  // namespace kerngrad::kernels::reference
