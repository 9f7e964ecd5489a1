// SPDX-License-Identifier: Apache-2.0
// LAPACK's and BLAS's routines for both dtypes under one name. Matrices are column-major: a row-major matrix is its
// transpose there. Callers check sizes and leading dimensions, so no routine reports an argument.
#ifndef KERNGRAD_MODULES_LINALG_LAPACK_H_
#define KERNGRAD_MODULES_LINALG_LAPACK_H_

#include <lapacke.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/common/sizes.h"
#include "kernels/linalg/small.h"

// BLAS's Fortran interface, which LAPACK stands on, has no header. Lengths of the strings come last.
extern "C" {
void LAPACK_GLOBAL(strsm, STRSM)(const char*, const char*, const char*, const char*, const lapack_int*,
                                 const lapack_int*, const float*, const float*, const lapack_int*, float*,
                                 const lapack_int*, std::size_t, std::size_t, std::size_t, std::size_t);
void LAPACK_GLOBAL(dtrsm, DTRSM)(const char*, const char*, const char*, const char*, const lapack_int*,
                                 const lapack_int*, const double*, const double*, const lapack_int*, double*,
                                 const lapack_int*, std::size_t, std::size_t, std::size_t, std::size_t);
void LAPACK_GLOBAL(sgemm, SGEMM)(const char*, const char*, const lapack_int*, const lapack_int*, const lapack_int*,
                                 const float*, const float*, const lapack_int*, const float*, const lapack_int*,
                                 const float*, float*, const lapack_int*, std::size_t, std::size_t);
void LAPACK_GLOBAL(dgemm, DGEMM)(const char*, const char*, const lapack_int*, const lapack_int*, const lapack_int*,
                                 const double*, const double*, const lapack_int*, const double*, const lapack_int*,
                                 const double*, double*, const lapack_int*, std::size_t, std::size_t);
}

namespace kerngrad::linalg::lapack {

using integer = lapack_int;

// X op(A) = B or op(A) X = B for a triangular A, with X in the place of B.
inline void trsm(char side, char uplo, char trans, char diag, integer m, integer n, const float* a, integer lda,
                 float* b, integer ldb) {
  const float one = 1;
  LAPACK_GLOBAL(strsm, STRSM)(&side, &uplo, &trans, &diag, &m, &n, &one, a, &lda, b, &ldb, 1, 1, 1, 1);
}
inline void trsm(char side, char uplo, char trans, char diag, integer m, integer n, const double* a, integer lda,
                 double* b, integer ldb) {
  const double one = 1;
  LAPACK_GLOBAL(dtrsm, DTRSM)(&side, &uplo, &trans, &diag, &m, &n, &one, a, &lda, b, &ldb, 1, 1, 1, 1);
}

// A = L L^T or U^T U. Gives k > 0 where the leading matrix of k rows is not positive definite.
inline integer potrf(char uplo, integer n, float* a) { return LAPACKE_spotrf_work(LAPACK_COL_MAJOR, uplo, n, a, n); }
inline integer potrf(char uplo, integer n, double* a) { return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, uplo, n, a, n); }

// A = P L U. Gives k > 0 where U's k-th pivot is zero.
inline integer getrf(integer m, integer n, float* a, integer* pivots) {
  return LAPACKE_sgetrf_work(LAPACK_COL_MAJOR, m, n, a, m, pivots);
}
inline integer getrf(integer m, integer n, double* a, integer* pivots) {
  return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, n, a, m, pivots);
}

// Solves by the factors of getrf.
inline void getrs(char trans, integer n, integer columns, const float* lu, const integer* pivots, float* b) {
  LAPACKE_sgetrs_work(LAPACK_COL_MAJOR, trans, n, columns, lu, n, pivots, b, n);
}
inline void getrs(char trans, integer n, integer columns, const double* lu, const integer* pivots, double* b) {
  LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, trans, n, columns, lu, n, pivots, b, n);
}

// Rows and columns, and diagonals below and above the main one. A matrix with room for fill-in has its diagonals in
// rows from `lower` on.
struct band {
  integer n, lower, upper;
  integer rows() const { return 2 * lower + upper + 1; }
};
// A = L U with exchanges of rows. Gives k > 0 where U's k-th pivot is zero.
inline integer gbtrf(band of, float* a, integer* pivots) {
  return LAPACKE_sgbtrf_work(LAPACK_COL_MAJOR, of.n, of.n, of.lower, of.upper, a, of.rows(), pivots);
}
inline integer gbtrf(band of, double* a, integer* pivots) {
  return LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, of.n, of.n, of.lower, of.upper, a, of.rows(), pivots);
}
// Solves by the factors of gbtrf.
inline void gbtrs(char trans, band of, integer columns, const float* lu, const integer* pivots, float* b) {
  LAPACKE_sgbtrs_work(LAPACK_COL_MAJOR, trans, of.n, of.lower, of.upper, columns, lu, of.rows(), pivots, b, of.n);
}
inline void gbtrs(char trans, band of, integer columns, const double* lu, const integer* pivots, double* b) {
  LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR, trans, of.n, of.lower, of.upper, columns, lu, of.rows(), pivots, b, of.n);
}

