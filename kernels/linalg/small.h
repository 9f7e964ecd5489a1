// SPDX-License-Identifier: Apache-2.0
// Stacks of small square matrices, one matrix per vector lane: the entries of kernels/linalg. Matrices have `size` rows
// from 1 to `largest`, in row-major order. A matrix's result depends on no other matrix of the stack.
#ifndef KERNGRAD_KERNELS_LINALG_SMALL_H_
#define KERNGRAD_KERNELS_LINALG_SMALL_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>

namespace kerngrad::linalg::lanes {

/// The most rows of a matrix, and the most columns of a right side.
inline constexpr std::int64_t largest = 16;

/// Number of matrices and their rows.
struct stack {
  std::int64_t count, size;
};

/// The exponent of the larger part of x, and x times a power of two. 0, infinity and NaN have the exponent 0.
inline int exponent_of(double x) {
  int exponent = 0;
  if (std::isfinite(x)) std::frexp(x, &exponent);
  return exponent;
}
inline int exponent_of(std::complex<double> x) {
  return exponent_of(std::max(std::fabs(x.real()), std::fabs(x.imag())));
}
inline double scaled(double x, int exponent) { return std::ldexp(x, exponent); }
inline std::complex<double> scaled(std::complex<double> x, int exponent) {
  return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
}

/// The product of `count` numbers, `stride` apart, in the wide type. Its parts may leave the range.
template <class Wide, class T>
Wide product_of_pivots(const T* pivots, std::int64_t count, std::int64_t stride) {
  Wide product = 1;
  bool in_range = true;
  for (std::int64_t k = 0; k < count; ++k) {
    product *= static_cast<Wide>(pivots[k * stride]);
    in_range = in_range && std::abs(product) > 0x1p-900 && std::abs(product) < 0x1p900;
  }
  if (in_range) return product;
  product = 1;
  int exponent = 0;
  const auto scale = [&exponent](Wide x) {
    const int own = exponent_of(x);
    exponent += own;
    return scaled(x, -own);
  };
  for (std::int64_t k = 0; k < count; ++k) product = scale(product * scale(static_cast<Wide>(pivots[k * stride])));
  return scaled(product, exponent);
}

/// Lower Cholesky factors. `info` is 0, or the number of the first pivot that is not positive. These matrices and those
/// with NaN in the lower triangle get NaN.
void cholesky(const float* a, float* factor, std::int32_t* info, stack s);
void cholesky(const double* a, double* factor, std::int32_t* info, stack s);

/// LU factors of the transposes with exchanges of their rows, as LAPACK's getrf gives them in column-major order.
/// `pivots` count from 1; `info` is 0, or the number of the first zero pivot.
void lu(const float* a, float* factors, std::int32_t* pivots, std::int32_t* info, stack s);
void lu(const double* a, double* factors, std::int32_t* pivots, std::int32_t* info, stack s);

/// A right side with `columns` columns. The strides are from matrix to matrix: 0 where all share one.
struct right_sides {
  std::int64_t columns, stride_of_factors, stride_of_pivots, stride_of_b;
  bool transpose;  ///< solves a^T X = b
};
/// Solutions by the factors of `lu`; NaN where a pivot is zero.
void solve(const float* factors, const std::int32_t* pivots, const float* b, float* x, stack s, right_sides by);
void solve(const double* factors, const std::int32_t* pivots, const double* b, double* x, stack s, right_sides by);

/// Inverses by Gauss-Jordan elimination with the pivots of `lu`, or by cofactors for 2 to 4 rows where these are
/// accurate. `info` is as there; these matrices get NaN. Powers of two divide matrices with large elements first.
void inverse(const float* a, float* y, std::int32_t* info, stack s);
void inverse(const double* a, double* y, std::int32_t* info, stack s);

/// Determinants by the pivots of `lu`, multiplied in double precision, or by cofactors as in `inverse`.
void determinant(const float* a, float* y, stack s);
void determinant(const double* a, double* y, stack s);

/// Eigenvalues of symmetric matrices, ascending, by cyclic Jacobi rotations of the lower triangle, and eigenvectors in
/// columns unless `vectors` is null. Elements that are not finite give NaN. `info` is 1 where it did not converge.
void eigh(const float* a, float* values, float* vectors, std::int32_t* info, stack s);
void eigh(const double* a, double* values, double* vectors, std::int32_t* info, stack s);

}  // namespace kerngrad::linalg::lanes

#endif  // KERNGRAD_KERNELS_LINALG_SMALL_H_
