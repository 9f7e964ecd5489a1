// SPDX-License-Identifier: Apache-2.0
// float16 and bfloat16 as C++ types: storage, and conversions that round to the nearest, ties to even (IEEE 754-2019,
// 4.3.1). Plain C++, for kernels, launchers and programs; kernels/convert/convert.cc has the same for arrays.
#pragma once
#include <cstdint>
#include <type_traits>

namespace kerngrad {
namespace kernels {

/// An integer whose double lies between the same numbers of 52 bits as it does: of what a double would round away, only
/// whether it is 0 is kept. So rounding that double to a half is rounding the integer.
constexpr std::int64_t without_low_bits(std::int64_t x) {
  constexpr std::int64_t exact = std::int64_t{1} << 53, low = 0xfff;
  if ((x > -exact && x < exact) || (x & low) == 0) return x;
  return (x & ~low) | (low + 1) / 2;
}

}  // namespace kernels

/// A float of 16 bits: a sign, `ExponentBits` of exponent, `FractionBits` of fraction. It stores; arithmetic on it is
/// that of float, after a conversion.
template <int FractionBits, int ExponentBits> struct basic_half {
  static_assert(FractionBits + ExponentBits == 15);
  /// As of std::numeric_limits: significant bits, and the power of two that is above all numbers.
  static constexpr int digits = FractionBits + 1, max_exponent = 1 << (ExponentBits - 1);
  std::uint16_t bits = 0;

  constexpr basic_half() = default;
  /// The nearest one, of two the even one: infinity from half a unit above the largest one on; a NaN stays one.
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit constexpr basic_half(T x) {
    if constexpr (std::is_integral_v<T>)
      bits = rounded(static_cast<double>(kernels::without_low_bits(static_cast<std::int64_t>(x))));
    else bits = rounded(x);
  }
  /// The same number; float and double hold every one.
  template <class T>
    requires std::is_arithmetic_v<T>
  explicit constexpr operator T() const {
    return static_cast<T>(widened());
  }
  friend constexpr bool operator==(basic_half a, basic_half b) { return a.widened() == b.widened(); }

 private:
  static constexpr std::uint32_t infinity = ((1u << ExponentBits) - 1) << FractionBits;
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;

  static constexpr std::uint16_t rounded(double x) {
    const auto all = __builtin_bit_cast(std::uint64_t, x);
    const std::uint64_t magnitude = all & 0x7fffffffffffffff, fraction = all & 0xfffffffffffff;
    const std::uint32_t sign = static_cast<std::uint32_t>(all >> 48) & 0x8000;
    const auto with_sign = [&](std::uint64_t value) { return static_cast<std::uint16_t>(sign | value); };
    if (magnitude > 0x7ff0000000000000)  // a NaN, which becomes a quiet one
      return with_sign(infinity | 1u << (FractionBits - 1) | fraction >> (52 - FractionBits));
    const int exponent = static_cast<int>(magnitude >> 52) - 1023, least = 1 - bias;
    if (exponent > bias) return with_sign(infinity);
    // The bits that go: more of them below the smallest normal number, until less than half a unit is left.
    const int dropped = 52 - FractionBits + (exponent < least ? least - exponent : 0);
    if (dropped > 53) return with_sign(0);
    const std::uint64_t significand = fraction | std::uint64_t{1} << 52, half = std::uint64_t{1} << (dropped - 1);
    const std::uint64_t kept = significand >> dropped, rest = significand & (2 * half - 1);
    const std::uint64_t up = rest > half || (rest == half && (kept & 1)) ? 1 : 0;
    // The leading bit of a normal number adds one to the exponent, and so does a carry.
    const std::uint64_t below = exponent < least ? 0 : static_cast<std::uint64_t>(exponent - least) << FractionBits;
    return with_sign(below + kept + up);
  }

  constexpr float widened() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    constexpr std::uint32_t rebias = static_cast<std::uint32_t>(127 - bias) << 23;
    if (magnitude >= infinity)
      return __builtin_bit_cast(float, sign | 0x7f800000u | (magnitude << (23 - FractionBits) & 0x7fffffu));
    if constexpr (rebias != 0)
      if (magnitude >> FractionBits == 0) {
        // A multiple of the smallest number, a power of two that float has as a normal number.
        constexpr auto unit = __builtin_bit_cast(float, static_cast<std::uint32_t>(128 - bias - FractionBits) << 23);
        const float value = static_cast<float>(magnitude) * unit;
        return sign ? -value : value;
      }
    return __builtin_bit_cast(float, sign | ((magnitude << (23 - FractionBits)) + rebias));
  }
};

/// IEEE 754's binary16: 11 significant bits, up to 65504.
using float16 = basic_half<10, 5>;
/// The upper half of a float32: 8 significant bits, the same exponents.
using bfloat16 = basic_half<7, 8>;

}  // namespace kerngrad
