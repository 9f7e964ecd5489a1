// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert/reference_convert.h"
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

void cast(const void* const* in, void* const* out, const void* geometry, dtype from) {
  const auto& g = *static_cast<const cast_geometry*>(geometry);
  for (std::int64_t i = 0; i < g.count; ++i) write(out[0], g.to, i, read(in[0], from, i));
}

std::int64_t count_of(const void* geometry) { return static_cast<const convert_geometry*>(geometry)->count; }

}  // namespace

#define KG_DEFINE_CAST(Name, type)                                                          \
  void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry) { \
    cast(in, out, geometry, dtype::type);                                                   \
  }
KG_ALL(KG_DEFINE_CAST, Cast)

// Part `at` of each number.
template <class P>
void take_part(const void* const* in, void* const* out, const void* geometry, std::int64_t at) {
  for (std::int64_t i = 0; i < count_of(geometry); ++i) put(out[0], i, get<P>(in[0], 2 * i + at));
}
// In the next wider type.
template <class P>
void magnitudes(const void* const* in, void* const* out, const void* geometry) {
  for (std::int64_t i = 0; i < count_of(geometry); ++i) {
    const wide_t<P> re = get<P>(in[0], 2 * i), im = get<P>(in[0], 2 * i + 1);
    put(out[0], i, static_cast<P>(std::hypot(re, im)));
  }
}
template <class P>
void put_together(const void* const* in, void* const* out, const void* geometry) {
  for (std::int64_t i = 0; i < count_of(geometry); ++i) {
    put(out[0], 2 * i, get<P>(in[0], i));
    put(out[0], 2 * i + 1, get<P>(in[1], i));
  }
}

#define KG_DEFINE(Name, type, body) \
  void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry) { body; }
#define KG_DEFINE_REAL(Name, type) KG_DEFINE(Name, type, take_part<part_t<dtype::type>>(in, out, geometry, 0))
#define KG_DEFINE_IMAG(Name, type) KG_DEFINE(Name, type, take_part<part_t<dtype::type>>(in, out, geometry, 1))
#define KG_DEFINE_ABS(Name, type) KG_DEFINE(Name, type, magnitudes<part_t<dtype::type>>(in, out, geometry))
#define KG_DEFINE_COMPLEX(Name, type) KG_DEFINE(Name, type, put_together<storage_t<dtype::type>>(in, out, geometry))
KG_PAIRS(KG_DEFINE_REAL, Real)
KG_PAIRS(KG_DEFINE_IMAG, Imag)
KG_PAIRS(KG_DEFINE_ABS, ComplexAbs)
KG_FLOATS(KG_DEFINE_COMPLEX, Complex)

}  // namespace kerngrad::kernels::reference
