// SPDX-License-Identifier: Apache-2.0
// Random numbers and created elements: the bits on every target, the generator's published vectors, the distributions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "kernels/create/create.h"
#include "kernels/create/random.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

template <class T>
void run(run_fn f, T* y, const random_geometry& g) {
  void* out[] = {y};
  f(nullptr, out, &g);
}

// Philox4x32-10 as published, with a full counter and key.
std::vector<std::uint32_t> philox(std::vector<std::uint32_t> c, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

TEST(kernels_random, the_generator_gives_the_published_vectors) {
  using words = std::vector<std::uint32_t>;
  ASSERT_EQ(philox({0, 0, 0, 0}, 0, 0), (words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  ASSERT_EQ(philox({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u), (words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  ASSERT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  // An int32 draw over the whole range is the word itself, moved by 2^31.
  kgtest::on_every_target([](const char*) {
    for (const run_fn f : {&RandomUniform_int32, &reference::RandomUniform_int32}) {
      const std::uint64_t seed = 0x299f31d0a4093822, first = 0x85a308d3243f6a0;
      guarded<std::int32_t> y(203);
      run(f, y.data(), {203, seed, first * 4 + 1, -2147483648.0, 2147483648.0});
      for (std::uint64_t i = 0; i < 203; ++i) {
        const std::uint64_t block = first + (i + 1) / 4;
        const auto want = philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0},
                                 0xa4093822, 0x299f31d0);
        ASSERT_EQ(static_cast<std::uint32_t>(y[i]) + 0x80000000u, want[(i + 1) % 4]) << i;
      }
    }
  });
}

template <class T>
void same_bits(run_fn simd, run_fn plain, double low, double high) {
  constexpr std::uint64_t offsets[] = {0, 1, 2, 3, 1022, 0x3fffffffd, 0x123456789abcdef};
  constexpr std::int64_t sizes[] = {0, 1, 2, 3, 5, 15, 16, 17, 67, 1021, 2500};
  for (const auto& [offset, n, side] : views::cartesian_product(offsets, sizes, edges)) {
    guarded<T> got(static_cast<std::size_t>(n), side);
    std::vector<T> want(static_cast<std::size_t>(n) + 1);
    const random_geometry g{n, 0x0123456789abcdef, offset, low, high};
    run(simd, got.data(), g);
    run(plain, want.data(), g);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(T)), 0)
          << "offset " << offset << " n " << n << " at " << i << ": " << got[i] << " and " << want[i];
    }
  }
}

TEST(kernels_random, every_target_and_the_reference_give_the_same_bits_for_every_range) {
  kgtest::on_every_target([](const char*) {
    same_bits<float>(&RandomUniform_float32, &reference::RandomUniform_float32, -1.0, 3.0);
    same_bits<double>(&RandomUniform_float64, &reference::RandomUniform_float64, 0.1, 0.7);
    same_bits<float>(&RandomUniform_float32, &reference::RandomUniform_float32, -3e38, 3.4e38);
    same_bits<double>(&RandomUniform_float64, &reference::RandomUniform_float64, -1.7e308, 1.1e308);
    same_bits<std::int32_t>(&RandomUniform_int32, &reference::RandomUniform_int32, -10.0, 25.0);
    same_bits<float>(&RandomNormal_float32, &reference::RandomNormal_float32, 0.5, 2.0);
    same_bits<double>(&RandomNormal_float64, &reference::RandomNormal_float64, 0.0, 1.0);
  });
}

// A single fused multiplication changes few results: many draws are needed to see it.
template <class T>
void same_bits_of_many(run_fn simd, run_fn plain) {
  const random_geometry g{60000, 77, 0, 0.0, 1.0};
  std::vector<T> got(60000), want(60000);
  run(plain, want.data(), g);
  kgtest::on_every_target([&](const char*) {
    run(simd, got.data(), g);
    ASSERT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(T)), 0);
  });
}

TEST(kernels_random, no_target_fuses_a_product_into_a_sum) {
  same_bits_of_many<float>(&RandomNormal_float32, &reference::RandomNormal_float32);
  same_bits_of_many<double>(&RandomNormal_float64, &reference::RandomNormal_float64);
}

template <class T>
void pieces(run_fn f) {
  const random_geometry g{5000, 42, 7, 0.0, 1.0};
  std::vector<T> whole(5000), parts(5000);
  run(f, whole.data(), g);
  std::int64_t at = 0;
  for (std::int64_t n = 1; at < 5000; at += n, n = n * 3 % 701) {
    n = std::min(n, 5000 - at);
    run(f, parts.data() + at, {n, 42, 7 + static_cast<std::uint64_t>(at), 0.0, 1.0});
  }
  ASSERT_EQ(std::memcmp(whole.data(), parts.data(), 5000 * sizeof(T)), 0);
}

TEST(kernels_random, a_range_may_be_drawn_in_pieces) {
  kgtest::on_every_target([](const char*) {
    pieces<float>(&RandomUniform_float32);
    pieces<double>(&RandomUniform_float64);
    pieces<float>(&RandomNormal_float32);
    pieces<double>(&RandomNormal_float64);
  });
}

