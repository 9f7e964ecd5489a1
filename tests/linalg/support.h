// SPDX-License-Identifier: Apache-2.0
// Matrices of known kinds, and how far a product is from what it should be.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/support/refusal.h"
import kerngrad.testkit;
import kerngrad.linalg;

namespace kgtest {

namespace la = kg::linalg;
using kg::tensor;
using doubles = std::vector<double>;

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr kg::dtype both_floats[] = {kg::dtype::float32, kg::dtype::float64};

/// Numbers between -1 and 1.
inline tensor uniform(const kg::shape& dims, int seed = 1, kg::dtype type = kg::dtype::float64) {
  return kg::random_uniform(dims, -1, 1, seed, type);
}
/// Random matrices whose diagonal is larger than the rest.
inline tensor regular(const kg::shape& dims, int seed = 1, kg::dtype type = kg::dtype::float64) {
  const std::int64_t n = dims[dims.rank() - 1];
  return uniform(dims, seed, type) + kg::eye(n, n, 0, type) * 2;
}
inline tensor mirrored(const tensor& x) { return (x + kg::swapaxes(x, -1, -2)) * 0.5; }
/// Symmetric positive definite matrices.
inline tensor definite(const kg::shape& dims, int seed = 1, kg::dtype type = kg::dtype::float64) {
  const tensor x = uniform(dims, seed, type);
  const std::int64_t n = dims[dims.rank() - 1];
  return kg::matmul(x, x, false, true) + kg::eye(n, n, 0, type) * 0.5;
}
/// Element (i, j) by a function.
inline tensor matrix(std::int64_t rows, std::int64_t columns, const std::function<double(double, double)>& element,
                     kg::dtype type = kg::dtype::float64) {
  doubles all;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) all.push_back(element(static_cast<double>(i), static_cast<double>(j)));
  return kg::cast(tensor(all, {rows, columns}), type);
}
inline tensor hilbert(std::int64_t n, kg::dtype type = kg::dtype::float64) {
  return matrix(n, n, [](double i, double j) { return 1 / (i + j + 1); }, type);
}
inline tensor vandermonde(std::int64_t n, kg::dtype type = kg::dtype::float64) {
  return matrix(n, n, [n](double i, double j) { return std::pow((i + 1) / static_cast<double>(n), j); }, type);
}
/// Rows from 1 down to 1e-6.
inline tensor graded(std::int64_t n, kg::dtype type = kg::dtype::float64) {
  const tensor scale = matrix(n, 1, [n](double i, double) { return std::pow(10, -6 * i / static_cast<double>(n)); });
  return kg::cast(regular({n, n}, 5) * scale, type);
}
/// A Jordan block: all eigenvalues are 2, and there is one eigenvector.
inline tensor defective(std::int64_t n, kg::dtype type = kg::dtype::float64) {
  return matrix(n, n, [](double i, double j) { return i == j ? 2 : j == i + 1 ? 1 : 0; }, type);
}

/// Half of the distance from 1 to the next number.
inline double unit(kg::dtype type) { return type == kg::dtype::float32 ? 0x1p-24 : 0x1p-53; }
inline double largest(const tensor& x) {
  double most = 0;
  for (double each : x.to_doubles()) most = std::isnan(each) ? not_a_number : std::max(most, std::fabs(each));
  return most;
}
/// The largest difference in units of n times the rounding error of the largest element of `wanted`.
inline double units_apart(const tensor& got, const tensor& wanted) {
  const double n = static_cast<double>(wanted.dims()[wanted.rank() - 1]);
  const tensor apart = kg::cast(got, kg::dtype::float64) - kg::cast(wanted, kg::dtype::float64);
  return largest(apart) / (n * unit(got.type()) * std::max(largest(wanted), 1e-300));
}
inline tensor product(const tensor& a, const tensor& b) {
  return kg::matmul(kg::cast(a, kg::dtype::float64), kg::cast(b, kg::dtype::float64));
}

inline void expect_values(const tensor& got, const doubles& wanted, double tolerance = 1e-12) {
  const doubles values = got.to_doubles();
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (values[i] == wanted[i]) continue;
    if (std::isnan(wanted[i])) EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
    else EXPECT_NEAR(values[i], wanted[i], tolerance * std::max(1.0, std::fabs(wanted[i]))) << "element " << i;
  }
}
inline void expect_near(const tensor& got, const tensor& wanted, double tolerance = 1e-12) {
  EXPECT_EQ(got.dims(), wanted.dims());
  expect_values(got, wanted.to_doubles(), tolerance);
}

template <class F>
void expect_refused(F call, std::initializer_list<std::string_view> parts) {
  const std::string text = refusal(call);
  EXPECT_TRUE(says(text, parts)) << text;
}

using function_of_list = std::function<tensor(std::span<const tensor>)>;
/// Gradients of both orders and forward against differences.
inline void check_gradients(std::string_view name, const function_of_list& f, std::initializer_list<tensor> xs) {
  const kg::testkit::report found = kg::testkit::check_function(
      name, [&](std::span<const tensor> in) { return kg::tensor_list{f(in)}; }, std::span(xs.begin(), xs.size()));
  EXPECT_TRUE(found) << to_string(found);
  EXPECT_GT(found.count(kg::testkit::check::second_order), 0) << name;
}

}  // namespace kgtest
