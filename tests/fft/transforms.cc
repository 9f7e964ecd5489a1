// SPDX-License-Identifier: Apache-2.0
// Fourier transforms against sums in long double, on every target, between guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "kernels/common/parallel.h"
#include "kernels/fft/fft.h"
#include "tests/support/full.h"
#include "tests/support/kernels.h"
#include "tests/support/wide.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;

run_fn kernel(const std::string& op, dtype type, bool simd) {
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(fft_simd), std::end(fft_simd))
            : std::vector<entry>(std::begin(reference::fft_reference), std::end(reference::fft_reference)))
    if (e.op == op && e.type == type) return e.run;
  return nullptr;
}

// ------------------------------------------------------------------------------------------ the definition

struct point {
  long double real = 0, imag = 0;
};
using points = std::vector<point>;

// sum of x[t] exp(sign 2 pi i k t / n), for the first `count` k.
points sums(const points& x, long double sign, std::size_t count) {
  const std::size_t n = x.size();
  points roots(n), y(count);
  for (std::size_t k = 0; k < n; ++k) {
    const long double angle =
        sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t t = 0, at = 0; t < n; ++t, at = (at + k) % n) {
      y[k].real += x[t].real * roots[at].real - x[t].imag * roots[at].imag;
      y[k].imag += x[t].real * roots[at].imag + x[t].imag * roots[at].real;
    }
  return y;
}

// How far a result may be off: so many units of the norm of what is transformed, for each halving of the length.
template <class T>
long double allowed(const points& x, std::int64_t n, double scale) {
  long double squares = 0;
  for (const point& p : x) squares += p.real * p.real + p.imag * p.imag;
  const long double levels = 1 + std::log2(static_cast<long double>(n));
  return std::numeric_limits<T>::epsilon() * levels * std::sqrt(squares) * static_cast<long double>(scale);
}

// ------------------------------------------------------------------------------------------ checks

template <class T>
void draw(guarded<T>& values) {
  std::mt19937 random(7);
  for (T& v : values) v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 * 4 - 2);
}

// Elements as parts: what a row of `count` numbers holds, `step` parts each.
template <class T>
points row_of(const guarded<T>& x, std::size_t row, std::size_t count, std::size_t step) {
  points all(count);
  for (std::size_t t = 0; t < count; ++t) {
    all[t].real = x[(row * count + t) * step];
    if (step == 2) all[t].imag = x[(row * count + t) * step + 1];
  }
  return all;
}

template <class T>
void expect_row(const guarded<T>& got, std::size_t row, const points& wanted, std::size_t step, double scale,
                long double within) {
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::size_t at = (row * wanted.size() + k) * step;
    ASSERT_NEAR(got[at], wanted[k].real * scale, within) << "row " << row << " element " << k;
    if (step == 2) ASSERT_NEAR(got[at + 1], wanted[k].imag * scale, within) << "row " << row << " element " << k;
  }
}

template <class T>
void check_complex(const char* op, std::int64_t rows, std::int64_t n, kgtest::edge side, bool simd) {
  const std::size_t parts = static_cast<std::size_t>(2 * rows * n);
  guarded<T> x(parts, side), y(parts, side);
  draw(x);
  const fft_geometry g{rows, n, n, 0.375};
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel(op, sizeof(T) == 4 ? dtype::complex64 : dtype::complex128, simd)(in, out, &g);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const points given = row_of(x, row, static_cast<std::size_t>(n), 2);
    const points wanted = sums(given, std::string(op) == "FFT" ? -1 : 1, given.size());
    expect_row(y, row, wanted, 2, g.scale, allowed<T>(given, n, g.scale));
  }
}

template <class T>
void check_real(std::int64_t rows, std::int64_t given, std::int64_t n, kgtest::edge side, bool simd) {
  const std::int64_t bins = n / 2 + 1;
  guarded<T> x(static_cast<std::size_t>(rows * given), side), y(static_cast<std::size_t>(2 * rows * bins), side);
  draw(x);
  const fft_geometry g{rows, given, n, 0.375};
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel("RFFT", sizeof(T) == 4 ? dtype::float32 : dtype::float64, simd)(in, out, &g);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    points from = row_of(x, row, static_cast<std::size_t>(given), 1);
    from.resize(static_cast<std::size_t>(n));
    expect_row(y, row, sums(from, -1, static_cast<std::size_t>(bins)), 2, g.scale, allowed<T>(from, n, g.scale));
  }
}

