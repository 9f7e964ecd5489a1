// SPDX-License-Identifier: Apache-2.0
// Fourier transforms by their typed names: small examples that can be worked out by hand, and what is rejected.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using list = std::vector<double>;
using complexes = std::vector<kg::complex64>;

tensor points(const complexes& values) { return tensor(values, {static_cast<std::int64_t>(values.size())}); }

void expect_near(const tensor& got, const list& wanted, double within = 1e-6) {
  const list values = kg::testkit::doubles_of(got);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], within) << i;
}

TEST(a_fourier_transform, is_the_sum_over_the_roots_of_one) {
  expect_near(kg::fft(points({{1, 0}, {2, 0}, {3, 0}, {4, 0}})), {10, 0, -2, 2, -2, 0, -2, -2});
  expect_near(kg::fft(points({{0, 1}, {1, 0}, {0, 0}})), {1, 1, -0.5, 1 - std::sqrt(0.75), -0.5, 1 + std::sqrt(0.75)});
  expect_near(kg::ifft(points({{1, 1}, {2, 1}})), {1.5, 1, -0.5, 0});
}

TEST(a_fourier_transform, is_undone_by_its_inverse_in_every_norm) {
  const tensor x = kg::complex(kg::random_normal({3, 30}, 0, 1, 1), kg::random_normal({3, 30}, 0, 1, 2));
  for (const kg::fft_norm norm : {kg::fft_norm::backward, kg::fft_norm::ortho, kg::fft_norm::forward}) {
    expect_near(kg::ifft(kg::fft(x, norm), norm), kg::testkit::doubles_of(x));
    const tensor real = kg::real(x);
    expect_near(kg::irfft(kg::rfft(real, 0, norm), 0, norm), kg::testkit::doubles_of(real));
  }
}

TEST(a_fourier_transform, in_the_norm_ortho_keeps_the_sum_of_squares) {
  const tensor x = kg::complex(kg::random_normal({97}, 0, 1, 1), kg::random_normal({97}, 0, 1, 2));
  const auto squares = [](const tensor& z) { return kg::sum(kg::square(kg::complex_abs(z))).to_doubles()[0]; };
  EXPECT_NEAR(squares(kg::fft(x, kg::fft_norm::ortho)), squares(x), 1e-3);
}

TEST(a_fourier_transform, has_double_precision_for_complex128) {
  const tensor x(std::vector<kg::complex128>{{1, 0}, {0, 1}, {0.5, 0}}, {3});
  const double r = std::sqrt(0.75);
  expect_near(kg::fft(x), {1.5, 1, 0.75 + r, -0.5 + r / 2, 0.75 - r, -0.5 - r / 2}, 1e-15);
  EXPECT_EQ(kg::ifft(x).type(), kg::dtype::complex128);
}

TEST(a_fourier_transform, of_float64_rows_has_double_precision) {
  const tensor x({1.0, 0.25, -3.0});
  const double r = std::sqrt(0.75);
  const tensor bins = kg::rfft(x);
  EXPECT_EQ(bins.type(), kg::dtype::complex128);
  expect_near(bins, {-1.75, 0, 2.375, -3.25 * r}, 1e-15);
  EXPECT_EQ(kg::irfft(bins).type(), kg::dtype::float64);
  expect_near(kg::irfft(bins, 3), {1, 0.25, -3}, 1e-15);
  const tensor random = kg::random_normal({3, 1000}, 0, 1, 1, kg::dtype::float64);
  for (const kg::fft_norm norm : {kg::fft_norm::backward, kg::fft_norm::ortho, kg::fft_norm::forward})
    expect_near(kg::irfft(kg::rfft(random, 0, norm), 0, norm), random.to_doubles(), 1e-14);
}

TEST(a_fourier_transform, of_real_rows_has_the_bins_to_half_of_the_length) {
  const tensor x({1.f, 2.f, 3.f, 4.f, 5.f});
  expect_near(kg::rfft(x, 4), {10, 0, -2, 2, -2, 0});
  EXPECT_EQ(kg::rfft(x).dims(), (kg::shape{3}));
  EXPECT_EQ(kg::rfft(x, 8).dims(), (kg::shape{5}));
  EXPECT_EQ(kg::irfft(kg::rfft(x)).dims(), (kg::shape{4}));
  expect_near(kg::irfft(kg::rfft(x), 5), {1, 2, 3, 4, 5});
  expect_near(kg::irfft(points({{3, 9}})), {3});  // the bin is its own conjugate
  expect_near(kg::irfft(points({{1, 0}, {2, 0}})), {1.5, -0.5});
}

