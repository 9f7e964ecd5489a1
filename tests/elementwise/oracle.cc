// SPDX-License-Identifier: Apache-2.0
#include "tests/elementwise/oracle.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>

#include "kernels/common/accuracy.h"
#include "tests/tensor/half_oracle.h"
#include "tools/accuracy/oracle.h"

namespace kgtest {
namespace {

using wide = long double;
using big = unsigned __int128;
constexpr wide infinity = std::numeric_limits<wide>::infinity();

template <class T>
T element(const void* p, std::size_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(p) + i * sizeof(T), sizeof(T));
  return value;
}

// Cuts an integer to the dtype.
std::int64_t wrapped(dtype type, big x) {
  return visit_number(type, [&](auto is) -> std::int64_t {
    using T = kerngrad::kernels::storage_t<decltype(is)::value>;
    if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x));
    else return 0;
  });
}
// Powers of two by the size and the sign of the dtype.
int digits_of(dtype type) { return 8 * static_cast<int>(size_of(type)) - (kerngrad::trait_of(type).is_signed ? 1 : 0); }
wide lowest(dtype type) { return kerngrad::trait_of(type).is_signed ? -std::ldexp(wide{1}, digits_of(type)) : 0; }
wide highest(dtype type) { return std::ldexp(wide{1}, digits_of(type)) - 1; }

// A real number as an integer: truncated, clamped, NaN to 0.
std::int64_t truncated(dtype type, wide x) {
  if (std::isnan(x)) return 0;
  return static_cast<std::int64_t>(std::fmin(std::fmax(std::trunc(x), lowest(type)), highest(type)));
}

// The function of an op that MPFR computes, if there is one.
template <class Oracle, class... T>
std::optional<scalar> by_mpfr(std::span<const Oracle> oracles, std::string_view op, T... x) {
  for (const Oracle& oracle : oracles)
    if (op == oracle.op) return scalar{kgaccuracy::exact_value(oracle, static_cast<double>(x)...)};
  return {};
}

// Correctly rounded operations are done in the type itself: that is their definition.
template <class T>
wide exact_unary(std::string_view op, T x, const double* p) {
  if (op == "Abs") return std::fabs(x);
  if (op == "Neg") return -x;
  if (op == "Sign") return x > 0 ? T{1} : x < 0 ? T{-1} : std::isnan(x) ? T{0} : x;
  if (op == "Square") return static_cast<T>(x * x);
  if (op == "Sqrt") return std::sqrt(x);
  if (op == "Reciprocal") return static_cast<T>(1 / x);
  if (op == "Ceil") return std::ceil(x);
  if (op == "Floor") return std::floor(x);
  if (op == "Round") return std::nearbyint(x);
  if (op == "Trunc") return std::trunc(x);
  // Statements, not selects: clang 19 turns the select into a maximum that loses -0 under AddressSanitizer.
  if (op == "Relu" || op == "Relu6") {
    if (x < 0) return 0;
    return op == "Relu6" && x > 6 ? T{6} : x;
  }
  if (op == "LeakyRelu") return x < 0 ? static_cast<T>(static_cast<T>(p[0]) * x) : x;
  if (op == "Step") return x > 0 ? T{1} : std::isnan(x) ? x : static_cast<T>(p[0]);
  if (op == "ClipByValue") {
    const double value = x;
    if (std::isnan(p[0]) || std::isnan(p[1])) return std::numeric_limits<T>::quiet_NaN();
    return value < p[0] ? static_cast<T>(p[0]) : value > p[1] ? static_cast<T>(p[1]) : x;
  }
  throw std::logic_error("no oracle for " + std::string(op));
}

