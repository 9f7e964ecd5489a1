// SPDX-License-Identifier: Apache-2.0
// LAPACK's and BLAS's routines for all four dtypes under one name. Matrices are column-major: a row-major matrix is its
// transpose there. Callers check sizes and leading dimensions, so no routine reports an argument.
#ifndef KERNGRAD_MODULES_LINALG_LAPACK_H_
#define KERNGRAD_MODULES_LINALG_LAPACK_H_

#include <complex>

// Without these LAPACK's complex numbers are those of C.
#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/common/sizes.h"
#include "kernels/linalg/small.h"

// BLAS's Fortran interface, which LAPACK stands on, has no header. Lengths of the strings come last.
#define KG_BLAS(letter, LETTER, T)                                                                                  \
  void LAPACK_GLOBAL(letter##trsm, LETTER##TRSM)(                                                                   \
      const char*, const char*, const char*, const char*, const lapack_int*, const lapack_int*, const T*, const T*, \
      const lapack_int*, T*, const lapack_int*, std::size_t, std::size_t, std::size_t, std::size_t);                \
  void LAPACK_GLOBAL(letter##gemm, LETTER##GEMM)(                                                                   \
      const char*, const char*, const lapack_int*, const lapack_int*, const lapack_int*, const T*, const T*,        \
      const lapack_int*, const T*, const lapack_int*, const T*, T*, const lapack_int*, std::size_t, std::size_t);
extern "C" {
KG_BLAS(s, S, float)
KG_BLAS(d, D, double)
KG_BLAS(c, C, lapack_complex_float)
KG_BLAS(z, Z, lapack_complex_double)
}
#undef KG_BLAS

namespace kerngrad::linalg::lapack {

using integer = lapack_int;

// The dtype of the parts of complex numbers; a real one itself.
template <class T>
struct parts {
  using type = T;
};
template <class T>
struct parts<std::complex<T>> {
  using type = T;
};
template <class T>
using part_of = typename parts<T>::type;
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, part_of<T>>;

// The parts of complex numbers one after the other; real numbers themselves.
template <class T>
std::span<const part_of<T>> parts_of(std::span<const T> x) {
  return {reinterpret_cast<const part_of<T>*>(x.data()), x.size() * (sizeof(T) / sizeof(part_of<T>))};
}
template <class T>
bool all_finite(std::span<const T> x) {
  return std::ranges::all_of(parts_of(x), [](part_of<T> each) { return std::isfinite(each); });
}
template <class T>
void fill_with_nan(std::span<T> x) {
  constexpr part_of<T> nan = std::numeric_limits<part_of<T>>::quiet_NaN();
  if constexpr (is_complex<T>) std::ranges::fill(x, T(nan, nan));
  else std::ranges::fill(x, nan);
}
// In place.
template <class T>
void conjugate(std::span<T> x) {
  if constexpr (is_complex<T>)
    for (T& each : x) each = std::conj(each);
}
// Transposes a tile in a small buffer, whose rows are then copied: rows that are a power of two apart share the sets of
// a cache, and would evict each other's lines half-written.
template <class T, std::int64_t Rows, std::int64_t Columns>
struct transposed_tile {
  static constexpr std::int64_t count = Rows * Columns;
  std::array<T, count> all;

