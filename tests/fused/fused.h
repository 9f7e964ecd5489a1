// SPDX-License-Identifier: Apache-2.0
// Operands for fused functions, and comparisons of what they give.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

import kerngrad;

namespace kgtest {

inline constexpr kg::dtype real_dtypes[] = {kg::dtype::float32, kg::dtype::float64, kg::dtype::int32,
                                            kg::dtype::int64,   kg::dtype::uint8,   kg::dtype::boolean};

inline kg::tensor normal(const kg::shape& dims, std::int64_t seed, kg::dtype type = kg::dtype::float32) {
  return kg::cast(kg::random_normal(dims, 0, 1, seed), type);
}

/// Values of a dtype, small enough for all of them; among floats the special ones.
inline kg::tensor values_of(kg::dtype type, const kg::shape& dims, std::int64_t seed) {
  std::vector<double> x = (kg::random_normal(dims, 0, 2, seed)).to_doubles();
  if (type == kg::dtype::float32 || type == kg::dtype::float64) {
    const double special[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-40, 1e-310, 88.5, -104, 1e30};
    for (std::size_t i = 0; i < std::size(special) && 3 * i + 1 < x.size(); ++i) x[3 * i + 1] = special[i];
  }
  if (type == kg::dtype::uint8 || type == kg::dtype::boolean)
    for (double& value : x) value = std::floor(std::fabs(value));
  return kg::cast(kg::tensor(x, dims), type);
}

inline bool same_bits(const kg::tensor& a, const kg::tensor& b) {
  return a.dims() == b.dims() && a.type() == b.type() &&
         (a.size() == 0 ||
          std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * kg::size_of(a.type())) == 0);
}

/// Bitwise identical, where a NaN of one is any NaN of the other: of two different ones that meet in a sum or a product
/// either may come through.
inline bool same_bits_but_for_nans(const kg::tensor& a, const kg::tensor& b) {
  if (!(a.dims() == b.dims()) || a.type() != b.type()) return false;
  const std::vector<double> p = a.to_doubles(), q = b.to_doubles();
  for (std::size_t i = 0; i < p.size(); ++i)
    if (!(std::isnan(p[i]) && std::isnan(q[i])) && std::memcmp(&p[i], &q[i], sizeof(double)) != 0) return false;
  return true;
}

/// The largest difference, relative to the largest magnitude; infinite for other shapes or dtypes.
inline double distance(const kg::tensor& a, const kg::tensor& b) {
  if (!(a.dims() == b.dims()) || a.type() != b.type()) return INFINITY;
  const std::vector<double> p = a.to_doubles(), q = b.to_doubles();
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    largest = std::fmax(largest, std::fabs(q[i]));
    apart = std::fmax(apart, std::isnan(p[i] - q[i]) ? INFINITY : std::fabs(p[i] - q[i]));
  }
  return apart / std::fmax(largest, 1);
}

}  // namespace kgtest
