// SPDX-License-Identifier: Apache-2.0
// Counts of small integers on every target and in the reference, against the definition: bin by bin, in long double and
// in 128 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/count/bincount.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::guarded;

template <class T>
run_fn kernel(bool reference) {
  if constexpr (std::is_same_v<T, float>) return reference ? reference::DenseBincount_float32 : DenseBincount_float32;
  else if constexpr (std::is_same_v<T, double>)
    return reference ? reference::DenseBincount_float64 : DenseBincount_float64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return reference ? reference::DenseBincount_int32 : DenseBincount_int32;
  else return reference ? reference::DenseBincount_int64 : DenseBincount_int64;
}

template <class E>
constexpr dtype type_of() {
  if constexpr (std::is_same_v<E, std::uint8_t>) return dtype::uint8;
  else return std::is_same_v<E, std::int32_t> ? dtype::int32 : dtype::int64;
}

__extension__ using wide = __int128;

// Value of a bin of a row, and the largest error of a result.
template <class T, class E>
void expect_bin(T got, const E* x, const T* weights, const bincount_geometry& g, std::int64_t bin) {
  std::int64_t times = 0;
  long double sum = 0, magnitude = 0;
  wide exact = 0;
  for (std::int64_t i = 0; i < g.count; ++i) {
    if (static_cast<std::int64_t>(x[i]) != bin) continue;
    ++times;
    if (!g.weighted) continue;
    if constexpr (std::is_floating_point_v<T>) sum += weights[i], magnitude += std::fabs(weights[i]);
    else exact += weights[i];
  }
  if (g.binary || !g.weighted) {
    EXPECT_EQ(got, g.binary ? static_cast<T>(times > 0 ? 1 : 0) : static_cast<T>(times)) << bin;
  } else if constexpr (std::is_floating_point_v<T>) {
    const long double error = std::numeric_limits<T>::epsilon() * std::fabs(sum) +
                              static_cast<long double>(g.count + 4) * 0x1p-53L * magnitude;
    EXPECT_LE(std::fabs(got - sum), error) << bin;
  } else {
    EXPECT_EQ(got, static_cast<T>(static_cast<std::make_unsigned_t<T>>(exact))) << bin;
  }
}

template <class T, class E>
void check(const bincount_geometry& g, bool reference) {
  const auto all = static_cast<std::size_t>(g.rows * g.count);
  guarded<E> x(all);
  guarded<T> weights(g.weighted ? all : 0), y(static_cast<std::size_t>(g.rows * g.size));
  std::mt19937_64 draw(7);
  for (E& e : x) e = static_cast<E>(draw() % (static_cast<std::uint64_t>(g.size) + 2));
  for (T& w : weights) {
    if constexpr (std::is_floating_point_v<T>) w = static_cast<T>(static_cast<double>(draw() % 2001) - 1000) / 64;
    else w = static_cast<T>(draw());  // sums wrap
  }
  std::memset(static_cast<void*>(y.data()), 0xff, y.size() * sizeof(T));
  const void* in[] = {x.data(), weights.data()};
  void* out[] = {y.data()};
  kernel<T>(reference)(in, out, &g);
  for (std::int64_t r = 0; r < g.rows; ++r)
    for (std::int64_t bin = 0; bin < g.size; ++bin)
      expect_bin(y.data()[r * g.size + bin], x.data() + r * g.count,
                 g.weighted ? weights.data() + r * g.count : nullptr, g, bin);
}

template <class T, class E>
void check_all(bool reference) {
  struct counting {
    std::int64_t rows, count, size;
  };
  // On both sides of where few bins are copied.
  for (const counting& c : {counting{1, 1, 1},
                            {2, 5, 3},
                            {1, 403, 100},
                            {1, 399, 100},
                            {3, 17, 4},
                            {1, 0, 3},
                            {2, 3, 0},
                            {1, 50, 5000},
                            {16000, 8, 3}})
    for (const bool weighted : {false, true})
      for (const bool binary : {false, true})
        check<T, E>({c.rows, c.count, c.size, type_of<E>(), weighted, binary}, reference);
}

TEST(bincount, is_a_sum_for_each_bin_in_every_dtype_of_elements_and_weights) {
  for (const bool reference : {false, true}) {
    check_all<float, std::int32_t>(reference);
    check_all<float, std::int64_t>(reference);
    check_all<float, std::uint8_t>(reference);
    check_all<double, std::int32_t>(reference);
    check_all<double, std::int64_t>(reference);
    check_all<std::int32_t, std::int32_t>(reference);
    check_all<std::int32_t, std::uint8_t>(reference);
    check_all<std::int64_t, std::int64_t>(reference);
  }
}

TEST(bincount, rounds_a_count_once) {
  const std::int64_t count = (std::int64_t{1} << 24) + 3;
  const std::vector<std::uint8_t> x(static_cast<std::size_t>(count), 1);
  float y[2] = {-1, -1};
  const bincount_geometry g{1, count, 2, dtype::uint8, false, false};
  const void* in[] = {x.data(), nullptr};
  void* out[] = {y};
  DenseBincount_float32(in, out, &g);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 16777220.f);  // adding 1 to a float32 stops at 2^24
}

}  // namespace
