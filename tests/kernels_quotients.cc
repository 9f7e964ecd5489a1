// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders where a rounded division is closest to the wrong integer.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/binary.h"
#include "tests/support/kernels.h"

namespace {

using namespace kerngrad::kernels;

TEST(kernels_quotients, of_all_pairs_of_bytes_are_those_of_integers_on_every_target) {
  constexpr std::size_t count = 256 * 256;
  std::vector<std::uint8_t> a(count), b(count), quotient(count), remainder(count);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = static_cast<std::uint8_t>(i / 256);
    b[i] = static_cast<std::uint8_t>(i % 256);
  }
  kgtest::on_every_target([&](const char*) {
    FloorDiv_uint8(a.data(), b.data(), quotient.data(), count);
    Mod_uint8(a.data(), b.data(), remainder.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(quotient[i], b[i] == 0 ? 0 : a[i] / b[i]) << int{a[i]} << " / " << int{b[i]};
      ASSERT_EQ(remainder[i], b[i] == 0 ? 0 : a[i] % b[i]) << int{a[i]} << " % " << int{b[i]};
    }
  });
}

// C's remainder with the sign of the divisor, where fmod is exact and so is the sum.
double remainder_of(double a, double b) {
  const double r = std::fmod(a, b);
  return r == 0 ? std::copysign(0.0, b) : (r < 0) != (b < 0) ? r + b : r;
}

// Neighbours of whole multiples of divisors of all sizes, with quotients up to 2^54, and what has none.
TEST(kernels_quotients, remainders_of_doubles_beside_whole_multiples_are_exact_on_every_target) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> a, b;
  for (const double divisor : {1.0, 3.0, 0.1, 0x1.fffffffffffffp-3, 7e-310, 0x1p-1074, 0x1.8p995, 1e-200, 1e200}) {
    for (int power = 0; power <= 54; ++power) {
      const double multiple = std::nearbyint(std::ldexp(1.0 / 0.7, power)) * divisor;
      for (const double x : {multiple, std::nextafter(multiple, 0.0), std::nextafter(multiple, infinity)}) {
        for (const double sign : {1.0, -1.0}) {
          a.insert(a.end(), {sign * x, sign * x});
          b.insert(b.end(), {divisor, -divisor});
        }
      }
    }
  }
  const std::size_t ordinary = a.size();
  for (const double x : {0.0, 1.0, 1e300, infinity}) {
    for (const double y : {0.0, 0x1p-1074, infinity, std::numeric_limits<double>::quiet_NaN()}) {
      a.insert(a.end(), {x, -x});
      b.insert(b.end(), {y, y});
    }
  }
  std::vector<double> got(a.size());
  kgtest::on_every_target([&](const char*) {
    // The ordinary ones by themselves: a lane that the vector code cannot treat sends its neighbours another way, too.
    Mod_float64(a.data(), b.data(), got.data(), ordinary);
    Mod_float64(a.data() + ordinary, b.data() + ordinary, got.data() + ordinary, a.size() - ordinary);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double wanted = remainder_of(a[i], b[i]);
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(got[i])) << a[i] << " % " << b[i];
      } else {
        ASSERT_EQ(got[i], wanted) << a[i] << " % " << b[i];
        ASSERT_EQ(std::signbit(got[i]), std::signbit(wanted)) << a[i] << " % " << b[i];
      }
    }
  });
}

}  // namespace
