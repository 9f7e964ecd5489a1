// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/convert.h"
#include "kernels/reference/scalar.h"

#include <cmath>
#include <limits>

namespace kerngrad::kernels::reference {
namespace {

// An element on its way: long double holds every float and every 64-bit integer exactly on x86; elsewhere integers
// go through `whole`.
struct number {
  long double value;
  std::int64_t whole;
  bool is_whole;
  float imaginary;
};

template <class T>
number whole_number(T x) {
  return {static_cast<long double>(x), static_cast<std::int64_t>(x), true, 0.0f};
}
number real_number(long double x, float imaginary = 0.0f) { return {x, 0, false, imaginary}; }

number read(const void* p, dtype type, std::int64_t i) {
  switch (type) {
    case dtype::float32: return real_number(get<float>(p, i));
    case dtype::float64: return real_number(get<double>(p, i));
    case dtype::int32: return whole_number(get<std::int32_t>(p, i));
    case dtype::int64: return whole_number(get<std::int64_t>(p, i));
    case dtype::uint8: return whole_number(get<std::uint8_t>(p, i));
    case dtype::boolean: return whole_number(get<std::uint8_t>(p, i) != 0);
    case dtype::complex64: return real_number(get<float>(p, 2 * i), get<float>(p, 2 * i + 1));
    case dtype::float16:
    case dtype::bfloat16: break;
  }
  return {};
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
template <class T>
T to_real(const number& x) {
  return x.is_whole ? static_cast<T>(x.whole) : static_cast<T>(x.value);
}

void write(void* p, dtype type, std::int64_t i, const number& x) {
  switch (type) {
    case dtype::float32: return put(p, i, to_real<float>(x));
    case dtype::float64: return put(p, i, to_real<double>(x));
    case dtype::int32: return put(p, i, to_integer<std::int32_t>(x));
    case dtype::int64: return put(p, i, to_integer<std::int64_t>(x));
    case dtype::uint8: return put(p, i, to_integer<std::uint8_t>(x));
    case dtype::boolean: return put(p, i, static_cast<std::uint8_t>(x.value != 0 || x.imaginary != 0));
    case dtype::complex64: put(p, 2 * i, to_real<float>(x)); return put(p, 2 * i + 1, x.imaginary);
    case dtype::float16:
    case dtype::bfloat16: return;
  }
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

void Real_complex64_run(const void* const* in, void* const* out, const void* geometry) {
  for (std::int64_t i = 0; i < count_of(geometry); ++i) put(out[0], i, get<float>(in[0], 2 * i));
}

void Imag_complex64_run(const void* const* in, void* const* out, const void* geometry) {
  for (std::int64_t i = 0; i < count_of(geometry); ++i) put(out[0], i, get<float>(in[0], 2 * i + 1));
}

void ComplexAbs_complex64_run(const void* const* in, void* const* out, const void* geometry) {
  for (std::int64_t i = 0; i < count_of(geometry); ++i) {
    const double re = get<float>(in[0], 2 * i), im = get<float>(in[0], 2 * i + 1);
    put(out[0], i, static_cast<float>(std::hypot(re, im)));
  }
}

void Complex_float32_run(const void* const* in, void* const* out, const void* geometry) {
  for (std::int64_t i = 0; i < count_of(geometry); ++i) {
    put(out[0], 2 * i, get<float>(in[0], i));
    put(out[0], 2 * i + 1, get<float>(in[1], i));
  }
}

}  // namespace kerngrad::kernels::reference
