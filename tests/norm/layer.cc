// SPDX-License-Identifier: Apache-2.0
// Rows normalized by their own moments on every target and in the reference, against the definition in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/norm/layer.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

template <class T>
run_fn kernel(bool reference) {
  if constexpr (std::is_same_v<T, float>) return reference ? reference::LayerNorm_float32 : LayerNorm_float32;
  else return reference ? reference::LayerNorm_float64 : LayerNorm_float64;
}

// A row of x normalized without scale and offset, and the largest error of a result in T.
struct defined {
  std::vector<long double> values;
  long double error = 0;
};
template <class T>
defined normalized(const T* x, std::int64_t count, long double epsilon) {
  long double sum = 0, squares = 0, largest = 0, away = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += x[i];
    squares += static_cast<long double>(x[i]) * x[i];
    largest = std::max(largest, std::fabs(static_cast<long double>(x[i])));
  }
  const long double mean = sum / count, deviation = std::sqrt(squares / count - mean * mean + epsilon);
  defined row;
  for (std::int64_t i = 0; i < count; ++i) {
    row.values.push_back((x[i] - mean) / deviation);
    away = std::max(away, std::fabs(row.values.back()));
  }
  // The mean is off by some units of the largest element, where its sum has that many roundings, the factor by as many
  // of itself.
  row.error = 16 * std::numeric_limits<T>::epsilon() * (largest / deviation + away);
  return row;
}

template <class T>
void check(const layer_norm_geometry& g, double mean, bool has_scale, bool has_offset, edge side, bool reference) {
  const auto count = static_cast<std::size_t>(g.count), all = static_cast<std::size_t>(g.rows) * count;
  guarded<T> x(all, side), scale(count, side), offset(count, side), y(all, side);
  std::mt19937 random(static_cast<unsigned>(all));
  const auto fill = [&](guarded<T>& values, double low, double high) {
    for (T& v : values) v = static_cast<T>(std::uniform_real_distribution<double>(low, high)(random));
  };
  fill(x, mean - 3, mean + 3), fill(scale, -2, 2), fill(offset, -2, 2);
  const void* in[] = {x.data(), has_scale ? scale.data() : nullptr, has_offset ? offset.data() : nullptr};
  void* out[] = {y.data()};
  kernel<T>(reference)(in, out, &g);
  for (std::size_t row = 0; row < static_cast<std::size_t>(g.rows); ++row) {
    const defined wanted = normalized(x.data() + row * count, g.count, g.epsilon);
    for (std::size_t i = 0; i < count; ++i) {
      const long double want = wanted.values[i] * (has_scale ? scale[i] : 1.0L) + (has_offset ? offset[i] : 0.0L);
      ASSERT_LE(std::fabs(want - static_cast<long double>(y[row * count + i])), 2 * wanted.error)
          << i << " of row " << row << " of " << g.rows << "x" << g.count;
    }
  }
}

template <class T>
void check_all(bool reference) {
  constexpr bool either[] = {true, false};
  constexpr double means[] = {0, 100};
  std::vector<std::int64_t> counts = {0, 100, 255, 1024, 4095, 4096, 4097, 9000};
  for (std::int64_t n = 1; n <= 9 * 64 / static_cast<std::int64_t>(sizeof(T)) + 3; n += n < 40 ? 1 : 7)
    counts.push_back(n);
  for (const auto& [n, mean, side] : views::cartesian_product(counts, means, edges))
    ASSERT_NO_FATAL_FAILURE(check<T>({2, n, 1e-3}, mean, true, true, side, reference));
  for (const auto& [scale, offset] : views::cartesian_product(either, either))
    ASSERT_NO_FATAL_FAILURE(check<T>({5, 37, 0.5}, 1, scale, offset, edge::end, reference));
  ASSERT_NO_FATAL_FAILURE(check<T>({0, 5, 1e-3}, 0, true, true, edge::end, reference));
}

// Rows of numbers up to 2^power in magnitude, with a mean of some deviations.
template <class T>
void check_row(std::int64_t n, int power, double mean, double epsilon, bool reference) {
  const layer_norm_geometry g{1, n, epsilon};
  std::vector<T> x(static_cast<std::size_t>(n)), y(x.size());
  std::mt19937 random(static_cast<unsigned>(n));
  for (T& v : x) {
    const double unit = std::uniform_real_distribution<double>(-1, 1)(random);
    v = static_cast<T>(std::ldexp((mean + unit) / (std::fabs(mean) + 1), power));
  }
  const void* in[] = {x.data(), nullptr, nullptr};
  void* out[] = {y.data()};
  kernel<T>(reference)(in, out, &g);
  const defined wanted = normalized(x.data(), n, epsilon);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_LE(std::fabs(wanted.values[i] - static_cast<long double>(y[i])), wanted.error)
        << i << " of " << n << " at 2^" << power << ", mean " << mean << ", epsilon " << epsilon;
}

