// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of Hermitian matrices.
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg {

using detail::function;

// ------------------------------------------------------------------------------------------ differences of values

namespace {
// The largest absolute element of each matrix, or of each vector.
tensor largest_of(const tensor& x, const axes& over) { return max(abs(stop_gradient(x)), over, true); }
}  // namespace

double detail::negligible_part(const tensor& x) {
  return 64 * rounding_of(x.type()) * static_cast<double>(columns_of(x.dims()));
}

tensor detail::pairs_apart(const tensor& values) { return expand_dims(values, -2) - expand_dims(values, -1); }

tensor detail::quotient_of_pairs(const tensor& numerators, const tensor& denominators, const tensor& scale,
                                 const tensor& largest_part, const tensor& slopes) {
  const tensor n = stop_gradient(numerators), parts = stop_gradient(largest_part);
  const tensor equal =
      abs(stop_gradient(denominators)) <= expand_dims(largest_of(scale, -1), -1) * negligible_part(scale);
  const tensor negligible = max(parts, axes{-2, -1}, true) * negligible_part(scale), nothing = parts <= negligible;
  const tensor slopes_differ =
      abs(pairs_apart(stop_gradient(slopes))) > expand_dims(largest_of(slopes, -1), -1) * negligible_part(slopes);
  const tensor own = kerngrad::diagonal(parts, 0, -2, -1),
               vectors_matter = maximum(expand_dims(own, -2), expand_dims(own, -1)) > negligible;
  const tensor unknown = where(nothing, vectors_matter, slopes_differ);
  const tensor not_differentiable = logical_or(abs(n) > negligible, unknown);
  const tensor at_equal =
      where(not_differentiable, full_like(n, std::numeric_limits<double>::quiet_NaN()), zeros_like(n));
  return where(equal, at_equal, numerators / where(equal, ones_like(denominators), denominators));
}

namespace {

// ------------------------------------------------------------------------------------------ ops

constexpr operand symmetric[] = {{"a", detail::lapack_dtypes}};
constexpr result_spec eigh_results[] = {{"eigenvalues", "ascending", result::ruled},
                                        {"eigenvectors", "in columns"},
                                        {"info", "0, or not 0 where it did not converge", result::int32}};
constexpr result_spec eigvalsh_results[] = {{"eigenvalues", "ascending", result::ruled},
                                            {"info", "0, or not 0 where it did not converge", result::int32}};

void infer_eigvalsh(inference& call) {
  call.give(detail::batch_of(call.in[0].dims, 1), detail::part_type(call.compute));
  call.give(detail::batch_of(call.in[0].dims));
}
void infer_eigh(inference& call) {
  call.give(detail::batch_of(call.in[0].dims, 1), detail::part_type(call.compute));
  call.give(call.in[0].dims);
  call.give(detail::batch_of(call.in[0].dims));
}

// Eigenvalues, and with `vectors` the conjugate eigenvectors in the place of the matrix, in its rows: LAPACK sees the
// transpose. Elements that are not finite, for which it may not end, give NaN.
template <class T>
lapack::integer eigen(std::span<T> matrix, std::span<detail::part_of<T>> values, bool vectors,
                      detail::workspace<T>& work) {
  const auto n = static_cast<lapack::integer>(values.size());
  if (!detail::all_finite<T>(matrix)) {
    detail::fill_with_nan(matrix), detail::fill_with_nan(values);
    return 0;
  }
  const lapack::integer info = lapack::heevd(vectors ? 'V' : 'N', 'U', n, matrix.data(), values.data(), work);
  if (info != 0) detail::fill_with_nan(matrix), detail::fill_with_nan(values);
  return info;
}

struct Eigh {
  static constexpr op_row row{.name = "LinalgEigh",
                              .doc = "Eigenvalues and eigenvectors of Hermitian matrices. Gradient: Hermitian.",
                              .group = family::matmul,
                              .operands = symmetric,
                              .infer = infer_eigh,
                              .cost = 512,
                              .results = eigh_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<detail::part_of<T>> values = elements_out<detail::part_of<T>>(c, 0);
    const std::span<T> vectors = elements_out<T>(c, 1);
    const std::span<std::int32_t> info = elements_out<std::int32_t>(c, 2);
    const auto n = static_cast<std::size_t>(detail::rows_of(c.in[0].dims));
    const lanes::stack stack{std::ssize(info), detail::rows_of(c.in[0].dims)};
    if constexpr (!detail::is_complex<T>)
      if (detail::is_small(dtype_of<T>, stack.count, stack.size))
        return lanes::eigh(a.data(), values.data(), vectors.data(), info.data(), stack);
    detail::workspace<T> work;
    std::ranges::copy(a, vectors.begin());
    for (std::size_t i = 0; i < info.size(); ++i) {
      info[i] = 0;
      if (n == 0) continue;
      const std::span<T> matrix = vectors.subspan(i * n * n, n * n);
      info[i] = static_cast<std::int32_t>(eigen(matrix, values.subspan(i * n, n), true, work));
      detail::transpose_square(matrix.data(), static_cast<std::int64_t>(n));
      detail::conjugate(matrix);
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Eigh>;

  // Giles 2008, section 3.1, of which the Hermitian part: v (diag(dw) + (m - m^H) / (2 (wj - wi))) v^H with m = v^H dv.
  static constexpr auto gradient = gradient_of(wrt(keep::out0 | keep::out1, [](const auto& c) {
    const tensor &w = c.out(0), &v = c.out(1);
    const tensor m = matmul(conj(v), c.dy(1), true), turned = detail::adjoint(m);
    const tensor inner =
        detail::quotient_of_pairs((m - turned) * 0.5, detail::pairs_apart(w), w, maximum(abs(m), abs(turned)), c.dy(0));
    const tensor middle = inner + detail::identities(v) * expand_dims(c.dy(0), -1);
    return detail::hermitian_part(matmul(matmul(v, middle), conj(v), false, true));
  }));
};

struct Eigvalsh {
  static constexpr op_row row{.name = "LinalgEigvalsh",
                              .doc = "Eigenvalues of Hermitian matrices. Gradient: Hermitian.",
                              .group = family::matmul,
                              .operands = symmetric,
                              .infer = infer_eigvalsh,
                              .cost = 512,
                              .results = eigvalsh_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<detail::part_of<T>> values = elements_out<detail::part_of<T>>(c, 0);
    const std::span<std::int32_t> info = elements_out<std::int32_t>(c, 1);
    const auto n = static_cast<std::size_t>(detail::rows_of(c.in[0].dims));
    const lanes::stack stack{std::ssize(info), detail::rows_of(c.in[0].dims)};
    if constexpr (!detail::is_complex<T>)
      if (detail::is_small(dtype_of<T>, stack.count, stack.size))
        return lanes::eigh(a.data(), values.data(), static_cast<T*>(nullptr), info.data(), stack);
    detail::workspace<T> work;
    detail::work_array<T> matrix(kernels::product_of(stack.size, stack.size));
    for (std::size_t i = 0; i < info.size(); ++i) {
      info[i] = 0;
      if (n == 0) continue;
      std::ranges::copy(a.subspan(i * n * n, n * n), matrix.data());
      info[i] = static_cast<std::int32_t>(eigen(matrix.span(), values.subspan(i * n, n), false, work));
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Eigvalsh>;
  // Without the vectors the forward pass takes a third of the time, so the rule computes them.
  static constexpr auto gradient = gradient_of(wrt(keep::in0, [](const auto& c) {
    const tensor v = call<Eigh>(c.in(0))[1];
    return matmul(v * expand_dims(c.dy(0), -2), conj(v), false, true);
  }));
};

void expect_converged(const function& self, const tensor& info) {
  self.passed(info, "a matrix whose eigenvalues did not converge", "is not found", "a matrix that LAPACK can reduce",
              "scale it, or pass {.check = false} for NaN");
}

tensor symmetric_operand(const function& self, const tensor& x) {
  const tensor a = self.numbers("x", x);
  self.square("x", a);
  return a;
}

}  // namespace

eigh_parts eigh(const tensor& x, const check_options& options) {
  constexpr function self{"eigh"};
  const auto [a, unit] = detail::in_matrix_units(symmetric_operand(self, x));
  const auto [values, vectors, info] = call<Eigh>(a);
  if (options.check) expect_converged(self, info);
  return {detail::values_times_unit(values, unit), vectors};
}

tensor eigvalsh(const tensor& x, const check_options& options) {
  constexpr function self{"eigvalsh"};
  const tensor given = symmetric_operand(self, x);
  // The kernels of small matrices take units of their own.
  const auto [a, unit] = detail::is_small(given) ? detail::in_units{given, {}} : detail::in_matrix_units(given);
  const auto [values, info] = call<Eigvalsh>(a);
  if (options.check) expect_converged(self, info);
  return detail::values_times_unit(values, unit);
}

}  // namespace kerngrad::linalg
