// SPDX-License-Identifier: Apache-2.0
// Local response normalization and its gradient on every target and their references, against the definitions in long
// double. The gradient's is that of each result by each channel of its window, added up result by result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/norm/response.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

// The channels of a window, the last one excluded.
struct window {
  std::int64_t begin, end;
  window(const response_geometry& g, std::int64_t c)
      : begin(c < g.radius ? 0 : c - g.radius), end(std::min(c + g.radius + 1, g.channels)) {}
};

template <class T>
long double norm_of(const response_geometry& g, const T* pixel, std::int64_t c) {
  long double sum = 0;
  for (std::int64_t k = window(g, c).begin; k < window(g, c).end; ++k)
    sum += std::pow(static_cast<long double>(pixel[k]), 2);
  return g.bias + g.alpha * sum;
}

template <class T>
std::vector<long double> normalized(const response_geometry& g, const T* x) {
  std::vector<long double> y;
  for (std::int64_t row = 0; row < g.rows; ++row)
    for (std::int64_t c = 0; c < g.channels; ++c) {
      const T* const pixel = x + row * g.channels;
      y.push_back(pixel[c] * std::exp(-g.beta * std::log(norm_of(g, pixel, c))));
    }
  return y;
}

template <class T>
std::vector<long double> gradient(const response_geometry& g, const T* x, const T* y, const T* dy) {
  std::vector<long double> dx(static_cast<std::size_t>(g.rows * g.channels));
  for (std::int64_t row = 0; row < g.rows; ++row)
    for (std::int64_t c = 0; c < g.channels; ++c) {
      const std::int64_t first = row * g.channels;
      const long double n = norm_of(g, x + first, c);
      for (std::int64_t k = window(g, c).begin; k < window(g, c).end; ++k) {
        long double slope = -2 * g.alpha * g.beta * static_cast<long double>(x[first + k]) * y[first + c] / n;
        if (k == c) slope += std::exp(-g.beta * std::log(n));
        dx[static_cast<std::size_t>(first + k)] += slope * dy[first + c];
      }
    }
  return dx;
}

template <class T>
void fill(guarded<T>& values, unsigned seed) {
  std::mt19937 random(seed);
  for (T& v : values) v = static_cast<T>(std::uniform_real_distribution<double>(-2, 2)(random));
}

// Sums of up to 2 radius + 1 terms of size 4, quotients and powers with a few units.
template <class T>
void expect_near(const std::vector<long double>& want, const guarded<T>& got) {
  const long double unit = std::numeric_limits<T>::epsilon();
  long double largest = 1;
  for (const long double v : want) largest = std::max(largest, std::fabs(v));
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_LE(std::fabs(want[i] - static_cast<long double>(got[i])), 40 * unit * largest)
        << i << " of " << want.size() << ": " << got[i];
}

template <class T>
void check(const entry& kernel, const response_geometry& g, edge side) {
  const std::size_t count = static_cast<std::size_t>(g.rows * g.channels);
  guarded<T> x(count, side), y(count, side), dy(count, side), result(count, side);
  fill(x, 1), fill(y, 2), fill(dy, 3);
  const void* in[] = {x.data(), y.data(), dy.data()};
  void* out[] = {result.data()};
  kernel.run(in, out, &g);
  SCOPED_TRACE(std::string(kernel.op) + " of " + std::to_string(g.rows) + "x" + std::to_string(g.channels) +
               ", radius " + std::to_string(g.radius) + ", beta " + std::to_string(g.beta));
  if (std::string(kernel.op) == "LRN") expect_near(normalized(g, x.data()), result);
  else expect_near(gradient(g, x.data(), y.data(), dy.data()), result);
}

void check_both_edges(const entry& kernel, const response_geometry& g) {
  for (const edge side : edges) {
    if (kernel.type == dtype::float32) check<float>(kernel, g, side);
    else check<double>(kernel, g, side);
  }
}

