// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of matrices that need not be Hermitian, and Schur factors.
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include "kernels/common/abi.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg {

using detail::function;

namespace {

constexpr operand matrix[] = {{"a", detail::lapack_dtypes}};
constexpr result_spec eig_results[] = {{"eigenvalues", "complex numbers", result::ruled},
                                       {"eigenvectors", "in columns, complex numbers", result::ruled},
                                       {"info", "0, or not 0 where it did not converge", result::int32}};
constexpr result_spec eigvals_results[] = {{"eigenvalues", "complex numbers", result::ruled},
                                           {"info", "0, or not 0 where it did not converge", result::int32}};
constexpr result_spec schur_results[] = {{"t", "upper triangular; of real matrices with blocks of 2 x 2"},
                                         {"z", "orthonormal columns"},
                                         {"info", "0, or not 0 where it did not converge", result::int32}};

void infer_eigvals(inference& call) {
  const shape& a = call.in[0].dims;
  call.give(detail::batch_of(a, 1), detail::pair_type(call.compute));
  call.give(detail::batch_of(a));
}
void infer_eig(inference& call) {
  const shape& a = call.in[0].dims;
  call.give(detail::batch_of(a, 1), detail::pair_type(call.compute));
  call.give(a, detail::pair_type(call.compute));
  call.give(detail::batch_of(a));
}
void infer_schur(inference& call) {
  const shape& a = call.in[0].dims;
  call.give(a);
  call.give(a);
  call.give(detail::batch_of(a));
}

// The numbers that eigenvalues of a matrix of T are.
template <class T>
using pair_of = std::complex<detail::part_of<T>>;

// LAPACK's arrays for one matrix of n rows.
template <class T>
struct decomposition {
  std::int64_t n;
  detail::work_array<T> a, vectors, values;  // of a real matrix the real parts, then the imaginary ones
  detail::workspace<T> work;
  explicit decomposition(std::int64_t rows, bool with_vectors)
      : n(rows),
        a(kernels::product_of(rows, rows)),
        vectors(with_vectors ? kernels::product_of(rows, rows) : 0),
        values(kernels::product_of(2, rows)) {}

  // Gives 0 where it converged.
  lapack::integer decompose(const T* matrix, char job) {
    detail::transpose_into(matrix, n, n, a.data());
    return lapack::geev(job, static_cast<lapack::integer>(n), a.data(), values.data(), values.data() + n,
                        vectors.data(), work);
  }
  pair_of<T> value(std::int64_t i) {
    if constexpr (detail::is_complex<T>) return values[i];
    else return {values[i], values[n + i]};
  }
  // Element r of eigenvector i. Two columns of a real matrix are the parts of a vector and of its conjugate, which
  // comes second.
  pair_of<T> element(std::int64_t r, std::int64_t i) {
    if constexpr (detail::is_complex<T>) return vectors[i * n + r];
    else if (values[n + i] == 0) return {vectors[i * n + r], 0};
    else if (values[n + i] > 0) return {vectors[i * n + r], vectors[(i + 1) * n + r]};
    else return {vectors[(i - 1) * n + r], -vectors[i * n + r]};
  }
};

// Eigenvalues of each matrix, and eigenvectors unless `vectors` is empty. Elements that are not finite, for which
// LAPACK may not end, give NaN.
template <class T>
void eigen(std::span<const T> a, std::int64_t n, std::span<pair_of<T>> values, std::span<pair_of<T>> vectors,
           std::span<std::int32_t> info) {
  std::ranges::fill(info, 0);
  if (n == 0) return;
  decomposition<T> by(n, !vectors.empty());
  for (std::size_t i = 0; i < info.size(); ++i) {
    const auto rows = static_cast<std::size_t>(n);
    const std::span<const T> from = a.subspan(i * rows * rows, rows * rows);
    const std::span<pair_of<T>> to = values.subspan(i * rows, rows),
                                to_vectors = vectors.empty() ? vectors : vectors.subspan(i * rows * rows, rows * rows);
    const bool finite = detail::all_finite(from);
    if (finite) info[i] = static_cast<std::int32_t>(by.decompose(from.data(), vectors.empty() ? 'N' : 'V'));
    if (!finite || info[i] != 0) {
      detail::fill_with_nan(to), detail::fill_with_nan(to_vectors);
      continue;
    }
    for (std::int64_t k = 0; k < n; ++k) to[static_cast<std::size_t>(k)] = by.value(k);
    if (vectors.empty()) continue;
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t k = 0; k < n; ++k) to_vectors[static_cast<std::size_t>(r * n + k)] = by.element(r, k);
  }
}

// v^-H middle v^H, of which a real matrix gets the real part. NaN if the vectors are no basis to rounding.
tensor turned_back(const tensor& v, const tensor& middle, dtype type) {
  const tensor turned = detail::adjoint(v);
  const detail::column_factors by = detail::factored(turned);
  const tensor pivots = expand_dims(abs(kerngrad::diagonal(by.lu, 0, -2, -1)), -1);
  const tensor defective = min(pivots, -2, true) <= max(pivots, -2, true) * detail::negligible_part(v);
  const tensor g = matmul(detail::factored_solution(turned, by, middle), turned);
  const tensor known = where(defective, full_like(g, std::numeric_limits<double>::quiet_NaN()), g);
  return complex_only.has(type) ? known : real(known);
}

