// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 from IEEE 754's definition of a binary format (3.3 and 4.3.1): a number is a whole multiple of
// the unit in the last place at its magnitude. In long double, which holds every step exactly.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/abi.h"

namespace kgtest {

/// A format of 16 bits: how many significant bits, and the exponents of its smallest and its largest power of two.
struct half_format {
  int digits, least, most;
};
constexpr half_format format_of(kerngrad::dtype type) {
  return type == kerngrad::dtype::float16 ? half_format{11, -14, 15} : half_format{8, -126, 127};
}

/// The number that 16 bits stand for.
inline long double half_value(std::uint16_t bits, const half_format& f) {
  const int fraction_bits = f.digits - 1, fraction = bits % (1 << fraction_bits);
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  long double size = 0;
  if (exponent == f.most - f.least + 2) {
    using limits = std::numeric_limits<long double>;
    size = fraction == 0 ? limits::infinity() : limits::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<long double>(fraction), f.least - fraction_bits);
  } else {
    size =
        std::ldexp(static_cast<long double>(fraction + (1 << fraction_bits)), f.least + exponent - 1 - fraction_bits);
  }
  return bits >= 0x8000 ? -size : size;
}

/// x, rounded to the nearest number of the format, ties to the even one.
inline long double rounded_to_half(long double x, const half_format& f) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);  // 2^(exponent - 1) <= |x| < 2^exponent
  const long double unit = std::ldexp(1.0L, std::max(exponent - 1, f.least) - (f.digits - 1));
  const long double scaled = std::fabs(x) / unit, below = std::floor(scaled), rest = scaled - below;
  const bool odd = std::fmod(below, 2.0L) == 1;
  const long double size = (rest > 0.5L || (rest == 0.5L && odd) ? below + 1 : below) * unit;
  const long double end = std::ldexp(1.0L, f.most + 1);
  return std::copysign(size >= end ? std::numeric_limits<long double>::infinity() : size, x);
}

}  // namespace kgtest
