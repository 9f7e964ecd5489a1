// SPDX-License-Identifier: Apache-2.0
// Running extremes on every target and their references, against the first extreme element of each prefix, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/move/move.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::guarded;
namespace views = ranges::views;

template <class F>
void each_kernel(bool greatest, F f) {
  const auto table = [&](const auto& entries) {
    for (const entry& e : entries) {
      if (std::string(e.op) != (greatest ? "CumMax" : "CumMin") || ::testing::Test::HasFatalFailure()) continue;
      SCOPED_TRACE(std::string(e.op) + " dtype " + std::to_string(static_cast<int>(e.type)));
      visit(e.type, [&](auto is) {
        using T = storage_t<decltype(is)::value>;
        if constexpr (std::is_arithmetic_v<T>) f(e.run, T{});
      });
    }
  };
  kgtest::on_every_target([&](const char*) { table(move_simd); });
  table(reference::move_reference);
}

// Few different values, so that there are ties, and those of which there is one of each kind.
template <class T>
T drawn(std::mt19937& random, bool special) {
  using limits = std::numeric_limits<T>;
  const std::uint32_t draw = random();
  if (special && draw % 8 == 0) return limits::max();
  if (special && draw % 8 == 1) return limits::lowest();
  if constexpr (std::is_floating_point_v<T>) {
    if (special && draw % 8 == 2) return draw % 16 == 2 ? limits::infinity() : -limits::infinity();
    if (special && draw % 128 == 3) return draw % 256 == 3 ? limits::quiet_NaN() : -limits::quiet_NaN();
    if (draw % 8 == 4) return draw % 16 == 4 ? T{0} : -T{0};
  }
  return static_cast<T>(static_cast<int>(draw / 256 % 9) - (std::is_signed_v<T> ? 4 : 0));
}

template <class T>
T start_of(bool greatest) {
  using limits = std::numeric_limits<T>;
  if constexpr (limits::has_infinity) return greatest ? -limits::infinity() : limits::infinity();
  return greatest ? limits::lowest() : limits::max();
}

// The first NaN of a prefix, else its first extreme element.
template <class T>
T extreme_of(const std::vector<T>& prefix, bool greatest) {
  if (prefix.empty()) return start_of<T>(greatest);
  const auto nan = std::find_if(prefix.begin(), prefix.end(), [](T x) { return x != x; });
  if (nan != prefix.end()) return *nan;
  return greatest ? *std::max_element(prefix.begin(), prefix.end()) : *std::min_element(prefix.begin(), prefix.end());
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void check(run_fn run, bool greatest, const scan_geometry& g, edge side, bool special) {
  std::mt19937 random(static_cast<unsigned>(g.count * 31 + g.inner));
  guarded<T> x(static_cast<std::size_t>(g.outer * g.count * g.inner), side), y(x.size(), side);
  for (T& value : x) value = drawn<T>(random, special);
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  run(in, out, &g);
  for (std::int64_t line = 0; line < g.outer * g.inner; ++line) {
    std::vector<T> prefix;
    for (std::int64_t r = 0; r < g.count; ++r) {
      const std::int64_t row = g.reverse ? g.count - 1 - r : r;
      const auto at = static_cast<std::size_t>((line / g.inner * g.count + row) * g.inner + line % g.inner);
      if (!g.exclusive) prefix.push_back(x[at]);
      ASSERT_TRUE(same_bits(y[at], extreme_of(prefix, greatest))) << "line " << line << " row " << row;
      if (g.exclusive) prefix.push_back(x[at]);
    }
  }
}

TEST(kernels_extremes, a_running_extreme_is_the_first_nan_or_the_first_extreme_element_so_far) {
  constexpr bool either[] = {false, true};
  constexpr std::int64_t inners[] = {0, 1, 3, 33, 600}, counts[] = {0, 1, 2, 19, 67};
  for (const bool greatest : either) {
    each_kernel(greatest, [&]<class T>(run_fn run, T) {
      for (const auto& [exclusive, reverse, special, inner, count] :
           views::cartesian_product(either, either, either, inners, counts))
        check<T>(run, greatest, {inner > 100 ? 1 : 5, count, inner, exclusive, reverse},
                 reverse ? edge::begin : edge::end, special);
    });
  }
}

TEST(kernels_extremes, a_nan_stays_to_the_end_and_nothing_before_it_is_changed) {
  for (const bool greatest : {false, true}) {
    each_kernel(greatest, [&]<class T>(run_fn run, T) {
      if constexpr (std::is_floating_point_v<T>) {
        std::vector<T> x(50, T{1}), y(50);
        x[20] = std::numeric_limits<T>::quiet_NaN();
        x[3] = greatest ? T{7} : T{-7};
        const scan_geometry g{1, 50, 1, false, false};
        const void* in[] = {x.data()};
        void* out[] = {y.data()};
        run(in, out, &g);
        for (std::size_t i = 0; i < y.size(); ++i) {
          if (i >= 20) ASSERT_TRUE(std::isnan(y[i])) << i;
          else ASSERT_EQ(y[i], i < 3 ? T{1} : x[3]) << i;
        }
      }
    });
  }
}
}  // namespace
