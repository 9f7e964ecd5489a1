// SPDX-License-Identifier: Apache-2.0
// Numbers that are nearly equal, sums of exponentials, draws that are made of others, spectra of frames.
#include <algorithm>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

TEST(is_close, allows_for_both_tolerances) {
  const tensor a({100., 100., 0., 1e-9}), b({100.0009, 100.1, 1e-7, 0.});
  expect_values(kg::is_close(a, b), {4}, {1, 0, 0, 1});
  expect_values(kg::is_close(a, b, {.rtol = 0.01}), {4}, {1, 1, 0, 1});
  expect_values(kg::is_close(a, b, {.rtol = 0, .atol = 1}), {4}, {1, 1, 1, 1});
  EXPECT_TRUE(kg::all_close(tensor({1, 2}), tensor({1., 2.})));
  EXPECT_FALSE(kg::all_close(tensor({1, 2}), tensor(1)));
  EXPECT_TRUE(kg::allclose(a, b, 0.01, 1e-6));
  EXPECT_FALSE(kg::allclose(a, b, 0.01, 0));
  EXPECT_FALSE(kg::all_close(tensor({(std::int64_t{1} << 40) + 1}), tensor({std::int64_t{1} << 40}), {.rtol = 0}));
}

TEST(is_close, takes_infinities_as_equal_to_themselves_and_nan_when_asked) {
  const tensor a({inf, inf, 1., nan, nan}), b({inf, -inf, inf, nan, 1.});
  expect_values(kg::is_close(a, b), {5}, {1, 0, 0, 0, 0});
  expect_values(kg::is_close(a, b, {.equal_nan = true}), {5}, {1, 0, 0, 1, 0});
  expect_refused("is_close", [&] { return kg::is_close(a, b, {.rtol = -1}); }, {"tolerance -1"});
}

TEST(log_add_exp, does_not_overflow_and_keeps_infinities) {
  expect_values(
      kg::log_add_exp(tensor({1000., -1000., 0., inf, -inf, -inf}), tensor({1000., -1001., 2., inf, -inf, 3.})), {6},
      {1000 + std::log(2.), -1000 + std::log1p(std::exp(-1.)), 2 + std::log1p(std::exp(-2.)), inf, -inf, 3}, 1e-9);
  check_gradients("log_add_exp", [](std::span<const tensor> x) { return kg::log_add_exp(x[0], x[1]); },
                  {uniform({3}, 1), uniform({2, 3}, 2)});
}

TEST(permutation, has_every_number_once) {
  doubles all = kg::permutation(1000, 7).to_doubles(), wanted(1000);
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  std::sort(all.begin(), all.end());
  std::iota(wanted.begin(), wanted.end(), 0);
  EXPECT_EQ(all, wanted);
  EXPECT_EQ(kg::permutation(0, 7).dims(), kg::shape{0});
  EXPECT_NE(kg::permutation(1000, 8).to_doubles(), kg::permutation(1000, 7).to_doubles());
  expect_refused("permutation", [] { return kg::permutation(-1, 0); }, {"count -1"});
}

TEST(bernoulli, draws_1_as_often_as_asked) {
  EXPECT_NEAR(kg::sum(kg::bernoulli({100000}, 0.3, 1, kg::dtype::int32)).item(), 30000, 600);
  expect_values(kg::bernoulli({3}, 1, 1), {3}, {1, 1, 1});
  expect_values(kg::bernoulli({3}, 0, 1, kg::dtype::float32), {3}, {0, 0, 0});
  EXPECT_EQ(kg::bernoulli({1}, 0.5, 1).type(), kg::dtype::boolean);
  expect_refused("bernoulli", [] { return kg::bernoulli({1}, nan, 1); }, {"probability"});
}

// The definition, of float32 samples and Hann's periodic window.
doubles spectra(const doubles& x, int length, int step, int points, bool imaginary) {
  doubles bins;
  for (std::size_t begin = 0; begin + static_cast<std::size_t>(length) <= x.size();
       begin += static_cast<std::size_t>(step))
    for (int k = 0; k <= points / 2; ++k) {
      std::complex<double> sum = 0;
      for (int t = 0; t < length; ++t) {
        const double turn = 2 * std::numbers::pi / length * t;
        sum += x[begin + static_cast<std::size_t>(t)] * (0.5 - 0.5 * std::cos(turn)) *
               std::polar(1.0, -2 * std::numbers::pi * k * t / points);
      }
      bins.push_back(imaginary ? sum.imag() : sum.real());
    }
  return bins;
}

TEST(stft, transforms_each_windowed_frame) {
  const tensor x = kg::cast(uniform({20}, 3), kg::dtype::float32);
  for (const std::int64_t points : {8, 16}) {
    const tensor y = kg::stft(x, 6, 4, {.fft_length = points});
    const kg::shape dims = {4, points / 2 + 1};
    expect_values(kg::real(y), dims, spectra(x.to_doubles(), 6, 4, static_cast<int>(points), false), 1e-5);
    expect_values(kg::imag(y), dims, spectra(x.to_doubles(), 6, 4, static_cast<int>(points), true), 1e-5);
  }
  EXPECT_EQ(kg::stft(x, 6, 4).dims(), (kg::shape{4, 5}));
  expect_refused("stft", [&] { return kg::stft(x, 6, 4, {.window = kg::ones({5})}); }, {"window", "[5]"});
  expect_refused("stft", [] { return kg::stft(kg::ones({8}, kg::dtype::int32), 4, 2); }, {"signal", "int32"});
}

}  // namespace
