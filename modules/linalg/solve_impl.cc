// SPDX-License-Identifier: Apache-2.0
// Solutions, inverses and determinants by LU factors with partial pivoting.
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg {

using detail::column_factors;
using detail::function;

namespace {

// ------------------------------------------------------------------------------------------ factors

constexpr operand matrix[] = {{"a", wide_floats}};
constexpr result_spec factor_results[] = {{"lu", "both factors of the transpose"},
                                          {"pivots", "which column went to the place of each", result::int32},
                                          {"info", "0, or the number of the first zero pivot", result::int32}};

void infer_factors(inference& call) {
  const shape& a = call.in[0].dims;
  call.give(a);
  call.give(detail::batch_of(a, 1));
  call.give(detail::batch_of(a));
}

// A row-major matrix is factored where it is: LAPACK sees its transpose, and exchanges its columns.
struct ColumnFactors {
  static constexpr op_row row{.name = "LinalgColumnFactors",
                              .doc = "LU factors of each matrix transposed.",
                              .group = family::matmul,
                              .operands = matrix,
                              .infer = infer_factors,
                              .no_gradient = "solutions by these factors have gradients in the matrix",
                              .cost = 512,
                              .results = factor_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<T> lu = elements_out<T>(c, 0);
    const std::span<std::int32_t> pivots = elements_out<std::int32_t>(c, 1), info = elements_out<std::int32_t>(c, 2);
    const std::int64_t n = detail::rows_of(c.in[0].dims);
    std::vector<lapack::integer> exchanged(static_cast<std::size_t>(n));
    std::ranges::copy(a, lu.begin());
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(info.size()); ++i) {
      const auto size = static_cast<lapack::integer>(n);
      info[static_cast<std::size_t>(i)] =
          n == 0 ? 0 : static_cast<std::int32_t>(lapack::getrf(size, size, lu.data() + i * n * n, exchanged.data()));
      std::ranges::transform(exchanged, pivots.begin() + i * n,
                             [](lapack::integer at) { return static_cast<std::int32_t>(at); });
    }
  }
  static constexpr auto kernels = detail::kernels_for_floats<ColumnFactors>;
};

// ------------------------------------------------------------------------------------------ solutions

constexpr operand factored_system[] = {
    {"a", wide_floats}, {"lu", wide_floats}, {"pivots", only(dtype::int32), role::own}, {"b", wide_floats}};
constexpr attr_spec transposes[] = {{.name = "transpose", .kind = attr_kind::boolean, .doc = "solves a^T X = b"}};

void infer_factored(inference& call) {
  const shape &a = call.in[0].dims, &b = call.in[3].dims;
  call.give(detail::with_axes(detail::common_batch(call, a, b), {detail::rows_of(b), detail::columns_of(b)}));
}

template <class T>
void exchange_rows(T* x, std::int64_t columns, std::int64_t i, std::int64_t j) {
  if (i != j) std::swap_ranges(x + i * columns, x + (i + 1) * columns, x + j * columns);
}

// With a^T = P L U, which is what the factors are: a X = b is X^T P L U = b^T, and a row-major X is X^T for BLAS.
template <class T>
void solve_in_place(const T* lu, std::span<const lapack::integer> pivots, T* x, std::int64_t k, bool transpose) {
  const auto n = static_cast<std::int64_t>(pivots.size());
  const auto size = static_cast<lapack::integer>(n), columns = static_cast<lapack::integer>(k);
  if (k == 1) return lapack::getrs(transpose ? 'N' : 'T', size, 1, lu, pivots.data(), x);
  if (transpose) {
    for (std::int64_t i = 0; i < n; ++i) exchange_rows(x, k, i, pivots[static_cast<std::size_t>(i)] - 1);
    lapack::trsm('R', 'L', 'T', 'U', columns, size, lu, size, x, columns);
    lapack::trsm('R', 'U', 'T', 'N', columns, size, lu, size, x, columns);
  } else {
    lapack::trsm('R', 'U', 'N', 'N', columns, size, lu, size, x, columns);
    lapack::trsm('R', 'L', 'N', 'U', columns, size, lu, size, x, columns);
    for (std::int64_t i = n; i-- > 0;) exchange_rows(x, k, i, pivots[static_cast<std::size_t>(i)] - 1);
  }
}

template <class T>
bool has_zero_pivot(const T* lu, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    if (lu[i * n + i] == 0) return true;
  return false;
}

struct FactoredSolve {
  static constexpr op_row row{.name = "LinalgFactoredSolve",
                              .doc = "The X with op(a) X = b by the factors of a; NaN for a singular matrix.",
                              .group = family::matmul,
                              .operands = factored_system,
                              .attrs = transposes,
                              .infer = infer_factored,
                              .cost = 512};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> lu = elements_in<T>(c, 1), b = elements_in<T>(c, 3);
    const std::span<const std::int32_t> pivots = elements_in<std::int32_t>(c, 2);
    const std::span<T> x = elements_out<T>(c);
    const shape batch = detail::batch_of(c.out[0].dims), batch_a = detail::batch_of(c.in[0].dims),
                batch_b = detail::batch_of(c.in[3].dims);
    const std::int64_t n = detail::rows_of(c.out[0].dims), k = detail::columns_of(c.out[0].dims);
    std::vector<lapack::integer> exchanged(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const std::int64_t at = detail::matrix_at(batch_a, batch, i);
      T* const to = x.data() + i * n * k;
      if (has_zero_pivot(lu.data() + at * n * n, n)) {
        detail::fill_with_nan(std::span<T>(to, static_cast<std::size_t>(n * k)));
        continue;
      }
      std::copy_n(b.data() + detail::matrix_at(batch_b, batch, i) * n * k, n * k, to);
      std::copy_n(pivots.data() + at * n, n, exchanged.begin());
      solve_in_place(lu.data() + at * n * n, exchanged, to, k, c.call.attrs[0].as_bool());
    }
  }
  static constexpr auto kernels = detail::kernels_for_floats<FactoredSolve>;

  // Giles 2008, section 2.2.3.
  template <class C>
  static tensor of_b(const C& c) {
    return c.template once<0>([&] {
      return detail::factored_solution(c.in(0), {c.in(1), c.in(2), {}}, c.dy(),
                                       !c.template attr<"transpose">().as_bool());
    });
  }
  static constexpr auto gradient = gradient_of(
      wrt(keep::in0 | keep::in1 | keep::in2 | keep::out0,
          [](const auto& c) {
            const tensor g = of_b(c);
            const bool transpose = c.template attr<"transpose">().as_bool();
            return c.reduced(0, -(transpose ? matmul(c.out(), g, false, true) : matmul(g, c.out(), false, true)));
          }),
      constant_operand(), constant_operand(),
      wrt(keep::in0 | keep::in1 | keep::in2, [](const auto& c) { return c.reduced(3, of_b(c)); }));
};

