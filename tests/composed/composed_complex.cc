// SPDX-License-Identifier: Apache-2.0
// Composed functions of complex numbers against std::complex<double>: what looks at both parts, and what throws.
#include <algorithm>
#include <complex>
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using number = std::complex<double>;

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr dtype complex_dtypes[] = {dtype::complex64, dtype::complex128};

tensor of(const std::vector<number>& z, dtype type) {
  doubles re, im;
  for (const number& v : z) re.push_back(v.real()), im.push_back(v.imag());
  return kg::cast(kg::complex(tensor(re), tensor(im)), type);
}
std::vector<number> parts_of(const tensor& z) {
  const doubles re = kg::real(z).to_doubles(), im = kg::imag(z).to_doubles();
  std::vector<number> all;
  for (std::size_t i = 0; i < re.size(); ++i) all.emplace_back(re[i], im[i]);
  return all;
}
double unit_of(dtype type) { return type == dtype::complex64 ? 1e-6 : 1e-15; }

const std::vector<number> sample = {{1.5, -2.25}, {-0.125, 4}, {3, 0}, {0, -7.5}, {2.75, 1.0625}, {-5.5, -0.375}};

// NumPy's isclose.
bool is_near(const number& a, const number& b, double rtol, double atol, bool equal_nan) {
  const auto has_nan = [](const number& z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
  if (has_nan(a) || has_nan(b)) return equal_nan && has_nan(a) && has_nan(b);
  if (a == b) return true;
  return std::isfinite(b.real()) && std::isfinite(b.imag()) && std::abs(a - b) <= atol + rtol * std::abs(b);
}

TEST(is_close, of_complex_numbers_takes_the_modulus_of_the_difference) {
  const struct {
    number a, b;
  } pairs[] = {{{1, 2}, {1, 2}},     {{1, 2}, {1, 3}},    {{1, 2}, {1.05, 2.05}}, {{0, 1}, {0, 1.09}},
               {{0, 1}, {0, 1.2}},   {{1, 0}, {1, 1e-3}}, {{3, -4}, {3, 4}},      {{inf, 1}, {inf, 1}},
               {{inf, 1}, {inf, 2}}, {{1, 1}, {inf, 1}},  {{1, inf}, {1, -inf}},  {{nan, 1}, {nan, 1}},
               {{1, nan}, {nan, 5}}, {{1, 1}, {1, nan}}};
  for (const dtype type : complex_dtypes)
    for (const auto& [a, b] : pairs)
      for (const auto& [rtol, atol] : {std::pair(1e-5, 1e-8), std::pair(0.1, 0.0), std::pair(0.0, 0.1)})
        for (const bool equal_nan : {false, true}) {
          SCOPED_TRACE(::testing::Message() << a << " and " << b << ", " << rtol << ", " << atol << ", " << equal_nan);
          const tensor p = of({a}, type), q = of({b}, type);
          const kg::close_options options{.rtol = rtol, .atol = atol, .equal_nan = equal_nan};
          const bool wanted = is_near(a, b, rtol, atol, equal_nan);
          EXPECT_EQ(kg::is_close(p, q, options).item() != 0, wanted);
          EXPECT_EQ(kg::all_close(p, q, options), wanted);
          EXPECT_EQ(kg::allclose(p, q, rtol, atol, equal_nan), wanted);
        }
  EXPECT_FALSE(kg::all_close(of({{1, 1e-4}}, dtype::complex64), tensor({1.f})));
  EXPECT_TRUE(kg::all_close(tensor({1.f}), of({{1, 1e-9}}, dtype::complex64)));
  EXPECT_FALSE(kg::all_close(of({{1, 1e-12}}, dtype::complex128), tensor({1.}), {.rtol = 0, .atol = 1e-13}));
}

TEST(moments, of_complex_numbers_have_a_complex_mean_and_a_real_variance) {
  number mean = 0;
  for (const number& z : sample) mean += z / 6.;
  double variance = 0;
  for (const number& z : sample) variance += std::norm(z - mean) / 6;
  for (const dtype type : complex_dtypes) {
    const tensor z = of(sample, type);
    const dtype part = type == dtype::complex64 ? dtype::float32 : dtype::float64;
    const double within = 30 * unit_of(type);
    const auto found = kg::moments(z);
    EXPECT_EQ(found.mean.type(), type);
    EXPECT_EQ(found.variance.type(), part);
    EXPECT_LT(std::abs(parts_of(found.mean)[0] - mean), within);
    EXPECT_NEAR(found.variance.item(), variance, within);
    EXPECT_NEAR(kg::variance(z).item(), variance, within);
    EXPECT_NEAR(kg::variance(z, kg::all_axes, false, 1).item(), variance * 6 / 5, within);
    EXPECT_NEAR(kg::standard_deviation(z).item(), std::sqrt(variance), within);
    const auto rows = kg::moments(kg::reshape(z, {2, 3}), 1, true);
    EXPECT_EQ(rows.mean.dims(), (kg::shape{2, 1}));
    EXPECT_LT(std::abs(parts_of(rows.mean)[1] - (sample[3] + sample[4] + sample[5]) / 3.), within);
  }
}

TEST(norm, of_complex_numbers_has_the_precision_of_their_parts) {
  double squares = 0, sum = 0, most = 0, least = inf;
  for (const number& z : sample) {
    squares += std::norm(z), sum += std::abs(z);
    most = std::max(most, std::abs(z)), least = std::min(least, std::abs(z));
  }
  for (const dtype type : complex_dtypes) {
    const tensor z = of(sample, type);
    const double within = 40 * unit_of(type);
    expect_values(kg::norm(z), {}, {std::sqrt(squares)}, within);
    expect_values(kg::euclidean_norm(z, 0, true), {1}, {std::sqrt(squares)}, within);
    expect_values(kg::norm(z, 1), {}, {sum}, within);
    expect_values(kg::norm(z, inf), {}, {most}, within);
    expect_values(kg::norm(z, -inf), {}, {least}, within);
    EXPECT_EQ(kg::norm(z).type(), type == dtype::complex64 ? dtype::float32 : dtype::float64);
  }
  // No squares that overflow or vanish, no digits of float32.
  const tensor wide = of({{3e300, 4e300}, {3e-300, -4e-300}, {1, 1e-9}}, dtype::complex128);
  expect_values(kg::abs(wide) / tensor({5e300, 5e-300, 1.}), {3}, {1, 1, std::hypot(1, 1e-9)}, 1e-15);
}

TEST(conj, changes_the_sign_of_the_imaginary_parts_of_every_dtype) {
  for (const dtype type : complex_dtypes) {
    const tensor y = kg::conj(of(sample, type));
    EXPECT_EQ(y.type(), type);
    const std::vector<number> got = parts_of(y);
    for (std::size_t i = 0; i < sample.size(); ++i) EXPECT_EQ(got[i], std::conj(sample[i]));
  }
  EXPECT_EQ(parts_of(kg::conj(of({{1, 1e-300}}, dtype::complex128)))[0], number(1, -1e-300));
}

TEST(complex_numbers, throw_where_order_matters) {
  for (const dtype type : complex_dtypes) {
    const tensor z = of(sample, type), whole = kg::ones({6}, dtype::int32);
    const std::string name(name_of(type));
    expect_refused("median", [&] { return kg::median(z); }, {"operand x", name});
    expect_refused("quantile", [&] { return kg::quantile(z, 0.5); }, {"operand x", name});
    expect_refused("confusion_matrix", [&] { return kg::confusion_matrix(z, whole, 3); }, {"operand labels", name});
    expect_refused("confusion_matrix", [&] { return kg::confusion_matrix(whole, z, 3); },
                   {"operand predictions", name});
    expect_refused("log_add_exp", [&] { return kg::log_add_exp(z, z); }, {"operand a", name});
    expect_refused("rgb_to_grayscale", [&] { return kg::rgb_to_grayscale(kg::reshape(z, {2, 3})); },
                   {"operand image", name});
    expect_refused("mean_squared_error", [&] { return kg::mean_squared_error(z, z); }, {"operand labels", name});
    expect_refused("compute_weighted_loss", [&] { return kg::compute_weighted_loss(tensor(1.f), {.weights = z(0)}); },
                   {"operand weights", name});
  }
}

}  // namespace