template <std::size_t N>
void check_table(const entry (&table)[N]) {
  constexpr std::int64_t rows[] = {1, 3, 70}, channels[] = {1, 2, 3, 5, 8, 16, 17, 33, 64, 100};
  constexpr std::int64_t radii[] = {0, 1, 2, 5, 7};
  for (const entry& kernel : table) {
    for (const auto& [row, channel, radius] : views::cartesian_product(rows, channels, radii))
      check_both_edges(kernel, {row, channel, std::min(radius, channel - 1), 1, 0.5, 0.75});
    for (const double beta : {0.0, 0.3, 0.5, 0.75, 1.0, 2.0, -0.5})
      check_both_edges(kernel, {4, 11, 3, 1.5, 0.25, beta});
    check_both_edges(kernel, {1, 100, 99, 1, 0.01, 0.5});
    check_both_edges(kernel, {2, 1500, 40, 2, 0.01, 0.75});  // more than the buffers near at hand hold
    check_both_edges(kernel, {3000, 4, 1, 1, 1, 0.5});       // more than one chunk
    check_both_edges(kernel, {0, 4, 1, 1, 1, 0.5});
    check_both_edges(kernel, {4, 0, 0, 1, 1, 0.5});
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(response_norm, is_the_definition_on_every_target) {
  kgtest::on_every_target([](const char*) { check_table(response_simd); });
}

TEST(response_norm, is_the_definition_in_the_reference) { check_table(reference::response_reference); }

// Numbers of several sizes in one pixel: squares of some leave the range, and without a bias powers of them, too.
template <class T>
void check_extremes(const entry& kernel, const response_geometry& g, int exponent) {
  const std::size_t count = static_cast<std::size_t>(g.rows * g.channels);
  std::vector<T> x(count), y(count), dy(count), result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int part = i / 4 % 3 == 0 ? 0 : i / 4 % 3 == 1 ? exponent / 2 : exponent;
    x[i] = std::ldexp(static_cast<T>((i * 7 + 3) % 11 + 1), part);
    dy[i] = static_cast<T>((i * 5 + 2) % 13) - 6;
  }
  const std::vector<long double> values = normalized(g, x.data());
  for (std::size_t i = 0; i < count; ++i) y[i] = static_cast<T>(values[i]);
  const bool value = std::string(kernel.op) == "LRN";
  const std::vector<long double> want = value ? values : gradient(g, x.data(), y.data(), dy.data());
  const void* in[] = {x.data(), y.data(), dy.data()};
  void* out[] = {result.data()};
  kernel.run(in, out, &g);
  for (std::size_t i = 0; i < count; ++i) {
    long double size = std::fabs(want[i]);
    if (size > std::numeric_limits<T>::max()) continue;
    if (!value) {  // terms cancel: they are up to dy times n^-beta of a channel in the window
      const std::int64_t c = static_cast<std::int64_t>(i) % g.channels;
      const std::size_t first = i - static_cast<std::size_t>(c);
      for (std::int64_t k = window(g, c).begin; k < window(g, c).end; ++k) {
        const std::size_t at = first + static_cast<std::size_t>(k);
        size = std::max(size, 6 * 5 * std::fabs(values[at] / x[at]));
      }
    }
    const long double error = std::fabs(want[i] - static_cast<long double>(result[i]));
    ASSERT_LE(error, 40 * std::numeric_limits<T>::epsilon() * size + std::numeric_limits<T>::min())
        << kernel.op << " at 2^" << exponent << ", beta " << g.beta << ", bias " << g.bias << ", element " << i;
  }
}

template <std::size_t N>
void check_extremes_of(const entry (&table)[N]) {
  for (const entry& kernel : table)
    for (const double beta : {0.3, 0.5, 0.75, 1.0})
      for (const double bias : {0.0, 1.0})
        for (const int part : {-90, -60, -30, 30, 60, 90}) {
          const response_geometry g{3, 24, 2, bias, 0.25, beta};
          if (kernel.type == dtype::float32) check_extremes<float>(kernel, g, part);
          else check_extremes<double>(kernel, g, part * 9);
          if (::testing::Test::HasFatalFailure()) return;
        }
}

TEST(response_norm, takes_numbers_whose_squares_leave_the_range) {
  kgtest::on_every_target([](const char*) { check_extremes_of(response_simd); });
  check_extremes_of(reference::response_reference);
}

TEST(response_norm, keeps_what_is_not_finite_within_the_windows_of_its_pixel) {
  kgtest::on_every_target([](const char*) {
    const response_geometry g{3, 7, 2, 1, 1, 0.75};
    std::vector<float> x(21, 1.0f), y(21);
    x[7 + 3] = std::nanf("");
    const void* in[] = {x.data()};
    void* out[] = {y.data()};
    LRN_float32(in, out, &g);
    for (std::size_t i = 0; i < 21; ++i) ASSERT_EQ(std::isnan(y[i]), i >= 8 && i <= 12) << i;
  });
}

TEST(response_norm, gives_a_pixel_the_same_bits_whatever_stands_beside_it) {
  kgtest::on_every_target([](const char*) {
    const std::int64_t channels = 13, rows = 90;
    guarded<float> x(static_cast<std::size_t>(rows * channels));
    fill(x, 5);
    std::vector<float> all(x.size()), one(13);
    const auto run = [&](const float* from, float* to, std::int64_t count) {
      const response_geometry g{count, channels, 3, 1, 0.5, 0.6};
      const void* in[] = {from};
      void* out[] = {to};
      LRN_float32(in, out, &g);
    };
    run(x.data(), all.data(), rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      run(x.data() + row * channels, one.data(), 1);
      ASSERT_EQ(std::memcmp(one.data(), all.data() + row * channels, sizeof(float) * 13), 0) << row;
    }
  });
}
}  // namespace