std::int64_t whole_unary(std::string_view op, dtype type, std::int64_t x, const double* p) {
  const wide value = static_cast<wide>(x);
  if (op == "Abs") return x < 0 ? wrapped(type, 0 - static_cast<big>(x)) : x;
  if (op == "Neg") return wrapped(type, 0 - static_cast<big>(x));
  if (op == "Sign") return (x > 0) - (x < 0);
  if (op == "Square") return wrapped(type, static_cast<big>(x) * static_cast<big>(x));
  if (op == "Ceil" || op == "Floor" || op == "Round" || op == "Trunc") return x;
  if (op == "BitwiseNot") return (type == dtype::uint8 ? 255 : -1) - x;
  if (op == "Relu") return x < 0 ? 0 : x;
  if (op == "Relu6") return x < 0 ? 0 : x > 6 ? 6 : x;
  if (op == "Step") return x > 0 ? 1 : truncated(type, p[0]);
  if (op == "ClipByValue")
    return value < p[0] ? truncated(type, std::ceil(p[0])) : value > p[1] ? truncated(type, std::floor(p[1])) : x;
  if (op == "LogicalNot") return x == 0;
  throw std::logic_error("no oracle for " + std::string(op));
}

// floor(a / b) by the division of integers: both are whole multiples of a power of two. Beyond the integers that T has
// one by one it is the rounded quotient.
template <class T>
T floor_of_quotient(T a, T b) {
  const bool differ = std::signbit(a) != std::signbit(b);
  if (std::isnan(a) || std::isnan(b) || a == 0 || b == 0) return a / b;
  if (std::isinf(a)) return std::numeric_limits<T>::quiet_NaN();
  if (std::isinf(b)) return static_cast<T>(differ ? -1 : 0);
  constexpr int digits = std::numeric_limits<T>::digits;
  if (std::fabs(a / b) > std::ldexp(T{1}, digits)) return a / b;
  int power_of_a = 0, power_of_b = 0;
  const big p = static_cast<big>(std::ldexp(std::frexp(std::fabs(a), &power_of_a), digits));
  const big q = static_cast<big>(std::ldexp(std::frexp(std::fabs(b), &power_of_b), digits));
  const int shift = power_of_a - power_of_b;
  if (shift < -digits) return static_cast<T>(differ ? -1 : 0);
  const big dividend = shift > 0 ? p << shift : p, divisor = shift < 0 ? q << -shift : q;
  const big whole = dividend / divisor;
  if (!differ) return static_cast<T>(whole);
  return -static_cast<T>(dividend % divisor == 0 ? whole : whole + 1);
}

template <class T>
wide exact_binary(std::string_view op, T a, T b) {
  if (op == "Add") return static_cast<T>(a + b);
  if (op == "Sub") return static_cast<T>(a - b);
  if (op == "Multiply") return static_cast<T>(a * b);
  if (op == "RealDiv") return static_cast<T>(a / b);
  if (op == "FloorDiv") return floor_of_quotient(a, b);
  if (op == "SquaredDifference") {
    const T difference = a - b;
    return static_cast<T>(difference * difference);
  }
  if (op == "Mod") {
    const T r = std::fmod(a, b);
    if (r == 0) return std::copysign(T{0}, b);
    return (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  }
  if (op == "Fmod") return std::fmod(a, b);
  if (op == "Copysign") return std::copysign(a, b);
  if (op == "Maximum") return std::isnan(a) ? a : a > b ? a : b;
  if (op == "Minimum") return std::isnan(a) ? a : a < b ? a : b;
  if (op == "Prelu") return a < 0 ? static_cast<T>(b * a) : a;
  if (op == "ReluGrad") return b > 0 ? a : T{0};
  if (op == "EluGrad") return b >= 0 ? a : static_cast<T>(a * static_cast<T>(b + 1));
  throw std::logic_error("no oracle for " + std::string(op));
}

std::int64_t power(dtype type, std::int64_t a, std::int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 != 0 ? -1 : 1) : 0;
  big result = 1, square = static_cast<big>(a);
  for (; b != 0; b >>= 1, square *= square) {
    if (b & 1) result *= square;
  }
  return wrapped(type, result);
}