// The greatest distance between the empirical and the given distribution function, times sqrt(n).
template <class T, class F>
double kolmogorov(std::vector<T> y, F distribution) {
  std::sort(y.begin(), y.end());
  const double n = static_cast<double>(y.size());
  double distance = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double p = distribution(static_cast<double>(y[i]));
    distance = std::max({distance, std::fabs(p - static_cast<double>(i) / n), std::fabs(p - (i + 1.0) / n)});
  }
  return distance * std::sqrt(n);
}

template <class T>
void moments(const std::vector<T>& y, double mean, double variance) {
  double sum = 0, squares = 0, neighbours = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double v = static_cast<double>(y[i]) - mean;
    sum += v;
    squares += v * v;
    if (i != 0) neighbours += v * (static_cast<double>(y[i - 1]) - mean);
  }
  const double n = static_cast<double>(y.size());
  EXPECT_NEAR(sum / n, 0, 4 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 8 * variance / std::sqrt(n));
  EXPECT_NEAR(neighbours / n, 0, 4 * variance / std::sqrt(n));
}

template <class T>
void distributions(run_fn uniform, run_fn normal) {
  std::vector<T> y(1000000);
  run(uniform, y.data(), {1000000, 2024, 0, -2.0, 6.0});
  moments(y, 2.0, 64.0 / 12);
  EXPECT_LT(kolmogorov(y, [](double v) { return (v + 2) / 8; }), 1.95);  // exceeded once in a thousand
  for (const T v : y) ASSERT_TRUE(v >= -2 && v < 6);
  run(normal, y.data(), {1000000, 2024, 0, 3.0, 2.0});
  moments(y, 3.0, 4.0);
  EXPECT_LT(kolmogorov(y, [](double v) { return 0.5 * std::erfc(-(v - 3) / 2 / std::sqrt(2.0)); }), 1.95);
}

TEST(kernels_random, a_million_draws_follow_the_distribution) {
  distributions<float>(&RandomUniform_float32, &RandomNormal_float32);
  distributions<double>(&RandomUniform_float64, &RandomNormal_float64);
}

// Bounds whose distance no T holds.
template <class T>
void whole_range(run_fn uniform, double low, double high) {
  std::vector<T> y(100000);
  run(uniform, y.data(), {100000, 2024, 0, low, high});
  const double scale = std::numeric_limits<T>::max();
  const auto distribution = [&](double v) { return (v / scale - low / scale) / (high / scale - low / scale); };
  EXPECT_LT(kolmogorov(y, distribution), 1.95);
  for (const T v : y) ASSERT_TRUE(v >= static_cast<T>(low) && v < static_cast<T>(high));
}

TEST(kernels_random, draws_from_nearly_all_floats_follow_the_distribution) {
  constexpr double single = std::numeric_limits<float>::max(), most = std::numeric_limits<double>::max();
  kgtest::on_every_target([](const char*) {
    whole_range<float>(&RandomUniform_float32, -single, single);
    whole_range<float>(&RandomUniform_float32, -1e38, single);
    whole_range<double>(&RandomUniform_float64, -most, most);
    whole_range<double>(&RandomUniform_float64, -most, 1e300);
  });
}

TEST(kernels_random, a_normal_draw_is_the_formula_of_box_and_muller) {
  constexpr long double turn = 6.283185307179586476925286766559L;
  kgtest::on_every_target([](const char*) {
    std::vector<double> y(10000);
    std::vector<std::int32_t> words(20000);
    run(&RandomNormal_float64, y.data(), {10000, 99, 0, 0.0, 1.0});
    run(&RandomUniform_int32, words.data(), {20000, 99, 0, -2147483648.0, 2147483648.0});
    const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(words[i]) + 0x80000000u; };
    for (std::size_t i = 0; i + 1 < y.size(); i += 2) {
      const std::uint64_t a = word(2 * i) | std::uint64_t{word(2 * i + 1)} << 32;
      const std::uint64_t b = word(2 * i + 2) | std::uint64_t{word(2 * i + 3)} << 32;
      const long double radius = std::sqrt(-2 * std::log((static_cast<long double>(a >> 11) + 0.5L) * 0x1p-53L));
      // The angle counts from half of an eighth before each quarter; see `angle`.
      const long double within = static_cast<long double>((b << 2) >> 11) * 0x1p-53L - 0.5L;
      const long double at = turn / 4 * (static_cast<long double>(b >> 62) + within);
      ASSERT_NEAR(static_cast<double>(radius * std::cos(at)), y[i], 1e-14);
      ASSERT_NEAR(static_cast<double>(radius * std::sin(at)), y[i + 1], 1e-14);
    }
  });
}

