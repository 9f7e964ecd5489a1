// SPDX-License-Identifier: Apache-2.0
// Cholesky factors and triangular systems.
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg {

using detail::function;

namespace {

// ------------------------------------------------------------------------------------------ triangular systems

constexpr operand systems[] = {{"a", detail::lapack_dtypes}, {"b", detail::lapack_dtypes}};
constexpr attr_spec triangular_attrs[] = {
    {.name = "lower", .kind = attr_kind::boolean, .doc = "which triangle is read"},
    {.name = "transpose", .kind = attr_kind::boolean, .doc = "solves a^T X = b"},
    {.name = "unitDiagonal", .kind = attr_kind::boolean, .doc = "the diagonal is ones"}};

void infer_solution(inference& call) {
  const shape &a = call.in[0].dims, &b = call.in[1].dims;
  call.give(detail::with_axes(detail::common_batch(call, a, b), {detail::rows_of(b), detail::columns_of(b)}));
}

struct TriangularSolve {
  static constexpr op_row row{.name = "LinalgTriangularSolve",
                              .doc = "The X with op(a) X = b for triangular matrices a.",
                              .group = family::matmul,
                              .operands = systems,
                              .attrs = triangular_attrs,
                              .infer = infer_solution,
                              .cost = 512};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0), b = elements_in<T>(c, 1);
    const std::span<T> x = elements_out<T>(c);
    const shape batch = detail::batch_of(c.out[0].dims), batch_a = detail::batch_of(c.in[0].dims),
                batch_b = detail::batch_of(c.in[1].dims);
    const std::int64_t n = detail::rows_of(c.out[0].dims), k = detail::columns_of(c.out[0].dims);
    // LAPACK reads a row-major matrix as its transpose, so its lower triangle is the upper one there.
    const char uplo = c.call.attrs[0].as_bool() ? 'U' : 'L', diag = c.call.attrs[2].as_bool() ? 'U' : 'N';
    const bool transpose = c.call.attrs[1].as_bool();
    const auto size = static_cast<lapack::integer>(n), columns = static_cast<lapack::integer>(k);
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const T* const matrix = a.data() + detail::matrix_at(batch_a, batch, i) * n * n;
      T* const to = x.data() + i * n * k;
      std::copy_n(b.data() + detail::matrix_at(batch_b, batch, i) * n * k, n * k, to);
      if (k == 1) lapack::trsm('L', uplo, transpose ? 'N' : 'T', diag, size, 1, matrix, size, to, size);
      else lapack::trsm('R', uplo, transpose ? 'T' : 'N', diag, columns, size, matrix, size, to, columns);
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<TriangularSolve>;

  // Giles 2008, section 2.2.3, for the triangle that is read.
  template <class C>
  static tensor of_b(const C& c) {
    return c.template once<0>([&] {
      return detail::triangular_solution(conj(c.in(0)), c.dy(), c.template attr<"lower">().as_bool(),
                                         !c.template attr<"transpose">().as_bool(),
                                         c.template attr<"unitDiagonal">().as_bool());
    });
  }
  static constexpr auto gradient = gradient_of(
      wrt(keep::in0 | keep::out0,
          [](const auto& c) {
            const tensor g = of_b(c), x = conj(c.out());
            const bool transpose = c.template attr<"transpose">().as_bool();
            const tensor whole = -(transpose ? matmul(x, g, false, true) : matmul(g, x, false, true));
            const std::int64_t off = c.template attr<"unitDiagonal">().as_bool() ? 1 : 0;
            return c.reduced(0, c.template attr<"lower">().as_bool() ? tril(whole, -off) : triu(whole, off));
          }),
      wrt(keep::in0, [](const auto& c) { return c.reduced(1, of_b(c)); }));
};

// ------------------------------------------------------------------------------------------ Cholesky factors

constexpr operand symmetric[] = {{"a", detail::lapack_dtypes}};
constexpr result_spec cholesky_results[] = {
    {"factor", "the lower factor"},
    {"info", "0, or the number of the first pivot that is not positive", result::int32}};

void infer_cholesky(inference& call) {
  call.give(call.in[0].dims);
  call.give(detail::batch_of(call.in[0].dims));
}

// The lower triangle of a matrix, with zeros above it; whether one of its elements is NaN.
template <class T>
bool copy_lower(const T* from, T* to, std::int64_t n) {
  bool nan = false;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      to[i * n + j] = j <= i ? from[i * n + j] : T(0);
      nan = nan || to[i * n + j] != to[i * n + j];
    }
  return nan;
}