TEST(a_fourier_transform, of_rows_without_elements_is_what_it_can_be) {
  EXPECT_EQ(kg::fft(kg::zeros({2, 0}, kg::dtype::complex64)).dims(), (kg::shape{2, 0}));
  EXPECT_EQ(kg::rfft(kg::zeros({0, 4})).dims(), (kg::shape{0, 3}));
  expect_near(kg::rfft(kg::zeros({1, 0}), 2), {0, 0, 0, 0});
}

TEST(the_gradient_of_a_fourier_transform, is_the_transform_the_other_way) {
  // The energy of all bins is n times that of the points, that of each bin's real part follows it.
  const tensor x({1.f, -2.f, 0.5f, 3.f, 0.25f, 1.f});
  const auto energy = [](const tensor& v) {
    return kg::sum(kg::square(kg::complex_abs(kg::fft(kg::complex(v, kg::zeros_like(v))))));
  };
  expect_near(kg::grad(energy)(x), {12, -24, 6, 36, 3, 12}, 1e-4);
  const auto first_bin = [](const tensor& v) { return kg::sum(kg::real(kg::slice(kg::rfft(v), {1}, {1}))); };
  expect_near(kg::grad(first_bin)(x), {1, 0.5, -0.5, -1, -0.5, 0.5});
}

TEST(what_has_no_fourier_transform, is_refused) {
  EXPECT_TRUE(
      says(refusal([] { return kg::fft(kg::zeros({}, kg::dtype::complex64)); }), {"kg::fft", "rank 1 or more"}));
  EXPECT_TRUE(says(refusal([] { return kg::rfft(kg::zeros({2, 0})); }), {"[2, 0]", "fftLength"}));
  EXPECT_TRUE(says(refusal([] { return kg::irfft(kg::zeros({0}, kg::dtype::complex64)); }), {"[0]", "fftLength"}));
  EXPECT_NE(refusal([] { return kg::rfft(kg::zeros({4}), -1); }), kgtest::accepted);
  EXPECT_NE(refusal([] { return kg::fft(kg::zeros({4})); }), kgtest::accepted);
}

// Lengths of both parities, cut and padded rows, and all norms, in both orders.
TEST(the_gradient_of_a_real_transform, is_that_of_differences_in_float64) {
  const tensor x = kg::random_uniform({2, 6}, -1, 1, 1, kg::dtype::float64);
  const tensor parts = kg::random_uniform({2, 4}, -1, 1, 2, kg::dtype::float64);
  for (const std::int64_t n : {1, 2, 5, 6, 9})
    for (const kg::fft_norm norm : {kg::fft_norm::backward, kg::fft_norm::ortho, kg::fft_norm::forward}) {
      const auto there = [=](std::span<const tensor> in) {
        const tensor bins = kg::rfft(in[0], n, norm);
        return kg::tensor_list{kg::square(kg::real(bins)) + kg::imag(bins) * kg::real(bins)};
      };
      const kg::testkit::report of_points = kg::testkit::check_function("rfft", there, std::vector{x});
      EXPECT_TRUE(of_points) << of_points;
      const auto back = [=](std::span<const tensor> in) {
        return kg::tensor_list{kg::square(kg::irfft(kg::complex(in[0], in[1]), n, norm))};
      };
      const kg::testkit::report of_bins = kg::testkit::check_function("irfft", back, std::vector{parts, parts * 2});
      EXPECT_TRUE(of_bins) << of_bins;
    }
}

TEST(tables_of_fourier_transforms, count_under_the_memory_limit_while_a_call_uses_them) {
  // Result and scratch memory are 16 MiB, the tables 8.5 MiB more. They are kept, and count again at the next call.
  constexpr std::int64_t mib = std::int64_t{1} << 20;
  const tensor x = kg::ones({mib});
  const std::int64_t live = kg::memory().live_bytes;
  const auto said = [&](std::int64_t limit) {
    kg::set_memory_limit(live + limit);
    const std::string text = refusal([&] { return kg::rfft(x); });
    kg::set_memory_limit(kg::unlimited);
    return text;
  };
  EXPECT_TRUE(says(said(20 * mib), {"allocate", "the limit of"}));
  EXPECT_EQ(said(28 * mib), kgtest::accepted);
  EXPECT_TRUE(says(said(20 * mib), {"allocate", "the limit of"}));
  EXPECT_EQ(kg::memory().live_bytes, live);
}

TEST(tables_of_fourier_transforms, are_refused_before_they_are_made) {
  // Seven elements, of which a transform of a prime length has tables of gigabytes.
  const tensor x = kg::ones({7});
  const std::int64_t live = kg::memory().live_bytes;
  kg::set_memory_limit(live + (std::int64_t{1} << 30));
  EXPECT_TRUE(says(refusal([&] { return kg::rfft(x, 100000007); }), {"allocate", "the limit of"}));
  kg::set_memory_limit(kg::unlimited);
  EXPECT_EQ(kg::memory().live_bytes, live);
}

}  // namespace
