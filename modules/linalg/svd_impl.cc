// SPDX-License-Identifier: Apache-2.0
// Singular values, and least squares by these. A row-major matrix is its transpose for LAPACK, so left and right change
// places there and no result needs a copy.
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg {

using detail::function;
using detail::pseudo_factors;

namespace {

// ------------------------------------------------------------------------------------------ singular values

constexpr operand matrix[] = {{"a", detail::lapack_dtypes}};
constexpr attr_spec fullness[] = {
    {.name = "fullMatrices", .kind = attr_kind::boolean, .doc = "square matrices of vectors"}};
constexpr result_spec svd_results[] = {{"u", "orthonormal columns"},
                                       {"s", "singular values, descending", result::ruled},
                                       {"vh", "orthonormal rows"},
                                       {"info", "0, or not 0 where it did not converge", result::int32}};
constexpr result_spec svdvals_results[] = {{"s", "singular values, descending", result::ruled},
                                           {"info", "0, or not 0 where it did not converge", result::int32}};

void infer_svdvals(inference& call) {
  const shape &a = call.in[0].dims, batch = detail::batch_of(a);
  call.give(detail::with_axes(batch, {std::min(detail::rows_of(a), detail::columns_of(a))}),
            detail::part_type(call.compute));
  call.give(batch);
}
void infer_svd(inference& call) {
  const shape &a = call.in[0].dims, batch = detail::batch_of(a);
  const std::int64_t m = detail::rows_of(a), n = detail::columns_of(a), k = std::min(m, n);
  const bool full = call.attrs[0].as_bool();
  call.give(detail::with_axes(batch, {m, full ? m : k}));
  call.give(detail::with_axes(batch, {k}), detail::part_type(call.compute));
  call.give(detail::with_axes(batch, {full ? n : k, n}));
  call.give(batch);
}

// One matrix [m, n]. Elements that are not finite, for which LAPACK may not end, give NaN.
template <class T>
lapack::integer decompose(char job, std::span<const T> a, std::int64_t m, std::int64_t n,
                          std::span<detail::part_of<T>> s, std::span<T> u, std::span<T> vh, std::span<T> copy,
                          detail::workspace<T>& work) {
  const bool finite = detail::all_finite(a);
  lapack::integer info = 0;
  if (finite) {
    std::ranges::copy(a, copy.begin());
    const auto rows = static_cast<lapack::integer>(n), columns = static_cast<lapack::integer>(m);
    const lapack::integer ldvt = job == 'N' ? 1 : job == 'A' ? columns : std::min(rows, columns);
    info = lapack::gesdd(job, rows, columns, copy.data(), s.data(), vh.data(), u.data(), ldvt, work);
  }
  if (!finite || info != 0) detail::fill_with_nan(s), detail::fill_with_nan(u), detail::fill_with_nan(vh);
  return info;
}

// The i-th of equal parts.
template <class T>
std::span<T> part(std::span<T> all, std::size_t i, std::int64_t size) {
  return all.subspan(i * static_cast<std::size_t>(size), static_cast<std::size_t>(size));
}
// Vectors of a matrix without elements: those of the identity.
template <class T>
void unit_vectors(std::span<T> x, std::int64_t columns) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % static_cast<std::size_t>(columns + 1) == 0 ? T(1) : T(0);
}

// The part of a vector that the columns of q do not span, divided by the singular values; 0 where both are 0.
tensor beyond(const tensor& q, const tensor& dq, const tensor& s) {
  const tensor rest = dq - matmul(q, matmul(conj(q), dq, true));
  const tensor values = expand_dims(s, -2), zero = stop_gradient(values) == 0;
  const tensor nothing = logical_and(zero, max(abs(stop_gradient(dq)), -2, true) == 0);
  return where(nothing, zeros_like(rest), rest / where(nothing, ones_like(values), values));
}

struct Svd {
  static constexpr op_row row{.name = "LinalgSvd",
                              .doc = "Singular values and vectors.",
                              .group = family::matmul,
                              .operands = matrix,
                              .attrs = fullness,
                              .infer = infer_svd,
                              .cost = 512,
                              .results = svd_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<T> u = elements_out<T>(c, 0), vh = elements_out<T>(c, 2);
    const std::span<detail::part_of<T>> s = elements_out<detail::part_of<T>>(c, 1);
    const std::span<std::int32_t> info = elements_out<std::int32_t>(c, 3);
    const std::int64_t m = detail::rows_of(c.in[0].dims), n = detail::columns_of(c.in[0].dims), k = std::min(m, n);
    const std::int64_t of_u = m * detail::columns_of(c.out[0].dims), of_vh = n * detail::rows_of(c.out[2].dims);
    detail::work_array<T> copy(kernels::product_of(m, n));
    detail::workspace<T> work;
    for (std::size_t i = 0; i < info.size(); ++i) {
      info[i] = 0;
      if (k == 0) {
        unit_vectors(part(u, i, of_u), m), unit_vectors(part(vh, i, of_vh), n);
        continue;
      }
      info[i] =
          static_cast<std::int32_t>(decompose(c.call.attrs[0].as_bool() ? 'A' : 'S', part(a, i, m * n), m, n,
                                              part(s, i, k), part(u, i, of_u), part(vh, i, of_vh), copy.span(), work));
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Svd>;

  // Seeger et al. 2017 and Townsend 2016, with (sj x + si y) / (sj^2 - si^2) in two parts of which the second one has
  // no difference: half of (x + y) / (sj - si) + (x - y) / (sj + si). For complex vectors x and y have a diagonal, and
  // the second part gives the term of Wan and Zhang 2019.
  static constexpr auto gradient = gradient_of(wrt(keep::out0 | keep::out1 | keep::out2, [](const auto& c) {
    const tensor &u = c.out(0), &s = c.out(1), &vh = c.out(2);
    const std::int64_t m = detail::rows_of(c.dims(0)), n = detail::columns_of(c.dims(0));
    if (m != n && c.template attr<"fullMatrices">().as_bool())
      fail("kg::linalg::svd", "the gradient of full matrices of a matrix " + to_string(c.dims(0)), "a square matrix",
           "the further vectors are not determined: leave full_matrices out");
    const tensor of_u = matmul(conj(u), c.dy(0), true), of_v = matmul(vh, conj(c.dy(2)), false, true);
    const tensor x = of_u - detail::adjoint(of_u), y = of_v - detail::adjoint(of_v);
    const tensor parts = maximum(abs(of_u) + abs(detail::transposed(of_u)), abs(of_v) + abs(detail::transposed(of_v)));
    const tensor apart = detail::quotient_of_pairs(x + y, detail::pairs_apart(s), s, parts, c.dy(1));
    const tensor sums = expand_dims(s, -2) + expand_dims(s, -1);
    const tensor together = detail::quotient_of_pairs(x - y, sums, s, parts, zeros_like(s));
    const tensor middle =
        (apart + together) * 0.5 + eye(s.dims()[s.rank() - 1], {}, 0, s.type()) * expand_dims(c.dy(1), -1);
    tensor g = matmul(u, matmul(middle, vh));
    if (m > n) g = g + matmul(beyond(u, c.dy(0), s), vh);
    if (m < n) g = g + matmul(u, detail::adjoint(beyond(detail::adjoint(vh), detail::adjoint(c.dy(2)), s)));
    return g;
  }));
};

struct Svdvals {
  static constexpr op_row row{.name = "LinalgSvdvals",
                              .doc = "Singular values.",
                              .group = family::matmul,
                              .operands = matrix,
                              .infer = infer_svdvals,
                              .cost = 512,
                              .results = svdvals_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<detail::part_of<T>> s = elements_out<detail::part_of<T>>(c, 0);
    const std::span<std::int32_t> info = elements_out<std::int32_t>(c, 1);
    const std::int64_t m = detail::rows_of(c.in[0].dims), n = detail::columns_of(c.in[0].dims), k = std::min(m, n);
    detail::work_array<T> copy(kernels::product_of(m, n));
    detail::workspace<T> work;
    for (std::size_t i = 0; i < info.size(); ++i)
      info[i] = k == 0 ? 0
                       : static_cast<std::int32_t>(decompose('N', part(a, i, m * n), m, n, part(s, i, k),
                                                             std::span<T>(), std::span<T>(), copy.span(), work));
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Svdvals>;
  // Without the vectors the forward pass takes a fraction of the time, so the rule computes them.
  static constexpr auto gradient = gradient_of(wrt(keep::in0, [](const auto& c) {
    const auto parts = call<Svd>(c.in(0), attr<"fullMatrices">(false));
    return matmul(parts[0] * expand_dims(c.dy(0), -2), parts[2]);
  }));
};

// ------------------------------------------------------------------------------------------ pseudoinverses

constexpr operand pseudo_system[] = {{"a", detail::lapack_dtypes},
                                     {"u", detail::lapack_dtypes},
                                     {"inverses", detail::lapack_dtypes},
                                     {"vh", detail::lapack_dtypes},
                                     {"b", detail::lapack_dtypes}};
constexpr attr_spec adjoints[] = {{.name = "adjoint", .kind = attr_kind::boolean, .doc = "of a^H"}};

void infer_pseudo(inference& call) {
  const shape &a = call.in[0].dims, &b = call.in[4].dims;
  const bool turned = call.attrs[0].as_bool();
  call.give(detail::with_axes(detail::common_batch(call, a, b),
                              {turned ? detail::rows_of(a) : detail::columns_of(a), detail::columns_of(b)}));
}

struct PseudoSolve {
  static constexpr op_row row{.name = "LinalgPseudoSolve",
                              .doc = "The pseudoinverse of op(a) times b, by the factors of a.",
                              .group = family::matmul,
                              .operands = pseudo_system,
                              .attrs = adjoints,
                              .infer = infer_pseudo,
                              .cost = 512};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> u = elements_in<T>(c, 1), inverses = elements_in<T>(c, 2), vh = elements_in<T>(c, 3),
                             b = elements_in<T>(c, 4);
    const std::span<T> x = elements_out<T>(c);
    const shape batch = detail::batch_of(c.out[0].dims), batch_a = detail::batch_of(c.in[0].dims),
                batch_b = detail::batch_of(c.in[4].dims);
    const std::int64_t m = detail::rows_of(c.in[0].dims), n = detail::columns_of(c.in[0].dims), k = std::min(m, n),
                       columns = detail::columns_of(c.out[0].dims);
    const auto rows = static_cast<lapack::integer>(m), others = static_cast<lapack::integer>(n),
               inner = static_cast<lapack::integer>(k), count = static_cast<lapack::integer>(columns);
    detail::work_array<T> middle(kernels::product_of(k, columns));
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const std::int64_t at = detail::matrix_at(batch_a, batch, i), at_b = detail::matrix_at(batch_b, batch, i);
      const T *const left = u.data() + at * m * k, *const right = vh.data() + at * k * n;
      const bool turned = c.call.attrs[0].as_bool();
      T* const to = x.data() + i * (turned ? m : n) * columns;
      if (k == 0) {
        std::fill_n(to, (turned ? m : n) * columns, T(0));
        continue;
      }
      if (turned) {
        lapack::gemm('N', 'N', count, inner, others, b.data() + at_b * n * columns, count, right, others, middle.data(),
                     count);
      } else {
        lapack::gemm('N', 'C', count, inner, rows, b.data() + at_b * m * columns, count, left, inner, middle.data(),
                     count);
      }
      for (std::int64_t j = 0; j < k; ++j)
        for (std::int64_t l = 0; l < columns; ++l)
          middle[j * columns + l] *= inverses[static_cast<std::size_t>(at * k + j)];
      if (turned) lapack::gemm('N', 'N', count, rows, inner, middle.data(), count, left, inner, to, count);
      else lapack::gemm('N', 'C', count, others, inner, middle.data(), count, right, others, to, count);
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<PseudoSolve>;

  // The pseudoinverse of op(a), or of its adjoint, times y.
  template <class C>
  static tensor applied(const C& c, const tensor& y, bool turned) {
    return detail::pseudo_solution(c.in(0), {c.in(1), {}, c.in(2), c.in(3)}, y,
                                   c.template attr<"adjoint">().as_bool() != turned);
  }
  template <class C>
  static tensor of_b(const C& c) {
    return c.template once<0>([&] { return applied(c, c.dy(), true); });
  }
  // Golub and Pereyra 1973: with p the pseudoinverse, y = p^H dx, r = b - a x it is
  // -y x^H + r (p y)^H + (p^H x) (dx - p a dx)^H, for the adjoint with both exchanged.
  static constexpr kept factors = keep::in0 | keep::in1 | keep::in2 | keep::in3;
  static constexpr auto gradient = gradient_of(
      wrt(factors | keep::in4 | keep::out0,
          [](const auto& c) {
            const bool turned = c.template attr<"adjoint">().as_bool();
            const tensor a = turned ? conj(c.in(0)) : c.in(0), &x = c.out(), y = of_b(c);
            const tensor rest = c.in(4) - matmul(a, x, turned);
            const tensor free = c.dy() - applied(c, matmul(a, c.dy(), turned), false);
            const tensor g = matmul(rest, conj(applied(c, y, false)), false, true) +
                             matmul(applied(c, x, true), conj(free), false, true) - matmul(y, conj(x), false, true);
            return c.reduced(0, turned ? detail::adjoint(g) : g);
          }),
      constant_operand(), constant_operand(), constant_operand(),
      wrt(factors, [](const auto& c) { return c.reduced(4, of_b(c)); }));
};

void expect_converged(const function& self, const tensor& info) {
  self.passed(info, "a matrix whose singular values did not converge", "is not found",
              "a matrix that LAPACK can reduce", "scale it, or pass {.check = false} for NaN");
}

tensor operand_of(const function& self, const tensor& x) {
  const tensor a = self.numbers("x", x);
  self.matrices("x", a);
  return a;
}

// Which singular values of a matrix with these sizes are not small.
tensor are_large(const function& self, const tensor& s, const shape& dims, double rtol) {
  if (std::isnan(rtol)) self.refuse("rtol = nan", "a number");
  const double least = rtol < 0 ? detail::rounding_of(s.type()) *
                                      static_cast<double>(std::max(detail::rows_of(dims), detail::columns_of(dims)))
                                : rtol;
  if (s.dims()[s.rank() - 1] == 0) return s > 0;
  return s > max(s, -1, true) * least;
}

}  // namespace

pseudo_factors detail::pseudo_factored(const function& self, const tensor& a, double rtol, bool check) {
  const auto [u, s, vh, info] = call<Svd>(a, attr<"fullMatrices">(false));
  if (check) expect_converged(self, info);
  const tensor values = stop_gradient(s);
  const tensor large = logical_or(are_large(self, values, a.dims(), rtol), values != values);  // NaN stays
  const tensor inverses = where(large, 1.0 / where(large, values, ones_like(values)), zeros_like(values));
  return {stop_gradient(u), s, inverses, stop_gradient(vh)};
}

tensor detail::pseudo_solution(const tensor& a, const pseudo_factors& by, const tensor& b, bool adjoint) {
  return call<PseudoSolve>(a, by.u, by.inverses, by.vh, b, attr<"adjoint">(adjoint));
}

svd_parts svd(const tensor& x, const svd_options& options) {
  constexpr function self{"svd"};
  const auto [a, unit] = detail::in_matrix_units(operand_of(self, x));
  const auto [u, s, vh, info] = call<Svd>(a, attr<"fullMatrices">(options.full_matrices));
  if (options.check) expect_converged(self, info);
  return {u, detail::values_times_unit(s, unit), vh};
}

tensor svdvals(const tensor& x, const check_options& options) {
  constexpr function self{"svdvals"};
  const auto [a, unit] = detail::in_matrix_units(operand_of(self, x));
  const auto [s, info] = call<Svdvals>(a);
  if (options.check) expect_converged(self, info);
  return detail::values_times_unit(s, unit);
}

lstsq_parts lstsq(const tensor& a, const tensor& b, const rank_options& options) {
  constexpr function self{"lstsq"};
  tensor matrices = a, right = b;
  self.numbers(matrices, "a", right, "b");
  self.matrices("a", matrices);
  self.right_side(matrices, detail::rows_of(matrices.dims()), right);
  const pseudo_factors by = detail::pseudo_factored(self, matrices, options.rtol, options.check);
  const tensor columns = detail::as_columns(right), x = detail::pseudo_solution(matrices, by, columns);
  const tensor residuals = sum(detail::squared_modulus(columns - matmul(matrices, x)), -2);
  const tensor rank = sum(cast(are_large(self, by.s, matrices.dims(), options.rtol), dtype::int64), -1);
  return {detail::like_right_side(x, right), right.rank() == 1 ? squeeze(residuals, {-1}) : residuals, rank, by.s};
}

tensor pinv(const tensor& x, const rank_options& options) {
  constexpr function self{"pinv"};
  const auto [a, unit] = detail::in_matrix_units(operand_of(self, x));
  const pseudo_factors by = detail::pseudo_factored(self, a, options.rtol, options.check);
  return detail::over_unit(detail::pseudo_solution(a, by, eye(detail::rows_of(a.dims()), {}, 0, a.type())), unit);
}

tensor matrix_rank(const tensor& x, const rank_options& options) {
  constexpr function self{"matrix_rank"};
  const tensor a = detail::in_sum_units(operand_of(self, x)).x, s = svdvals(stop_gradient(a), {options.check});
  return sum(cast(are_large(self, s, a.dims(), options.rtol), dtype::int64), -1);
}

}  // namespace kerngrad::linalg
