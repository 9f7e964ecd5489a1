// SPDX-License-Identifier: Apache-2.0
// Complex matrices, and how far they are from others.
#pragma once
#include <algorithm>

#include "tests/linalg/support.h"

namespace kgtest {

inline constexpr kg::dtype both_complex[] = {kg::dtype::complex64, kg::dtype::complex128};

inline bool is_complex(kg::dtype type) { return kg::complex_only.has(type); }
/// Numbers with parts between -1 and 1.
inline tensor complex_numbers(const kg::shape& dims, int seed = 3, kg::dtype type = kg::dtype::complex128) {
  const kg::dtype part = type == kg::dtype::complex64 ? kg::dtype::float32 : kg::dtype::float64;
  return kg::complex(uniform(dims, seed, part), uniform(dims, seed + 100, part));
}
inline tensor adjoint(const tensor& x) { return kg::conj(kg::swapaxes(x, -1, -2)); }
inline tensor hermitian(const tensor& x) { return (x + adjoint(x)) * 0.5; }
/// Hermitian positive definite matrices.
inline tensor complex_definite(const kg::shape& dims, int seed = 1, kg::dtype type = kg::dtype::complex128) {
  const tensor x = complex_numbers(dims, seed, type);
  const std::int64_t n = dims[dims.rank() - 1];
  return kg::matmul(x, adjoint(x)) + kg::eye(n, n, 0, type) * 0.5;
}
/// Random matrices whose diagonal is larger than the rest.
inline tensor complex_regular(const kg::shape& dims, int seed = 1, kg::dtype type = kg::dtype::complex128) {
  const std::int64_t n = dims[dims.rank() - 1];
  return complex_numbers(dims, seed, type) + kg::eye(n, n, 0, type) * 2;
}
/// The product in double precision.
inline tensor wide_product(const tensor& a, const tensor& b) {
  return kg::matmul(kg::cast(a, kg::dtype::complex128), kg::cast(b, kg::dtype::complex128));
}
/// The largest modulus of a difference, relative to that of `wanted` or to 1.
inline double apart(const tensor& got, const tensor& wanted) {
  const tensor x = kg::cast(got, kg::dtype::complex128), y = kg::cast(wanted, kg::dtype::complex128);
  return largest(kg::abs(x - y)) / std::max(1.0, largest(kg::abs(y)));
}
/// The rounding error of the parts.
inline double part_unit(kg::dtype type) { return type == kg::dtype::complex64 ? 0x1p-24 : 0x1p-53; }

/// The real matrix [[re, -im], [im, re]], whose products are those of the complex one.
inline tensor as_real(const tensor& x) {
  const tensor re = kg::real(x), im = kg::imag(x);
  return kg::concat({kg::concat({re, -im}, -1), kg::concat({im, re}, -1)}, -2);
}

}  // namespace kgtest