// ------------------------------------------------------------------------------------------ determinants

constexpr operand factored_matrix[] = {
    {"a", wide_floats}, {"lu", wide_floats}, {"pivots", only(dtype::int32), role::own}};
constexpr result_spec slogdet_results[] = {{"sign", "-1, 0 or 1"}, {"logabsdet", "log(abs(det))"}};

void infer_determinant(inference& call) { call.give(detail::batch_of(call.in[0].dims)); }
void infer_slogdet(inference& call) {
  infer_determinant(call);
  infer_determinant(call);
}

// The sign of the exchanges of the i-th matrix.
inline double sign_of(std::span<const std::int32_t> pivots) {
  double sign = 1;
  for (std::size_t i = 0; i < pivots.size(); ++i)
    if (pivots[i] != static_cast<std::int32_t>(i) + 1) sign = -sign;
  return sign;
}

// Calls f with the number of each matrix, its factors and the sign of its exchanges.
template <class T, class F>
void each_factored(const launch_call& c, F f) {
  const std::span<const T> lu = elements_in<T>(c, 1);
  const std::span<const std::int32_t> pivots = elements_in<std::int32_t>(c, 2);
  const auto n = static_cast<std::size_t>(detail::rows_of(c.in[0].dims));
  for (std::size_t i = 0; i < elements_out<T>(c).size(); ++i)
    f(i, lu.data() + i * n * n, sign_of(n == 0 ? pivots.first(0) : pivots.subspan(i * n, n)), n);
}

// dy on the transposed inverses, by the factors.
template <class C>
tensor inverse_transposed(const C& c) {
  return detail::factored_solution(c.in(0), {c.in(1), c.in(2), {}}, detail::identities(c.in(0)), true);
}
inline tensor on_matrices(const tensor& of_stack) { return expand_dims(expand_dims(of_stack, -1), -1); }

// The cofactors of matrices without an inverse: u and vh times the products of all other singular values.
tensor cofactors(const tensor& a) {
  const auto [u, s, vh] = svd(a, {.check = false});
  const tensor others = cumprod(s, -1, true) * cumprod(s, -1, true, true);
  const tensor sign = slogdet(stop_gradient(u)).sign * slogdet(stop_gradient(vh)).sign;
  return matmul(u * expand_dims(others * expand_dims(sign, -1), -2), vh);
}