template <class T>
void check_sizes(bool reference) {
  using limits = std::numeric_limits<T>;
  std::vector<int> powers;
  for (int power = limits::min_exponent + 20; power < limits::max_exponent; power += sizeof(T) == 4 ? 9 : 61)
    powers.push_back(power);
  powers.push_back(limits::max_exponent - 1);
  constexpr std::int64_t counts[] = {2, 3, 16, 19, 64, 100, 5000};
  constexpr double means[] = {0, 40}, added[] = {0, 1e-12, 1e-3};
  for (const auto& [n, power, mean, epsilon] : views::cartesian_product(counts, powers, means, added))
    ASSERT_NO_FATAL_FAILURE(check_row<T>(n, power, mean, epsilon, reference));
}

TEST(layer_norm, is_the_definition_for_numbers_of_every_size) {
  kgtest::on_every_target([](const char*) {
    check_sizes<float>(false);
    check_sizes<double>(false);
  });
  check_sizes<float>(true);
  check_sizes<double>(true);
}

// The mean is no number of the type.
TEST(layer_norm, of_neighbours_is_exact) {
  kgtest::on_every_target([](const char*) {
    for (const std::int64_t n : {2, 64, 300}) {
      std::vector<float> x(static_cast<std::size_t>(n)), y(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 16777216.0f : 16777218.0f;
      const layer_norm_geometry g{1, n, 0};
      const void* in[] = {x.data(), nullptr, nullptr};
      void* out[] = {y.data()};
      LayerNorm_float32(in, out, &g);
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], i % 2 == 0 ? -1.0f : 1.0f) << i << " of " << n;
    }
  });
}

TEST(layer_norm, of_a_constant_row_of_any_size_is_0) {
  kgtest::on_every_target([](const char*) {
    for (const float value : {1e-45f, 1e-30f, 1.0f, 1e30f, std::numeric_limits<float>::max()})
      for (const std::int64_t n : {3, 200}) {
        std::vector<float> x(static_cast<std::size_t>(n), value), y(x.size());
        const layer_norm_geometry g{1, n, 1e-5};
        const void* in[] = {x.data(), nullptr, nullptr};
        void* out[] = {y.data()};
        LayerNorm_float32(in, out, &g);
        for (const float v : y) ASSERT_NEAR(v, 0, 1e-30) << value << ", " << n;
      }
  });
}

TEST(layer_norm, is_the_definition_on_every_target) {
  kgtest::on_every_target([](const char*) {
    check_all<float>(false);
    check_all<double>(false);
  });
}

TEST(layer_norm, is_the_definition_in_the_reference) {
  check_all<float>(true);
  check_all<double>(true);
}

TEST(layer_norm, may_replace_x_by_its_result) {
  kgtest::on_every_target([](const char*) {
    for (const std::int64_t n : {3, 40, 5000}) {
      std::vector<float> x(static_cast<std::size_t>(2 * n)), y(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 11);
      const layer_norm_geometry g{2, n, 1e-3};
      const void* in[] = {x.data(), nullptr, nullptr};
      void *out[] = {y.data()}, *out_place[] = {x.data()};
      LayerNorm_float32(in, out, &g);
      LayerNorm_float32(in, out_place, &g);
      ASSERT_EQ(x, y) << n;
    }
  });
}

// A difference of two sums of squares has no digit left here.
TEST(layer_norm, keeps_the_digits_of_a_small_deviation_from_a_large_mean) {
  kgtest::on_every_target([](const char*) {
    std::vector<float> x(256), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 65537.0f : 65535.0f;
    const layer_norm_geometry g{1, 256, 0};
    const void* in[] = {x.data(), nullptr, nullptr};
    void* out[] = {y.data()};
    LayerNorm_float32(in, out, &g);
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], i % 2 == 0 ? 1.0f : -1.0f);
  });
}

TEST(layer_norm, of_a_row_with_NaN_or_infinity_is_NaN_and_leaves_the_others_alone) {
  kgtest::on_every_target([](const char*) {
    for (const float special : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
      std::vector<float> x(3 * 19), y(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
      x[19 + 4] = special;
      const layer_norm_geometry g{3, 19, 1e-3};
      const void* in[] = {x.data(), nullptr, nullptr};
      void* out[] = {y.data()};
      LayerNorm_float32(in, out, &g);
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(std::isnan(y[i]), i / 19 == 1) << i;
    }
  });
}
}  // namespace