std::int64_t whole_binary(std::string_view op, dtype type, std::int64_t a, std::int64_t b) {
  const big p = static_cast<big>(a), q = static_cast<big>(b);
  const __int128 x = a, y = b;
  if (op == "Add") return wrapped(type, p + q);
  if (op == "Sub") return wrapped(type, p - q);
  if (op == "Multiply") return wrapped(type, p * q);
  if (op == "SquaredDifference") return wrapped(type, (p - q) * (p - q));
  if (op == "Maximum") return a > b ? a : b;
  if (op == "Minimum") return a < b ? a : b;
  if (op == "Pow") return power(type, a, b);
  if (op == "BitwiseAnd" || op == "LogicalAnd") return a & b;
  if (op == "BitwiseOr" || op == "LogicalOr") return a | b;
  if (op == "BitwiseXor" || op == "LogicalXor") return a ^ b;
  const bool is_shift = b >= 0 && b < static_cast<std::int64_t>(8 * size_of(type));
  if (op == "LeftShift") return is_shift ? wrapped(type, p << b) : 0;
  if (op == "RightShift") return is_shift ? a >> b : a < 0 ? -1 : 0;
  if (op == "Fmod") return y == 0 ? 0 : static_cast<std::int64_t>(x % y);
  // floor(x / y) y + mod = x with 0 <= mod / y < 1
  const __int128 remainder = y == 0 ? 0 : (x % y + y) % y;
  if (op == "Mod") return static_cast<std::int64_t>(remainder);
  if (op == "FloorDiv") return y == 0 ? 0 : wrapped(type, static_cast<big>((x - remainder) / y));
  throw std::logic_error("no oracle for " + std::string(op));
}

template <class X>
int compared(std::string_view op, X a, X b) {
  if (op == "Equal") return a == b;
  if (op == "NotEqual") return a != b;
  if (op == "Greater") return a > b;
  if (op == "GreaterEqual") return a >= b;
  if (op == "Less") return a < b;
  if (op == "LessEqual") return a <= b;
  return -1;
}

constexpr double slack_of_float32 = 0x1p-22;

// dy times a slope that is rounded first: it may be 0 or below the normal numbers, where it has an absolute error.
scalar times_slope(dtype type, wide dy, wide slope) {
  const bool single = type == dtype::float32;
  const bool vanishes = single ? static_cast<float>(slope) == 0 : static_cast<double>(slope) == 0;
  const wide least = single ? std::numeric_limits<float>::denorm_min() : std::numeric_limits<double>::denorm_min();
  return {vanishes ? dy * 0 : dy * slope, 0, 0, static_cast<double>(6 * least * std::fabs(dy))};
}

scalar complex_binary(std::string_view op, const scalar& a, const scalar& b) {
  const wide size = std::hypot(a.real, a.imag) * std::hypot(b.real, b.imag);
  if (op == "Add") return {static_cast<float>(a.real + b.real), static_cast<float>(a.imag + b.imag)};
  if (op == "Sub") return {static_cast<float>(a.real - b.real), static_cast<float>(a.imag - b.imag)};
  if (op == "Multiply") {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real, 0,
            static_cast<double>(size * slack_of_float32)};
  }
  if (op == "RealDiv") {
    const wide scale = b.real * b.real + b.imag * b.imag;
    return {(a.real * b.real + a.imag * b.imag) / scale, (a.imag * b.real - a.real * b.imag) / scale, 0,
            static_cast<double>(size / scale * slack_of_float32)};
  }
  const bool same = a.real == b.real && a.imag == b.imag;
  if (op == "Equal") return {0, 0, same};
  if (op == "NotEqual") return {0, 0, !same};
  throw std::logic_error("no oracle for " + std::string(op));
}

template <class T>
bool real_agrees(wide expected, T got, double ulps, double slack) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isnan(got)) return false;
  const T rounded = static_cast<T>(expected);
  if (rounded == got) return ulps > 0 || slack > 0 || std::signbit(rounded) == std::signbit(got);
  if (std::isinf(expected)) return false;
  // Beyond the largest number the result may be infinite: the spacing there stands in for the distance.
  const T top = std::numeric_limits<T>::max();
  const T size = std::fmin(std::fabs(rounded), top);
  const wide spacing = size == top ? wide{size} - std::nextafter(size, T{0}) : wide{std::nextafter(size, top)} - size;
  const wide reached = std::isinf(got) ? std::copysign(wide{top} + spacing, wide{got}) : wide{got};
  return std::fabs(reached - expected) <= ulps * spacing + slack;
}

template <class T>
void append(column& c, T value) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  c.insert(c.end(), p, p + sizeof value);
}