template <class T>
void check_bins(std::int64_t rows, std::int64_t given, std::int64_t n, kgtest::edge side, bool simd) {
  guarded<T> y(static_cast<std::size_t>(2 * rows * given), side), x(static_cast<std::size_t>(rows * n), side);
  draw(y);
  const fft_geometry g{rows, given, n, 0.375};
  const void* in[] = {y.data()};
  void* out[] = {x.data()};
  kernel("IRFFT", sizeof(T) == 4 ? dtype::complex64 : dtype::complex128, simd)(in, out, &g);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    points bins = row_of(y, row, static_cast<std::size_t>(given), 2), all(static_cast<std::size_t>(n));
    bins.resize(static_cast<std::size_t>(n / 2 + 1));
    for (std::size_t k = 0; k < bins.size(); ++k) {
      const std::size_t mirrored = (all.size() - k) % all.size();
      all[k] = bins[k];
      all[mirrored] = {bins[k].real, -bins[k].imag};
      if (mirrored == k) all[k].imag = 0;
    }
    expect_row(x, row, sums(all, 1, all.size()), 1, g.scale, allowed<T>(all, n, g.scale));
  }
}

// All small lengths; every way through the passes of the widest vectors; primes; powers of each radix.
std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all = {128, 192, 243, 250, 256, 257};
  for (std::int64_t n = 1; n <= 70; ++n) all.push_back(n);
  if (kgtest::full() || !kgtest::slow_long_double)
    all.insert(all.end(), {320, 384, 486, 512, 625, 768, 1000, 1021, 1024});
  if (kgtest::full()) all.insert(all.end(), {1280, 1536, 2048, 2187, 3000, 3125, 4097});
  return all;
}