struct Eig {
  static constexpr op_row row{.name = "LinalgEig",
                              .doc = "Eigenvalues and eigenvectors.",
                              .group = family::matmul,
                              .operands = matrix,
                              .infer = infer_eig,
                              .cost = 512,
                              .results = eig_results};
  template <class T>
  static void run(const launch_call& c) {
    eigen<T>(elements_in<T>(c, 0), detail::rows_of(c.in[0].dims), elements_out<pair_of<T>>(c, 0),
             elements_out<pair_of<T>>(c, 1), elements_out<std::int32_t>(c, 2));
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Eig>;

  // Boeddeker et al. 2017: v^-H (diag(dw) + (m - v^H v diag(re m)) / conj(wj - wi)) v^H with m = v^H dv. The second
  // part keeps vectors at length 1. A derivative by the phase of a vector, the imaginary diagonal of m, gives NaN.
  static constexpr auto gradient = gradient_of(wrt(keep::out0 | keep::out1, [](const auto& c) {
    const tensor &w = c.out(0), &v = c.out(1), one = detail::identities(v);
    const tensor m = matmul(conj(v), c.dy(1), true), products = matmul(conj(v), v, true);
    const tensor lengths = expand_dims(real(kerngrad::diagonal(m, 0, -2, -1)), -2);
    const tensor size = abs(m);
    // The diagonal of `products` is 1 up to rounding, which must not be taken for a derivative by the phase.
    const tensor numerators = where(one == 0, m - products * lengths, m - complex(real(m), zeros_like(real(m))));
    const tensor inner =
        detail::quotient_of_pairs(numerators, conj(detail::pairs_apart(w)), w,
                                  maximum(size, detail::transposed(size)) + abs(products) * abs(lengths), c.dy(0));
    return turned_back(v, inner + one * expand_dims(c.dy(0), -1), c.type(0));
  }));
};

struct Eigvals {
  static constexpr op_row row{.name = "LinalgEigvals",
                              .doc = "Eigenvalues.",
                              .group = family::matmul,
                              .operands = matrix,
                              .infer = infer_eigvals,
                              .cost = 512,
                              .results = eigvals_results};
  template <class T>
  static void run(const launch_call& c) {
    eigen<T>(elements_in<T>(c, 0), detail::rows_of(c.in[0].dims), elements_out<pair_of<T>>(c, 0), {},
             elements_out<std::int32_t>(c, 1));
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Eigvals>;
  // Without the vectors the forward pass takes a part of the time, so the rule computes them.
  static constexpr auto gradient = gradient_of(wrt(keep::in0, [](const auto& c) {
    const tensor v = call<Eig>(c.in(0))[1];
    return turned_back(v, detail::identities(v) * expand_dims(c.dy(0), -1), c.type(0));
  }));
};

struct Schur {
  static constexpr op_row row{.name = "LinalgSchur",
                              .doc = "Each matrix as z t z^H.",
                              .group = family::matmul,
                              .operands = matrix,
                              .infer = infer_schur,
                              .no_gradient = "LAPACK chooses the order of the eigenvalues; use eig or eigvals",
                              .cost = 512,
                              .results = schur_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<T> t = elements_out<T>(c, 0), z = elements_out<T>(c, 1);
    const std::span<std::int32_t> info = elements_out<std::int32_t>(c, 2);
    const std::int64_t n = detail::rows_of(c.in[0].dims);
    std::ranges::fill(info, 0);
    if (n == 0) return;
    decomposition<T> by(n, true);
    for (std::size_t i = 0; i < info.size(); ++i) {
      const auto size = static_cast<std::size_t>(n * n);
      const std::span<const T> from = a.subspan(i * size, size);
      const std::span<T> to_t = t.subspan(i * size, size), to_z = z.subspan(i * size, size);
      const bool finite = detail::all_finite(from);
      if (finite) {
        detail::transpose_into(from.data(), n, n, by.a.data());
        info[i] = static_cast<std::int32_t>(
            lapack::gees(static_cast<lapack::integer>(n), by.a.data(), by.values.data(), by.vectors.data(), by.work));
      }
      if (!finite || info[i] != 0) {
        detail::fill_with_nan(to_t), detail::fill_with_nan(to_z);
        continue;
      }
      detail::transpose_into<T>(by.a.data(), n, n, to_t.data());
      detail::transpose_into<T>(by.vectors.data(), n, n, to_z.data());
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Schur>;
};

void expect_converged(const function& self, const tensor& info) {
  self.passed(info, "a matrix whose eigenvalues did not converge", "is not found", "a matrix that LAPACK can reduce",
              "scale it, or pass {.check = false} for NaN");
}

tensor square_operand(const function& self, const tensor& x) {
  const tensor a = self.numbers("x", x);
  self.square("x", a);
  return a;
}

}  // namespace

eig_parts eig(const tensor& x, const check_options& options) {
  constexpr function self{"eig"};
  const auto [a, unit] = detail::in_matrix_units(square_operand(self, x));
  const auto [values, vectors, info] = call<Eig>(a);
  if (options.check) expect_converged(self, info);
  return {detail::values_times_unit(values, unit), vectors};
}

tensor eigvals(const tensor& x, const check_options& options) {
  constexpr function self{"eigvals"};
  const auto [a, unit] = detail::in_matrix_units(square_operand(self, x));
  const auto [values, info] = call<Eigvals>(a);
  if (options.check) expect_converged(self, info);
  return detail::values_times_unit(values, unit);
}

schur_parts schur(const tensor& x, const check_options& options) {
  constexpr function self{"schur"};
  const auto [a, unit] = detail::in_matrix_units(square_operand(self, x));
  const auto [t, z, info] = call<Schur>(a);
  if (options.check) expect_converged(self, info);
  return {detail::times_unit(t, unit), z};
}

}  // namespace kerngrad::linalg