struct Cholesky {
  static constexpr op_row row{.name = "LinalgCholesky",
                              .doc = "The lower L with a = L L^H. Gradient: Hermitian.",
                              .group = family::matmul,
                              .operands = symmetric,
                              .infer = infer_cholesky,
                              .cost = 512,
                              .results = cholesky_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<T> factor = elements_out<T>(c, 0);
    const std::span<std::int32_t> info = elements_out<std::int32_t>(c, 1);
    const std::int64_t n = detail::rows_of(c.in[0].dims), count = std::ssize(info);
    if constexpr (!detail::is_complex<T>)
      if (detail::is_small(dtype_of<T>, count, n))
        return lanes::cholesky(a.data(), factor.data(), info.data(), {count, n});
    for (std::size_t i = 0; i < info.size(); ++i) {
      info[i] = 0;
      if (n == 0) continue;
      const std::span<T> to = factor.subspan(i * static_cast<std::size_t>(n * n), static_cast<std::size_t>(n * n));
      const bool nan = copy_lower(a.data() + static_cast<std::int64_t>(i) * n * n, to.data(), n);
      if (!nan) info[i] = static_cast<std::int32_t>(lapack::potrf('U', static_cast<lapack::integer>(n), to.data()));
      if (nan || info[i] != 0) detail::fill_with_nan(to);
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Cholesky>;

  // Murray 2016, equation 8: with P = tril(L^H dL) and half of its diagonal, L^-H P L^-1, and of that the Hermitian
  // part.
  static constexpr auto gradient = gradient_of(wrt(keep::out0, [](const auto& c) {
    const tensor factor = conj(c.out(0));
    const std::int64_t n = detail::rows_of(factor.dims());
    const tensor weights = tril(ones({n, n}, factor.type())) - eye(n, n, 0, factor.type()) * 0.5;
    const tensor part = matmul(factor, c.dy(0), true) * weights;
    const tensor left = detail::triangular_solution(factor, part, true, true);
    return detail::hermitian_part(detail::triangular_solution(factor, detail::adjoint(left), true, true));
  }));
};

// Throws for a triangular matrix with a zero on its diagonal.
void expect_no_zero(const function& self, const tensor& matrices) {
  if (matrices.dims().size() == 0) return;
  const tensor zero = diagonal(stop_gradient(matrices), 0, -2, -1) == 0;
  const tensor first = where(any(zero, -1), argmax(cast(zero, dtype::int32), -1) + 1, 0);
  self.passed(cast(first, dtype::int32), "a singular matrix", "is zero", "a diagonal without zeros",
              "pass {.check = false} to divide by them");
}

}  // namespace

tensor detail::triangular_solution(const tensor& a, const tensor& b, bool lower, bool transpose, bool unit_diagonal) {
  return call<TriangularSolve>(a, b, attr<"lower">(lower), attr<"transpose">(transpose),
                               attr<"unitDiagonal">(unit_diagonal));
}

tensor cholesky(const tensor& x, const cholesky_options& options) {
  constexpr function self{"cholesky"};
  const tensor a = self.numbers("x", x);
  self.square("x", a);
  const auto [factor, info] = call<Cholesky>(a);
  if (options.check)
    self.passed(info, "a matrix that is not positive definite", "is not positive", "positive definite matrices",
                "add a small multiple of the identity, or pass {.check = false} for NaN");
  return options.upper ? detail::adjoint(factor) : factor;
}

tensor solve_triangular(const tensor& a, const tensor& b, const triangular_options& options) {
  constexpr function self{"solve_triangular"};
  tensor matrices = a, right = b;
  self.numbers(matrices, "a", right, "b");
  self.square("a", matrices);
  self.right_side(matrices, detail::rows_of(matrices.dims()), right);
  if (options.check && !options.unit_diagonal) expect_no_zero(self, matrices);
  const tensor x = detail::solved_in_units(detail::as_columns(right), [&](const tensor& columns) {
    return detail::triangular_solution(matrices, columns, options.lower, options.transpose, options.unit_diagonal);
  });
  return detail::like_right_side(x, right);
}

tensor cho_solve(const tensor& factor, const tensor& b, const cho_options& options) {
  constexpr function self{"cho_solve"};
  tensor matrices = factor, right = b;
  self.numbers(matrices, "factor", right, "b");
  self.square("factor", matrices);
  self.right_side(matrices, detail::rows_of(matrices.dims()), right);
  if (options.check) expect_no_zero(self, matrices);
  const bool lower = !options.upper;
  const tensor first = lower ? matrices : conj(matrices), second = lower ? conj(matrices) : matrices;
  const tensor x = detail::solved_in_units(detail::as_columns(right), [&](const tensor& columns) {
    const tensor y = detail::triangular_solution(first, columns, lower, options.upper);
    return detail::triangular_solution(second, y, lower, lower);
  });
  return detail::like_right_side(x, right);
}

}  // namespace kerngrad::linalg