  void read(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t columns) {
    const auto copy = [&](std::int64_t height, std::int64_t width) {
      for (std::int64_t r = 0; r < height; ++r) {
        // The next tile: its rows are too far apart for the hardware to foresee them.
        __builtin_prefetch(from + r * stride + width, 0, 2);
        for (std::int64_t c = 0; c < width; ++c) all[static_cast<std::size_t>(c * Rows + r)] = from[r * stride + c];
      }
    };
    if (rows == Rows && columns == Columns) copy(Rows, Columns);  // the compiler knows the counts
    else copy(rows, columns);
  }
  void write(T* to, std::int64_t stride, std::int64_t rows, std::int64_t columns) const {
    for (std::int64_t c = 0; c < columns; ++c) std::copy_n(all.data() + c * Rows, rows, to + c * stride);
  }
};
template <class T>
void transpose_into(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  constexpr std::int64_t most_rows = 64, most_columns = 64 / sizeof(T);  // measured
  transposed_tile<T, most_rows, most_columns> tile;
  for (std::int64_t i = 0; i < rows; i += most_rows)
    for (std::int64_t j = 0; j < columns; j += most_columns) {
      const std::int64_t height = std::min(most_rows, rows - i), width = std::min(most_columns, columns - j);
      tile.read(from + i * columns + j, columns, height, width);
      tile.write(to + j * rows + i, rows, height, width);
    }
}
// In place.
template <class T>
void transpose_square(T* x, std::int64_t n) {
  constexpr std::int64_t side = 32;
  transposed_tile<T, side, side> upper, lower;
  for (std::int64_t i = 0; i < n; i += side)
    for (std::int64_t j = i; j < n; j += side) {
      const std::int64_t height = std::min(side, n - i), width = std::min(side, n - j);
      upper.read(x + i * n + j, n, height, width);
      lower.read(x + j * n + i, n, width, height);
      upper.write(x + j * n + i, n, height, width);
      lower.write(x + i * n + j, n, width, height);
    }
}

// The routine for T of those for float, double and complex numbers of them.
template <class T, class S, class D, class C, class Z>
constexpr auto of(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>) return s;
  else if constexpr (std::is_same_v<T, double>) return d;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return c;
  else return z;
}
#define KG_LAPACK(T, name) \
  of<T>(LAPACKE_s##name##_work, LAPACKE_d##name##_work, LAPACKE_c##name##_work, LAPACKE_z##name##_work)

// X op(A) = B or op(A) X = B for a triangular A, with X in the place of B.
template <class T>
void trsm(char side, char uplo, char trans, char diag, integer m, integer n, const T* a, integer lda, T* b,
          integer ldb) {
  const T one = 1;
  of<T>(LAPACK_GLOBAL(strsm, STRSM), LAPACK_GLOBAL(dtrsm, DTRSM), LAPACK_GLOBAL(ctrsm, CTRSM),
        LAPACK_GLOBAL(ztrsm, ZTRSM))(&side, &uplo, &trans, &diag, &m, &n, &one, a, &lda, b, &ldb, 1, 1, 1, 1);
}

// op(A) op(B), of m x k by k x n.
template <class T>
void gemm(char trans_a, char trans_b, integer m, integer n, integer k, const T* a, integer lda, const T* b, integer ldb,
          T* c, integer ldc) {
  const T one = 1, zero = 0;
  of<T>(LAPACK_GLOBAL(sgemm, SGEMM), LAPACK_GLOBAL(dgemm, DGEMM), LAPACK_GLOBAL(cgemm, CGEMM),
        LAPACK_GLOBAL(zgemm, ZGEMM))(&trans_a, &trans_b, &m, &n, &k, &one, a, &lda, b, &ldb, &zero, c, &ldc, 1, 1);
}

// A = L L^H or U^H U. Gives k > 0 where the leading matrix of k rows is not positive definite.
template <class T>
integer potrf(char uplo, integer n, T* a) {
  return KG_LAPACK(T, potrf)(LAPACK_COL_MAJOR, uplo, n, a, n);
}

// A = P L U. Gives k > 0 where U's k-th pivot is zero.
template <class T>
integer getrf(integer m, integer n, T* a, integer* pivots) {
  return KG_LAPACK(T, getrf)(LAPACK_COL_MAJOR, m, n, a, m, pivots);
}

// Solves by the factors of getrf.
template <class T>
void getrs(char trans, integer n, integer columns, const T* lu, const integer* pivots, T* b) {
  KG_LAPACK(T, getrs)(LAPACK_COL_MAJOR, trans, n, columns, lu, n, pivots, b, n);
}

// Rows and columns, and diagonals below and above the main one. A matrix with room for fill-in has its diagonals in
// rows from `lower` on.
struct band {
  integer n, lower, upper;
  integer rows() const { return 2 * lower + upper + 1; }
};
// A = L U with exchanges of rows. Gives k > 0 where U's k-th pivot is zero.
template <class T>
integer gbtrf(band of_a, T* a, integer* pivots) {
  return KG_LAPACK(T, gbtrf)(LAPACK_COL_MAJOR, of_a.n, of_a.n, of_a.lower, of_a.upper, a, of_a.rows(), pivots);
}
// Solves by the factors of gbtrf.
template <class T>
void gbtrs(char trans, band of_a, integer columns, const T* lu, const integer* pivots, T* b) {
  KG_LAPACK(T, gbtrs)(LAPACK_COL_MAJOR, trans, of_a.n, of_a.lower, of_a.upper, columns, lu, of_a.rows(), pivots, b,
                      of_a.n);
}

// ------------------------------------------------------------------------------------------ with memory for their work

// Memory that calls share. `Counted` has a resize that throws where so many bytes would pass a limit.
template <class T, class Counted>
struct workspace {
  Counted counted;
  std::vector<T> numbers;
  std::vector<part_of<T>> reals;  // what routines of complex numbers take as well
  std::vector<integer> integers;
  // As many numbers as a routine answered to a question; a float rounds a large count.
  void provide(T answered, std::size_t integers_needed = 0, std::size_t reals_needed = 0) {
    const part_of<T> asked = std::real(answered);
    const auto wanted =
        static_cast<std::size_t>(sizeof(asked) == sizeof(float) ? asked * part_of<T>(1.000001) + 1 : asked);
    const std::size_t count = std::max({wanted, numbers.size(), std::size_t{1}}),
                      whole = std::max(integers_needed, integers.size()), real = std::max(reals_needed, reals.size());
    counted.resize(kernels::sum_of(kernels::product_of(count, sizeof(T)), kernels::product_of(real, sizeof(part_of<T>)),
                                   kernels::product_of(whole, sizeof(integer))));
    numbers.resize(count);
    reals.resize(real);
    integers.resize(whole);
  }
  integer size() const { return static_cast<integer>(numbers.size()); }
};

// A = L Q with L in the lower triangle, and the reflectors of Q in the rest and in `tau`.
template <class T, class Work>
void gelqf(integer m, integer n, T* a, T* tau, Work& work) {
  constexpr auto routine = KG_LAPACK(T, gelqf);
  T wanted = 0;
  routine(LAPACK_COL_MAJOR, m, n, a, m, tau, &wanted, -1);
  work.provide(wanted);
  routine(LAPACK_COL_MAJOR, m, n, a, m, tau, work.numbers.data(), work.size());
}

// The first m rows of Q, of k reflectors in the rows of q.
template <class T, class Work>
void orglq(integer m, integer n, integer k, T* q, const T* tau, Work& work) {
  constexpr auto routine = of<T>(LAPACKE_sorglq_work, LAPACKE_dorglq_work, LAPACKE_cunglq_work, LAPACKE_zunglq_work);
  T wanted = 0;
  routine(LAPACK_COL_MAJOR, m, n, k, q, m, tau, &wanted, -1);
  work.provide(wanted);
  routine(LAPACK_COL_MAJOR, m, n, k, q, m, tau, work.numbers.data(), work.size());
}

// Eigenvalues of a Hermitian matrix, ascending, and for 'V' eigenvectors in the columns of a. Gives 0 where it
// converged.
template <class T, class Work>
integer heevd(char job, char uplo, integer n, T* a, part_of<T>* values, Work& work) {
  constexpr auto routine = of<T>(LAPACKE_ssyevd_work, LAPACKE_dsyevd_work, LAPACKE_cheevd_work, LAPACKE_zheevd_work);
  T wanted = 0;
  integer integers = 0;
  if constexpr (is_complex<T>) {
    part_of<T> reals = 0;
    routine(LAPACK_COL_MAJOR, job, uplo, n, a, n, values, &wanted, -1, &reals, -1, &integers, -1);
    work.provide(wanted, static_cast<std::size_t>(integers), static_cast<std::size_t>(reals * 1.000001) + 1);
    return routine(LAPACK_COL_MAJOR, job, uplo, n, a, n, values, work.numbers.data(), work.size(), work.reals.data(),
                   static_cast<integer>(work.reals.size()), work.integers.data(),
                   static_cast<integer>(work.integers.size()));
  } else {
    routine(LAPACK_COL_MAJOR, job, uplo, n, a, n, values, &wanted, -1, &integers, -1);
    work.provide(wanted, static_cast<std::size_t>(integers));
    return routine(LAPACK_COL_MAJOR, job, uplo, n, a, n, values, work.numbers.data(), work.size(), work.integers.data(),
                   static_cast<integer>(work.integers.size()));
  }
}

// Singular values, descending, and for 'S' and 'A' vectors: in the columns of u and the rows of vt. Destroys a. Gives 0
// where it converged.
template <class T, class Work>
integer gesdd(char job, integer m, integer n, T* a, part_of<T>* s, T* u, T* vt, integer ldvt, Work& work) {
  constexpr auto routine = KG_LAPACK(T, gesdd);
  T wanted = 0;
  const integer ldu = job == 'N' ? 1 : m;
  const auto least = static_cast<std::size_t>(std::min(m, n)), most = static_cast<std::size_t>(std::max(m, n));
  if constexpr (is_complex<T>) {
    // As LAPACK's documentation states them.
    const std::int64_t with_vectors = kernels::product_of(least, kernels::sum_of(7 * least + 5, 2 * most));
    work.provide(0, 8 * least, job == 'N' ? 7 * least : static_cast<std::size_t>(with_vectors));
    routine(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, ldu, vt, ldvt, &wanted, -1, work.reals.data(),
            work.integers.data());
    work.provide(wanted);
    return routine(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, ldu, vt, ldvt, work.numbers.data(), work.size(),
                   work.reals.data(), work.integers.data());
  } else {
    work.provide(0, 8 * least);
    routine(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, ldu, vt, ldvt, &wanted, -1, work.integers.data());
    work.provide(wanted);
    return routine(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, ldu, vt, ldvt, work.numbers.data(), work.size(),
                   work.integers.data());
  }
}

// Eigenvalues, and for 'V' right eigenvectors in the columns of v. Destroys a. Those of a real matrix are in real and
// imaginary parts, and its vectors as LAPACK packs them; `imaginary` is not used for a complex one. Gives 0 where it
// converged.
template <class T, class Work>
integer geev(char job, integer n, T* a, T* values, [[maybe_unused]] T* imaginary, T* v, Work& work) {
  constexpr auto routine = KG_LAPACK(T, geev);
  T wanted = 0;
  const integer ldv = job == 'V' ? n : 1;
  T* const none = nullptr;
  if constexpr (is_complex<T>) {
    work.provide(0, 0, 2 * static_cast<std::size_t>(n));
    routine(LAPACK_COL_MAJOR, 'N', job, n, a, n, values, none, 1, v, ldv, &wanted, -1, work.reals.data());
    work.provide(wanted);
    return routine(LAPACK_COL_MAJOR, 'N', job, n, a, n, values, none, 1, v, ldv, work.numbers.data(), work.size(),
                   work.reals.data());
  } else {
    routine(LAPACK_COL_MAJOR, 'N', job, n, a, n, values, imaginary, none, 1, v, ldv, &wanted, -1);
    work.provide(wanted);
    return routine(LAPACK_COL_MAJOR, 'N', job, n, a, n, values, imaginary, none, 1, v, ldv, work.numbers.data(),
                   work.size());
  }
}

// A = Z T Z^H with T in the place of A. `values` has room for 2 n numbers. Gives 0 where it converged.
template <class T, class Work>
integer gees(integer n, T* a, T* values, T* z, Work& work) {
  constexpr auto routine = KG_LAPACK(T, gees);
  T wanted = 0;
  integer sorted = 0;
  if constexpr (is_complex<T>) {
    work.provide(0, 0, static_cast<std::size_t>(n));
    routine(LAPACK_COL_MAJOR, 'V', 'N', nullptr, n, a, n, &sorted, values, z, n, &wanted, -1, work.reals.data(),
            nullptr);
    work.provide(wanted);
    return routine(LAPACK_COL_MAJOR, 'V', 'N', nullptr, n, a, n, &sorted, values, z, n, work.numbers.data(),
                   work.size(), work.reals.data(), nullptr);
  } else {
    routine(LAPACK_COL_MAJOR, 'V', 'N', nullptr, n, a, n, &sorted, values, values + n, z, n, &wanted, -1, nullptr);
    work.provide(wanted);
    return routine(LAPACK_COL_MAJOR, 'V', 'N', nullptr, n, a, n, &sorted, values, values + n, z, n, work.numbers.data(),
                   work.size(), nullptr);
  }
}
#undef KG_LAPACK

}  // namespace kerngrad::linalg::lapack

#endif  // KERNGRAD_MODULES_LINALG_LAPACK_H_
