// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders where a rounded division is closest to the wrong integer.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "kernels/elementwise/binary.h"
#include "tests/support/kernels.h"

namespace {

using namespace kerngrad::kernels;
namespace views = ranges::views;

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

// Whole multiples of divisors and their neighbours, at every size: beyond 2^52 another way is taken than below, and by
// all lanes of a vector in which one is beyond.
TEST(kernels_quotients, of_int64_beside_whole_multiples_are_those_of_integers_on_every_target) {
  using limits = std::numeric_limits<std::int64_t>;
  std::vector<std::int64_t> a, b;
  constexpr std::int64_t divisors[] = {1, 2, 3, 7, 1000, 94906267, 1 << 30}, offsets[] = {-1, 0, 1};
  for (const auto& [divisor, power, off, signs] :
       views::cartesian_product(divisors, views::closed_iota(0, 62), offsets, views::iota(0, 4))) {
    const std::int64_t x = (std::int64_t{1} << power) / divisor * divisor + off;
    a.push_back(signs & 1 ? -x : x);
    b.push_back(signs & 2 ? -divisor : divisor);
  }
  constexpr std::int64_t dividends[] = {limits::min(), limits::max(), 0, 5};
  constexpr std::int64_t ends[] = {limits::min(), limits::max(), 0, -1};
  for (const auto& [x, y] : views::cartesian_product(dividends, ends)) {
    a.insert(a.end(), {x, 9});
    b.insert(b.end(), {y, -4});
  }
  std::vector<std::int64_t> quotient(a.size()), remainder(a.size());
  kgtest::on_every_target([&](const char*) {
    FloorDiv_int64(a.data(), b.data(), quotient.data(), a.size());
    Mod_int64(a.data(), b.data(), remainder.data(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      __extension__ using wide = __int128;
      const wide x = a[i], y = b[i];
      const wide q = y == 0 ? 0 : x / y - (x % y != 0 && (x < 0) != (y < 0));
      ASSERT_EQ(quotient[i], static_cast<std::int64_t>(q)) << a[i] << " / " << b[i];
      ASSERT_EQ(remainder[i], static_cast<std::int64_t>(y == 0 ? 0 : x - q * y)) << a[i] << " % " << b[i];
    }
  });
}

// floor(a / b) of the exact quotient, which the remainder says: what it leaves of a is a multiple of b. In long double.
template <class T>
T floor_of_quotient(T a, T b) {
  const T rest = std::fmod(a, b);
  const bool below = rest != 0 && std::signbit(rest) != std::signbit(b);
  if (std::isinf(b) && std::isfinite(a)) return below ? -1 : std::copysign(T{0}, a / b);
  const long double multiple = static_cast<long double>(a) - static_cast<long double>(rest);
  const long double quotient = std::nearbyint(multiple / static_cast<long double>(b)) - (below ? 1 : 0);
  return quotient == 0 ? std::copysign(T{0}, a / b) : static_cast<T>(quotient);
}

// Neighbours of whole multiples of divisors, with quotients up to 2^digits: where a rounded quotient is one too large.
template <class T>
void quotients_are_floored_once(void (*divide)(const void*, const void*, void*, std::size_t),
                                void (*mod)(const void*, const void*, void*, std::size_t),
                                const std::vector<T>& divisors) {
  constexpr T infinity = std::numeric_limits<T>::infinity(), tiny = std::numeric_limits<T>::denorm_min();
  std::vector<T> a, b;
  for (const T divisor : divisors)
    for (int power = 0; power < std::numeric_limits<T>::digits; ++power) {
      const T multiple = std::nearbyint(std::ldexp(T{1} / T{0.7}, power)) * divisor;
      for (const T x : {multiple, std::nextafter(multiple, T{0}), std::nextafter(multiple, infinity)})
        for (const T sign : {T{1}, T{-1}}) {
          if (!std::isfinite(x)) continue;
          a.insert(a.end(), {sign * x, sign * x});
          b.insert(b.end(), {divisor, -divisor});
        }
    }
  const std::size_t ordinary = a.size();
  for (const T x : {T{0}, tiny, T{1}, std::numeric_limits<T>::max()})
    for (const T y : {tiny, T{3}, infinity, std::numeric_limits<T>::max()})
      if (!(std::fabs(x / y) > 4)) {
        a.insert(a.end(), {x, -x, x, -x});
        b.insert(b.end(), {y, y, -y, -y});
      }
  std::vector<T> got(a.size()), rest(a.size());
  kgtest::on_every_target([&](const char*) {
    divide(a.data(), b.data(), got.data(), ordinary);
    divide(a.data() + ordinary, b.data() + ordinary, got.data() + ordinary, a.size() - ordinary);
    mod(a.data(), b.data(), rest.data(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const T wanted = floor_of_quotient(a[i], b[i]);
      ASSERT_EQ(got[i], wanted) << a[i] << " / " << b[i];
      ASSERT_EQ(std::signbit(got[i]), std::signbit(wanted)) << a[i] << " / " << b[i];
      if (std::isinf(b[i])) continue;
      const long double sum = static_cast<long double>(got[i]) * b[i] + rest[i];
      ASSERT_LE(std::fabs(sum - a[i]), std::fabs(a[i]) * 0x1p-60L + std::fabs(b[i]) * 0x1p-20L)
          << a[i] << " / " << b[i];
    }
  });
}

TEST(kernels_quotients, of_floats_are_floored_once_on_every_target) {
  quotients_are_floored_once<float>(FloorDiv_float32, Mod_float32, {1.f, 3.f, 0.1f, 0x1.fffffep-3f, 7e-42f, 1e30f});
  quotients_are_floored_once<double>(FloorDiv_float64, Mod_float64,
                                     {1.0, 3.0, 0.1, 0x1.fffffffffffffp-3, 7e-310, 0x1.8p980, 1e-200, 1e200});
}

TEST(kernels_quotients, of_floats_without_a_floor_are_those_of_other_libraries) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const struct {
    double a, b, wanted;
  } cases[] = {{1, 0.1, 9},
               {-1, 0.1, -10},
               {1, -0.1, -10},
               {0.3, 0.1, 2},
               {1, 0, inf},
               {-1, 0, -inf},
               {0, 0, nan},
               {inf, 2, nan},
               {-inf, -2, nan},
               {inf, 0, inf},
               {2, inf, 0},
               {-2, inf, -1},
               {2, -inf, -1},
               {inf, inf, nan},
               {nan, 1, nan},
               {1, nan, nan},
               {1e300, 1e-8, 1e300 / 1e-8},
               {-1e-300, 1e300, -1},
               {1e-300, 1e300, 0}};
  kgtest::on_every_target([&](const char*) {
    for (const auto& [a, b, wanted] : cases) {
      double got = 0;
      FloorDiv_float64(&a, &b, &got, 1);
      if (std::isnan(wanted)) EXPECT_TRUE(std::isnan(got)) << a << " / " << b;
      else EXPECT_EQ(got, wanted) << a << " / " << b;
    }
  });
}

// C's remainder with the sign of the divisor, where fmod is exact and the sum is rounded once.
template <class T>
T remainder_of(T a, T b) {
  const T r = std::fmod(a, b);
  return r == 0 ? std::copysign(T{0}, b) : (r < 0) != (b < 0) ? r + b : r;
}

// Neighbours of whole multiples of the divisors, with quotients up to 2^most, and what has none.
template <class T>
void remainders_are_exact(void (*mod)(const void*, const void*, void*, std::size_t), const std::vector<T>& divisors,
                          int most) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> a, b;
  for (const T divisor : divisors) {
    for (int power = 0; power <= most; ++power) {
      const T multiple = std::nearbyint(std::ldexp(T{1} / T{0.7}, power)) * divisor;
      for (const T x : {multiple, std::nextafter(multiple, T{0}), std::nextafter(multiple, infinity)}) {
        for (const T sign : {T{1}, T{-1}}) {
          a.insert(a.end(), {sign * x, sign * x});
          b.insert(b.end(), {divisor, -divisor});
        }
      }
    }
  }
  const std::size_t ordinary = a.size();
  constexpr T dividends[] = {T{0}, T{1}, std::numeric_limits<T>::max(), infinity};
  constexpr T extremes[] = {T{0}, std::numeric_limits<T>::denorm_min(), infinity, std::numeric_limits<T>::quiet_NaN()};
  for (const auto& [x, y] : views::cartesian_product(dividends, extremes)) {
    a.insert(a.end(), {x, -x});
    b.insert(b.end(), {y, y});
  }
  std::vector<T> got(a.size());
  kgtest::on_every_target([&](const char*) {
    // The ordinary ones by themselves: a lane that the vector code cannot treat sends its neighbours another way, too.
    mod(a.data(), b.data(), got.data(), ordinary);
    mod(a.data() + ordinary, b.data() + ordinary, got.data() + ordinary, a.size() - ordinary);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const T wanted = remainder_of(a[i], b[i]);
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(got[i])) << a[i] << " % " << b[i];
      } else {
        ASSERT_EQ(got[i], wanted) << a[i] << " % " << b[i];
        ASSERT_EQ(std::signbit(got[i]), std::signbit(wanted)) << a[i] << " % " << b[i];
      }
    }
  });
}

TEST(kernels_quotients, remainders_of_doubles_beside_whole_multiples_are_exact_on_every_target) {
  remainders_are_exact<double>(Mod_float64,
                               {1.0, 3.0, 0.1, 0x1.fffffffffffffp-3, 7e-310, 0x1p-1074, 0x1.8p995, 1e-200, 1e200}, 54);
}

TEST(kernels_quotients, remainders_of_floats_beside_whole_multiples_are_exact_on_every_target) {
  remainders_are_exact<float>(Mod_float32, {1.f, 3.f, 0.1f, 0x1.fffffep-3f, 7e-42f, 0x1p-149f, 0x1.8p96f, 1e-30f}, 30);
}

}  // namespace