struct LogDeterminant {
  static constexpr op_row row{.name = "LinalgLogDeterminant",
                              .doc = "Signs and logarithms of determinants by LU factors.",
                              .group = family::matmul,
                              .operands = factored_matrix,
                              .infer = infer_slogdet,
                              .cost = 512,
                              .results = slogdet_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<T> sign = elements_out<T>(c, 0), logarithm = elements_out<T>(c, 1);
    each_factored<T>(c, [&](std::size_t i, const T* lu, double exchanges, std::size_t n) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const double pivot = static_cast<double>(lu[k * n + k]);
        sum += std::log(std::fabs(pivot));
        exchanges *= pivot > 0 ? 1 : pivot < 0 ? -1 : pivot;  // 0 and NaN as they are
      }
      sign[i] = static_cast<T>(exchanges), logarithm[i] = static_cast<T>(sum);
    });
  }
  static constexpr auto kernels = detail::kernels_for_floats<LogDeterminant>;
  static constexpr auto gradient =
      gradient_of(wrt(keep::in0 | keep::in1 | keep::in2,
                      [](const auto& c) { return on_matrices(c.dy(1)) * inverse_transposed(c); }),
                  constant_operand(), constant_operand());
};

struct Determinant {
  static constexpr op_row row{.name = "LinalgDeterminant",
                              .doc = "Determinants by LU factors.",
                              .group = family::matmul,
                              .operands = factored_matrix,
                              .infer = infer_determinant,
                              .cost = 512};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<T> y = elements_out<T>(c);
    each_factored<T>(c, [&](std::size_t i, const T* lu, double product, std::size_t n) {
      for (std::size_t k = 0; k < n; ++k) product *= static_cast<double>(lu[k * n + k]);
      y[i] = static_cast<T>(product);
    });
  }
  static constexpr auto kernels = detail::kernels_for_floats<Determinant>;
  static constexpr auto gradient =
      gradient_of(wrt(keep::in0 | keep::in1 | keep::in2 | keep::out0,
                      [](const auto& c) {
                        const tensor by_factors = on_matrices(c.dy() * c.out()) * inverse_transposed(c);
                        const tensor singular = stop_gradient(c.out()) == 0;
                        if (singular.size() == 0 || !any(singular).template item<bool>()) return by_factors;
                        return where(on_matrices(singular), on_matrices(c.dy()) * cofactors(c.in(0)), by_factors);
                      }),
                  constant_operand(), constant_operand());
};

void expect_regular(const function& self, const column_factors& by) {
  self.passed(by.info, "a singular matrix", "is zero", "a matrix with an inverse",
              "use `lstsq` or `pinv`, or pass {.check = false} for NaN");
}

}  // namespace

column_factors detail::factored(const tensor& a) {
  const auto [lu, pivots, info] = call<ColumnFactors>(stop_gradient(a));
  return {lu, pivots, info};
}

tensor detail::factored_solution(const tensor& a, const column_factors& by, const tensor& b, bool transpose) {
  return call<FactoredSolve>(a, by.lu, by.pivots, b, attr<"transpose">(transpose));
}

tensor solve(const tensor& a, const tensor& b, const check_options& options) {
  constexpr function self{"solve"};
  tensor matrices = a, right = b;
  self.floats(matrices, "a", right, "b");
  self.square("a", matrices);
  self.right_side(matrices, detail::rows_of(matrices.dims()), right);
  const column_factors by = detail::factored(matrices);
  if (options.check) expect_regular(self, by);
  return detail::like_right_side(detail::factored_solution(matrices, by, detail::as_columns(right)), right);
}

tensor inv(const tensor& x, const check_options& options) {
  constexpr function self{"inv"};
  const tensor a = self.floats("x", x);
  self.square("x", a);
  const column_factors by = detail::factored(a);
  if (options.check) expect_regular(self, by);
  return detail::factored_solution(a, by, detail::identities(a));
}

tensor det(const tensor& x) {
  constexpr function self{"det"};
  const tensor a = self.floats("x", x);
  self.square("x", a);
  const column_factors by = detail::factored(a);
  return call<Determinant>(a, by.lu, by.pivots);
}

slogdet_parts slogdet(const tensor& x) {
  constexpr function self{"slogdet"};
  const tensor a = self.floats("x", x);
  self.square("x", a);
  const column_factors by = detail::factored(a);
  const auto [sign, logabsdet] = call<LogDeterminant>(a, by.lu, by.pivots);
  return {sign, logabsdet};
}

}  // namespace kerngrad::linalg