template <class Check>
void for_lengths(const Check& check) {
  for (const std::int64_t n : lengths())
    for (const kgtest::edge side : kgtest::edges) {
      SCOPED_TRACE(::testing::Message() << n << " points");
      check(n, side);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(kernels_fft, add_up_what_the_definition_says_for_every_length) {
  kgtest::on_every_target([](const char*) {
    for_lengths([](std::int64_t n, kgtest::edge side) {
      check_complex<float>("FFT", n < 20 ? 3 : 2, n, side, true);
      check_complex<double>("FFT", 1, n, side, true);
      check_complex<float>("IFFT", 1, n, side, true);
      check_complex<double>("IFFT", 2, n, side, true);
    });
  });
}
TEST(kernels_fft, add_up_to_the_definition_at_the_longest_lengths_of_pairs) {
  if (!kgtest::full()) return;
  kgtest::on_every_target([](const char*) {
    for (const std::int64_t n : {4096, 8192}) {
      check_complex<float>("FFT", 1, n, kgtest::edges[0], true);
      check_complex<double>("FFT", 1, n, kgtest::edges[0], true);
    }
  });
}
TEST(kernels_fft, of_real_rows_give_half_of_the_bins_and_take_them_back) {
  kgtest::on_every_target([](const char*) {
    for_lengths([](std::int64_t n, kgtest::edge side) {
      check_real<float>(2, n, n, side, true);
      check_real<double>(2, n, n, side, true);
      check_bins<float>(2, n / 2 + 1, n, side, true);
      check_bins<double>(2, n / 2 + 1, n, side, true);
    });
  });
}
TEST(kernels_fft, cut_rows_and_pad_them_with_zeros) {
  kgtest::on_every_target([](const char*) {
    for (const std::int64_t n : {1, 2, 7, 8, 30, 97, 128})
      for (const std::int64_t given : {0, 1, 5, 40, 150})
        for (const kgtest::edge side : kgtest::edges) {
          check_real<float>(2, given, n, side, true);
          check_real<double>(2, given, n, side, true);
          check_bins<float>(2, given, n, side, true);
          check_bins<double>(2, given, n, side, true);
        }
  });
}
TEST(kernels_fft, of_the_reference_follow_the_same_definition) {
  for (const std::int64_t n : {1, 2, 3, 4, 6, 7, 12, 30, 49, 64, 77, 97, 120}) {
    for (const char* op : {"FFT", "IFFT"}) {
      check_complex<float>(op, 2, n, kgtest::edge::end, false);
      check_complex<double>(op, 2, n, kgtest::edge::end, false);
    }
    check_real<float>(2, n, n, kgtest::edge::end, false);
    check_real<double>(2, n, n, kgtest::edge::end, false);
    check_real<float>(2, 5, n, kgtest::edge::end, false);
    check_real<double>(2, 5, n, kgtest::edge::end, false);
    check_bins<float>(2, n / 2 + 1, n, kgtest::edge::end, false);
    check_bins<double>(2, n / 2 + 1, n, kgtest::edge::end, false);
    check_bins<float>(2, 5, n, kgtest::edge::end, false);
    check_bins<double>(2, 5, n, kgtest::edge::end, false);
  }
}

// ------------------------------------------------------------------------------------------ other properties

// A wave of one frequency and an impulse, whose transforms are known.
template <class T>
void check_wave(std::int64_t n, double within) {
  SCOPED_TRACE(::testing::Message() << n << " points of " << sizeof(T) << " bytes");
  const std::size_t count = static_cast<std::size_t>(n), frequency = 12345 % count;
  guarded<T> x(2 * count), y(2 * count);
  for (std::size_t t = 0; t < count; ++t) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(t * frequency % count) / static_cast<double>(n);
    x[2 * t] = static_cast<T>(std::cos(angle));
    x[2 * t + 1] = static_cast<T>(std::sin(angle));
  }
  const fft_geometry g{1, n, n, 1.0 / static_cast<double>(n)};
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel("FFT", sizeof(T) == 4 ? dtype::complex64 : dtype::complex128, true)(in, out, &g);
  for (std::size_t k = 0; k < count; ++k) {
    ASSERT_NEAR(y[2 * k], k == frequency ? 1 : 0, within) << k;
    ASSERT_NEAR(y[2 * k + 1], 0, within) << k;
  }
}

TEST(kernels_fft, of_long_rows_are_as_near_as_their_logarithm_says) {
  // Passes over pairs and over parts by themselves, and primes of both convolutions.
  kgtest::on_every_target([](const char*) {
    for (const std::int64_t n : {4096, 8192, 32749, 40961, 1 << 18}) check_wave<float>(n, 2e-7);
    for (const std::int64_t n : {2048, 4096, 8192, 12289, 65536}) check_wave<double>(n, 1e-15);
  });
}

TEST(kernels_fft, spread_what_is_not_finite_over_its_row_and_no_other) {
  kgtest::on_every_target([](const char*) {
    for (const std::int64_t n : {5, 64, 97, 256}) {
      const std::size_t row = static_cast<std::size_t>(2 * n);
      guarded<float> x(3 * row), y(3 * row);
      draw(x);
      x[row + 3] = std::numeric_limits<float>::quiet_NaN();
      const fft_geometry g{3, n, n, 1};
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      FFT_complex64(in, out, &g);
      for (std::size_t i = 0; i < y.size(); i += 2)
        ASSERT_EQ(std::isnan(y[i]) || std::isnan(y[i + 1]), i >= row && i < 2 * row) << n << " points, part " << i;
    }
  });
}

TEST(kernels_fft, give_the_same_bits_with_any_number_of_threads) {
  const std::size_t before = threads_allowed();
  for (const std::int64_t n : {1024, 1000, 1021}) {
    constexpr std::int64_t rows = 150;
    guarded<float> x(static_cast<std::size_t>(2 * rows * n)), y(x.size());
    draw(x);
    std::vector<float> first;
    for (const std::size_t threads : {1, 2, 3}) {
      allow_threads(threads);
      const fft_geometry g{rows, n, n, 1};
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      FFT_complex64(in, out, &g);
      if (first.empty()) first.assign(y.begin(), y.end());
      ASSERT_EQ(std::memcmp(y.data(), first.data(), y.size() * sizeof(float)), 0) << threads << " threads";
    }
  }
  allow_threads(before);
}

TEST(kernels_fft, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(fft_simd), std::size(reference::fft_reference));
  for (std::size_t i = 0; i < std::size(fft_simd); ++i) {
    EXPECT_STREQ(fft_simd[i].op, reference::fft_reference[i].op);
    EXPECT_EQ(fft_simd[i].type, reference::fft_reference[i].type);
  }
}

}  // namespace