template <class T>
T random_float(std::mt19937_64& r) {
  using limits = std::numeric_limits<T>;
  static const T special[] = {0,
                              T(-0.0),
                              1,
                              -1,
                              T(0.5),
                              T(-0.5),
                              T(1.5),
                              T(2.5),
                              T(-2.5),
                              3,
                              6,
                              T(6.5),
                              T(-6),
                              1000,
                              T(-1000),
                              T(1e10),
                              T(-1e10),
                              88,
                              -90,
                              2,
                              -2,
                              20,
                              T(4e-9),
                              T(8388609),
                              limits::max(),
                              limits::lowest(),
                              limits::min(),
                              limits::denorm_min(),
                              limits::infinity(),
                              -limits::infinity(),
                              limits::quiet_NaN()};
  const auto kind = r() % 8;
  if (kind < 2) return special[r() % std::size(special)];
  const T unit = static_cast<T>(static_cast<double>(r() >> 11) * 0x1p-53 * 2 - 1);
  if (kind < 6) return unit * 4;
  return std::ldexp(unit, static_cast<int>(r() % 60) - 30);
}
template <class T>
T random_whole(std::mt19937_64& r) {
  using limits = std::numeric_limits<T>;
  static const T special[] = {limits::min(), limits::max(), T(limits::max() - 1), 0, 1, static_cast<T>(-1)};
  const auto kind = r() % 8;
  if (kind == 0) return special[r() % std::size(special)];
  if (kind < 5) return static_cast<T>(r() % 9 - (std::is_signed_v<T> ? 4 : 0));
  return static_cast<T>(r());
}

}  // namespace

std::size_t size_of(dtype type) { return kerngrad::trait_of(type).size; }
bool is_float(dtype type) { return type == dtype::float32 || type == dtype::float64; }
bool is_whole(dtype type) { return kerngrad::trait_of(type).kind <= kerngrad::dtype_kind::integer; }

scalar read(const void* p, dtype type, std::size_t i) {
  return visit_number(type, [&]<dtype Type>(kerngrad::dtype_constant<Type>) -> scalar {
    using T = kerngrad::kernels::storage_t<Type>;
    const T x = element<T>(p, i);
    if constexpr (kerngrad::kernels::parts_of<T>::count == 2) return {x.real, x.imag};
    else if constexpr (std::is_integral_v<T>) return {0, 0, static_cast<std::int64_t>(x)};
    else if constexpr (std::is_floating_point_v<T>) return {x};
    else return {half_value(x.bits, format_of(Type))};
  });
}

column random_column(dtype type, std::uint64_t seed) {
  std::mt19937_64 r(seed * 1000003 + static_cast<std::uint64_t>(type));
  column c;
  for (std::size_t i = 0; i < column_size; ++i)
    visit_number(type, [&]<dtype Type>(kerngrad::dtype_constant<Type>) {
      using T = kerngrad::kernels::storage_t<Type>;
      if constexpr (kerngrad::kernels::parts_of<T>::count == 2) {
        using part = typename kerngrad::kernels::parts_of<T>::type;
        append(c, static_cast<part>(r() % 9) - part(4.5));
        append(c, static_cast<part>(r() % 5) * part(0.7) - part(1));
      } else if constexpr (Type == dtype::boolean) {
        append(c, static_cast<std::uint8_t>(r() % 2));
      } else if constexpr (std::is_integral_v<T>) {
        append(c, random_whole<T>(r));
      } else if constexpr (std::is_floating_point_v<T>) {
        append(c, random_float<T>(r));
      } else {
        append(c, static_cast<std::uint16_t>(r()));  // any bits: every exponent is likely
      }
    });
  return c;
}

dtype result_of(std::string_view op, dtype operand) {
  for (const std::string_view test : {"IsNan", "IsInf", "IsFinite", "LogicalNot", "Equal", "NotEqual", "Greater",
                                      "GreaterEqual", "Less", "LessEqual"}) {
    if (op == test) return dtype::boolean;
  }
  if (op == "Complex") return operand == dtype::float64 ? dtype::complex128 : dtype::complex64;
  if (op == "Real" || op == "Imag" || op == "ComplexAbs")
    return operand == dtype::complex128 ? dtype::float64 : dtype::float32;
  return operand;
}