// op(A) op(B), of m x k by k x n.
inline void gemm(char trans_a, char trans_b, integer m, integer n, integer k, const float* a, integer lda,
                 const float* b, integer ldb, float* c, integer ldc) {
  const float one = 1, zero = 0;
  LAPACK_GLOBAL(sgemm, SGEMM)(&trans_a, &trans_b, &m, &n, &k, &one, a, &lda, b, &ldb, &zero, c, &ldc, 1, 1);
}
inline void gemm(char trans_a, char trans_b, integer m, integer n, integer k, const double* a, integer lda,
                 const double* b, integer ldb, double* c, integer ldc) {
  const double one = 1, zero = 0;
  LAPACK_GLOBAL(dgemm, DGEMM)(&trans_a, &trans_b, &m, &n, &k, &one, a, &lda, b, &ldb, &zero, c, &ldc, 1, 1);
}

// ------------------------------------------------------------------------------------------ with memory for their work

template <class T>
inline constexpr bool is_float = std::is_same_v<T, float>;

// Memory that calls share. `Counted` has a resize that throws where so many bytes would pass a limit.
template <class T, class Counted>
struct workspace {
  Counted counted;
  std::vector<T> numbers;
  std::vector<integer> integers;
  // As many numbers as a routine answered to a question; a float rounds a large count.
  void provide(T answered, std::size_t integers_needed = 0) {
    const auto wanted = static_cast<std::size_t>(is_float<T> ? answered * T(1.000001) + 1 : answered);
    const std::size_t count = std::max({wanted, numbers.size(), std::size_t{1}}),
                      whole = std::max(integers_needed, integers.size());
    counted.resize(static_cast<std::int64_t>(
        kernels::sum_of(kernels::product_of(count, sizeof(T)), kernels::product_of(whole, sizeof(integer)))));
    numbers.resize(count);
    integers.resize(whole);
  }
  integer size() const { return static_cast<integer>(numbers.size()); }
};

// A = L Q with L in the lower triangle, and the reflectors of Q in the rest and in `tau`.
template <class T, class Work>
void gelqf(integer m, integer n, T* a, T* tau, Work& work) {
  constexpr auto routine = [] {
    if constexpr (is_float<T>) return LAPACKE_sgelqf_work;
    else return LAPACKE_dgelqf_work;
  }();
  T wanted = 0;
  routine(LAPACK_COL_MAJOR, m, n, a, m, tau, &wanted, -1);
  work.provide(wanted);
  routine(LAPACK_COL_MAJOR, m, n, a, m, tau, work.numbers.data(), work.size());
}

// The first m rows of Q, of k reflectors in the rows of q.
template <class T, class Work>
void orglq(integer m, integer n, integer k, T* q, const T* tau, Work& work) {
  constexpr auto routine = [] {
    if constexpr (is_float<T>) return LAPACKE_sorglq_work;
    else return LAPACKE_dorglq_work;
  }();
  T wanted = 0;
  routine(LAPACK_COL_MAJOR, m, n, k, q, m, tau, &wanted, -1);
  work.provide(wanted);
  routine(LAPACK_COL_MAJOR, m, n, k, q, m, tau, work.numbers.data(), work.size());
}

// Eigenvalues, ascending, and for 'V' eigenvectors in the columns of a. Gives 0 where it converged.
template <class T, class Work>
integer syevd(char job, char uplo, integer n, T* a, T* values, Work& work) {
  constexpr auto routine = [] {
    if constexpr (is_float<T>) return LAPACKE_ssyevd_work;
    else return LAPACKE_dsyevd_work;
  }();
  T wanted = 0;
  integer integers = 0;
  routine(LAPACK_COL_MAJOR, job, uplo, n, a, n, values, &wanted, -1, &integers, -1);
  work.provide(wanted, static_cast<std::size_t>(integers));
  return routine(LAPACK_COL_MAJOR, job, uplo, n, a, n, values, work.numbers.data(), work.size(), work.integers.data(),
                 static_cast<integer>(work.integers.size()));
}

// Singular values, descending, and for 'S' and 'A' vectors: in the columns of u and the rows of vt. Destroys a. Gives 0
// where it converged.
template <class T, class Work>
integer gesdd(char job, integer m, integer n, T* a, T* s, T* u, T* vt, integer ldvt, Work& work) {
  constexpr auto routine = [] {
    if constexpr (is_float<T>) return LAPACKE_sgesdd_work;
    else return LAPACKE_dgesdd_work;
  }();
  T wanted = 0;
  const integer ldu = job == 'N' ? 1 : m;
  work.provide(0, 8 * static_cast<std::size_t>(std::min(m, n)));
  routine(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, ldu, vt, ldvt, &wanted, -1, work.integers.data());
  work.provide(wanted);
  return routine(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, ldu, vt, ldvt, work.numbers.data(), work.size(),
                 work.integers.data());
}

}  // namespace kerngrad::linalg::lapack

#endif  // KERNGRAD_MODULES_LINALG_LAPACK_H_