TEST(kernels_random, an_upper_bound_is_never_drawn_and_an_empty_range_gives_low) {
  kgtest::on_every_target([](const char*) {
    std::vector<float> y(200000);
    const float next = std::nextafter(1.0f, 2.0f);
    run(&RandomUniform_float32, y.data(), {200000, 5, 0, 1.0, static_cast<double>(next)});
    for (const float v : y) ASSERT_EQ(v, 1.0f);
    run(&RandomUniform_float32, y.data(), {20, 5, 0, 2.5, 2.5});
    for (int i = 0; i < 20; ++i) ASSERT_EQ(y[static_cast<std::size_t>(i)], 2.5f);
  });
}

template <class T>
void check_fill(run_fn f, T value) {
  const auto sizes = views::closed_iota(std::int64_t{0}, 4 * 64 / static_cast<std::int64_t>(sizeof(T)) + 3);
  for (const auto& [n, side] : views::cartesian_product(sizes, edges)) {
    guarded<T> y(static_cast<std::size_t>(n), side);
    const fill_geometry g{n, &value};
    void* out[] = {y.data()};
    f(nullptr, out, &g);
    for (const T& v : y) ASSERT_EQ(std::memcmp(&v, &value, sizeof(T)), 0);
  }
}

TEST(kernels_create, a_fill_writes_the_value_everywhere_and_nowhere_else) {
  kgtest::on_every_target([](const char*) {
    const auto all = [](const auto& table) {
      for (const entry& e : table) {
        const std::string op = e.op;
        if (op != "Fill" && op != "ZerosLike" && op != "OnesLike") continue;
        visit(e.type, [&](auto is) {
          storage_t<decltype(is)::value> value;
          std::memset(static_cast<void*>(&value), 0x93, sizeof value - 1);
          std::memset(reinterpret_cast<std::byte*>(&value) + sizeof value - 1, 0x4a, 1);
          check_fill(e.run, value);
        });
      }
    };
    all(create_simd);
    all(reference::create_reference);
  });
}

template <class T>
void check_range(run_fn f, double start, double step) {
  for (std::int64_t n = 0; n <= 67; ++n) {
    guarded<T> y(static_cast<std::size_t>(n));
    const range_geometry g{n, start, step};
    void* out[] = {y.data()};
    f(nullptr, out, &g);
    for (std::int64_t i = 0; i < n; ++i) {
      const long double want = static_cast<long double>(start) + static_cast<long double>(i) * step;
      const long double size = std::fabs(static_cast<long double>(start)) + std::fabs(want);
      const long double eps = std::is_integral_v<T> ? 0 : std::numeric_limits<T>::epsilon();
      const long double got = y[static_cast<std::size_t>(i)];
      ASSERT_LE(std::fabs(want - got), eps * size) << n << " " << i;
    }
  }
}

template <class T>
void check_linspace(run_fn f, double start, double stop) {
  for (std::int64_t n = 0; n <= 67; ++n) {
    guarded<T> y(static_cast<std::size_t>(n));
    const linspace_geometry g{n, start, stop};
    void* out[] = {y.data()};
    f(nullptr, out, &g);
    for (std::int64_t i = 0; i < n; ++i) {
      const long double part = n == 1 ? 0 : static_cast<long double>(i) / static_cast<long double>(n - 1);
      const long double want = start + part * (static_cast<long double>(stop) - start);
      ASSERT_NEAR(static_cast<double>(want), static_cast<double>(y[static_cast<std::size_t>(i)]),
                  8.0 * std::numeric_limits<T>::epsilon() * std::max(std::fabs(start), std::fabs(stop)));
    }
    if (n > 1) ASSERT_EQ(y[static_cast<std::size_t>(n - 1)], static_cast<T>(stop));
  }
}

TEST(kernels_create, ranges_and_linear_spaces_match_the_definition_on_every_target) {
  kgtest::on_every_target([](const char*) {
    const auto all = [](const auto& table) {
      for (const entry& e : table) {
        const bool range = std::string(e.op) == "Range", linear = std::string(e.op) == "LinSpace";
        if (range && e.type == dtype::float32) check_range<float>(e.run, 0.1, -0.37);
        if (range && e.type == dtype::float64) check_range<double>(e.run, -5.0, 0.1);
        if (range && e.type == dtype::int32) check_range<std::int32_t>(e.run, 2147483647.0 - 66 * 3, 3.0);
        if (range && e.type == dtype::int64) check_range<std::int64_t>(e.run, 4503599627370496.0, -7.0);
        if (range && e.type == dtype::float64) check_range<double>(e.run, -1.7e308, 5.0e306);
        if (linear && e.type == dtype::float64) check_linspace<double>(e.run, -1e308, 1e308);
        if (linear && e.type == dtype::float64) check_linspace<double>(e.run, 1.7e308, -1.7e308);
        if (linear && e.type == dtype::float32) check_linspace<float>(e.run, -3.4e38, 3.4e38);
        if (linear && e.type == dtype::float32) check_linspace<float>(e.run, -1.0, 0.3);
        if (linear && e.type == dtype::float64) check_linspace<double>(e.run, 10.0, 0.3);
      }
    };
    all(create_simd);
    all(reference::create_reference);
  });
}
}  // namespace