scalar unary_oracle(std::string_view op, dtype type, const scalar& x, const double* params) {
  if (op == "IsNan") return {0, 0, std::isnan(x.real)};
  if (op == "IsInf") return {0, 0, std::isinf(x.real)};
  if (op == "IsFinite") return {0, 0, std::isfinite(x.real)};
  if (type == dtype::complex64) {
    if (op == "Neg") return {-x.real, -x.imag};
    return complex_binary("Multiply", x, x);
  }
  if (is_whole(type)) return {0, 0, whole_unary(op, type, x.whole, params)};
  if (const auto found = by_mpfr(kgaccuracy::unary_oracles, op, x.real)) return *found;
  if (type == dtype::float32) return {exact_unary<float>(op, static_cast<float>(x.real), params)};
  return {exact_unary<double>(op, static_cast<double>(x.real), params)};
}

scalar binary_oracle(std::string_view op, dtype type, const scalar& a, const scalar& b) {
  if (type == dtype::complex64) return complex_binary(op, a, b);
  const int truth = is_whole(type) ? compared(op, a.whole, b.whole) : compared(op, a.real, b.real);
  if (truth >= 0) return {0, 0, truth};
  if (is_whole(type)) return {0, 0, whole_binary(op, type, a.whole, b.whole)};
  if (op == "SigmoidGrad") return times_slope(type, a.real, 0.25L / std::pow(std::cosh(b.real / 2), 2));
  if (op == "TanhGrad") return times_slope(type, a.real, 1 / std::pow(std::cosh(b.real), 2));
  if (const auto found = by_mpfr(kgaccuracy::binary_oracles, op, a.real, b.real)) return *found;
  if (type == dtype::float32) {
    return {exact_binary<float>(op, static_cast<float>(a.real), static_cast<float>(b.real))};
  }
  return {exact_binary<double>(op, static_cast<double>(a.real), static_cast<double>(b.real))};
}

scalar cast_oracle(dtype from, dtype to, const scalar& x) {
  const std::int64_t whole = from == dtype::boolean ? x.whole != 0 : x.whole;
  const wide value = is_whole(from) ? static_cast<wide>(whole) : x.real;
  if (to == dtype::boolean) return {0, 0, value != 0 || x.imag != 0};
  if (is_whole(to)) return {0, 0, is_whole(from) ? wrapped(to, static_cast<big>(whole)) : truncated(to, value)};
  if (to == dtype::float64) return {static_cast<double>(value)};
  if (to == dtype::float16 || to == dtype::bfloat16) return {rounded_to_half(value, format_of(to))};
  if (to == dtype::complex128) return {static_cast<double>(value), static_cast<double>(x.imag)};
  return {static_cast<float>(value), to == dtype::complex64 ? static_cast<float>(x.imag) : 0};
}

double tolerance_of(std::string_view op, dtype type) {
  if (op == "ComplexAbs") return type == dtype::complex128 ? 1.5 : 0.51;  // in double, or of doubles
  for (const auto& bound : kerngrad::kernels::accuracy) {
    if (op == bound.op) return is_float(type) ? (type == dtype::float32 ? bound.ulp_float32 : bound.ulp_float64) : 0;
  }
  return 0;
}

bool agrees(const scalar& expected, const void* got, dtype type, std::size_t i, double ulps) {
  return visit_number(type, [&]<dtype Type>(kerngrad::dtype_constant<Type>) {
    using T = kerngrad::kernels::storage_t<Type>;
    if constexpr (std::is_integral_v<T>) {
      return read(got, type, i).whole == expected.whole;
    } else if constexpr (std::is_floating_point_v<T>) {
      return real_agrees(expected.real, element<T>(got, i), ulps, expected.slack);
    } else if constexpr (kerngrad::kernels::parts_of<T>::count == 2) {
      const T z = element<T>(got, i);
      return real_agrees(expected.real, z.real, ulps, expected.slack) &&
             real_agrees(expected.imag, z.imag, ulps, expected.slack);
    } else {
      return real_agrees(expected.real, static_cast<float>(read(got, type, i).real), 0, 0);
    }
  });
}

}  // namespace kgtest
