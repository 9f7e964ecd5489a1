// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert/convert.h"
#include "kernels/common/reference_scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace kerngrad::kernels::reference {
namespace {

// An element on its way: long double holds every float and every 64-bit integer exactly on x86; elsewhere integers
// go through `whole`.
struct number {
  long double value;
  std::int64_t whole;
  bool is_whole;
  long double imaginary;
};

number read(const void* p, dtype type, std::int64_t i) {
  return visit_number(type, [&]<dtype From>(dtype_constant<From>) -> number {
    using T = storage_t<From>;
    const T x = get<T>(p, i);
    if constexpr (parts_of<T>::count == 2) {
      return {x.real, 0, false, x.imag};
    } else if constexpr (std::is_integral_v<T>) {
      const std::int64_t whole = From == dtype::boolean ? x != 0 : static_cast<std::int64_t>(x);
      return {static_cast<long double>(whole), whole, true, 0};
    } else {
      return {static_cast<long double>(x), 0, false, 0};
    }
  });
}

// Integers keep their low bits; reals lose the fraction and are clamped to the range.
template <class T>
T to_integer(const number& x) {
  if (x.is_whole) return static_cast<T>(static_cast<std::uint64_t>(x.whole));
  if (std::isnan(x.value)) return 0;
  const long double t = std::trunc(x.value);
  if (t < static_cast<long double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  // digits powers of two: the first value above the range, exact in every floating type
  if (t >= std::ldexp(1.0L, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
  return static_cast<T>(t);
}
// One rounding to the nearest, ties to even. A half from its definition: the multiple of its unit in the last place at
// the magnitude of x, which is at least that of the smallest normal number.
template <class T>
T to_real(const number& x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x.is_whole ? static_cast<T>(x.whole) : static_cast<T>(x.value);
  } else {
    constexpr bool brain = std::is_same_v<T, bfloat16>;
    constexpr int digits = brain ? 8 : 11, least = brain ? -125 : -13;  // 2^least is twice the smallest normal number
    if (std::isnan(x.value) || std::isinf(x.value)) return T(static_cast<float>(x.value));
    int exponent = 0;
    std::frexp(x.value, &exponent);
    const int unit = std::max(exponent, least) - digits;
    // Beyond the largest half this is at least a power of two that is none, and float32 has: infinity.
    return T(static_cast<double>(std::ldexp(std::nearbyint(std::ldexp(x.value, -unit)), unit)));
  }
}

void write(void* p, dtype type, std::int64_t i, const number& x) {
  visit_number(type, [&]<dtype To>(dtype_constant<To>) {
    using T = storage_t<To>;
    if constexpr (To == dtype::boolean) {
      put(p, i, static_cast<T>(x.value != 0 || x.imaginary != 0));
    } else if constexpr (parts_of<T>::count == 2) {
      using P = part_t<To>;
      put(p, i, T{to_real<P>(x), static_cast<P>(x.imaginary)});
    } else if constexpr (std::is_integral_v<T>) {
      put(p, i, to_integer<T>(x));
    } else {
      put(p, i, to_real<T>(x));
    }
  });
}

template <dtype From>
void Cast(const cast_geometry& g, const void* x, void* y) {
  for (std::int64_t i = 0; i < g.count; ++i) write(y, g.to, i, read(x, From, i));
}

template <dtype Type, class P = part_t<Type>>
void Real(const convert_geometry& g, const P* z, P* y) {
  for (std::int64_t i = 0; i < g.count; ++i) y[i] = z[2 * i];
}
template <dtype Type, class P = part_t<Type>>
void Imag(const convert_geometry& g, const P* z, P* y) {
  for (std::int64_t i = 0; i < g.count; ++i) y[i] = z[2 * i + 1];
}
// In the next wider type.
template <dtype Type, class P = part_t<Type>>
void ComplexAbs(const convert_geometry& g, const P* z, P* y) {
  for (std::int64_t i = 0; i < g.count; ++i)
    y[i] = static_cast<P>(std::hypot(wide_t<P>{z[2 * i]}, wide_t<P>{z[2 * i + 1]}));
}
template <dtype Type, class P = storage_t<Type>>
void Complex(const convert_geometry& g, const P* re, const P* im, P* z) {
  for (std::int64_t i = 0; i < g.count; ++i) {
    z[2 * i] = re[i];
    z[2 * i + 1] = im[i];
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_CONVERT_KERNELS)

}  // namespace kerngrad::kernels::reference
