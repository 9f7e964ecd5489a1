// SPDX-License-Identifier: Apache-2.0
// Solutions and inverses by LU factors with partial pivoting.
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

using detail::column_factors;
using detail::function;

namespace {

// ------------------------------------------------------------------------------------------ factors

constexpr operand matrix[] = {{"a", detail::lapack_dtypes}};
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
    const lanes::stack stack{std::ssize(info), n};
    if constexpr (!detail::is_complex<T>)
      if (detail::is_small(dtype_of<T>, stack.count, n))
        return lanes::lu(a.data(), lu.data(), pivots.data(), info.data(), stack);
    detail::work_array<lapack::integer> exchanged(n);
    std::ranges::copy(a, lu.begin());
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(info.size()); ++i) {
      const auto size = static_cast<lapack::integer>(n);
      info[static_cast<std::size_t>(i)] =
          n == 0 ? 0 : static_cast<std::int32_t>(lapack::getrf(size, size, lu.data() + i * n * n, exchanged.data()));
      std::ranges::transform(exchanged.all, pivots.begin() + i * n,
                             [](lapack::integer at) { return static_cast<std::int32_t>(at); });
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<ColumnFactors>;
};

// ------------------------------------------------------------------------------------------ solutions

constexpr operand factored_system[] = {{"a", detail::lapack_dtypes},
                                       {"lu", detail::lapack_dtypes},
                                       {"pivots", only(dtype::int32), role::own},
                                       {"b", detail::lapack_dtypes}};
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
    if (lu[i * n + i] == T(0)) return true;
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
    const std::int64_t count = batch.size(), ones_a = batch_a.size(), ones_b = batch_b.size();
    if constexpr (!detail::is_complex<T>)
      if (detail::is_small(dtype_of<T>, count, n) && k >= 1 && k <= lanes::largest &&
          (ones_a == count || ones_a == 1) && (ones_b == count || ones_b == 1)) {
        const lanes::right_sides by{k, ones_a == 1 ? 0 : n * n, ones_a == 1 ? 0 : n, ones_b == 1 ? 0 : n * k,
                                    c.call.attrs[0].as_bool()};
        return lanes::solve(lu.data(), pivots.data(), b.data(), x.data(), {count, n}, by);
      }
    detail::work_array<lapack::integer> exchanged(n);
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const std::int64_t at = detail::matrix_at(batch_a, batch, i);
      T* const to = x.data() + i * n * k;
      if (has_zero_pivot(lu.data() + at * n * n, n)) {
        detail::fill_with_nan(std::span<T>(to, static_cast<std::size_t>(n * k)));
        continue;
      }
      std::copy_n(b.data() + detail::matrix_at(batch_b, batch, i) * n * k, n * k, to);
      std::copy_n(pivots.data() + at * n, n, exchanged.data());
      solve_in_place<T>(lu.data() + at * n * n, exchanged.span(), to, k, c.call.attrs[0].as_bool());
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<FactoredSolve>;

  // Giles 2008, section 2.2.3. The solution by the adjoint is the conjugate of one by the transpose.
  template <class C>
  static tensor of_b(const C& c) {
    return c.template once<0>([&] {
      return conj(detail::factored_solution(c.in(0), {c.in(1), c.in(2), {}}, conj(c.dy()),
                                            !c.template attr<"transpose">().as_bool()));
    });
  }
  static constexpr auto gradient =
      gradient_of(wrt(keep::in0 | keep::in1 | keep::in2 | keep::out0,
                      [](const auto& c) {
                        const tensor g = of_b(c), x = conj(c.out());
                        const bool transpose = c.template attr<"transpose">().as_bool();
                        return c.reduced(0, -(transpose ? matmul(x, g, false, true) : matmul(g, x, false, true)));
                      }),
                  constant_operand(), constant_operand(),
                  wrt(keep::in0 | keep::in1 | keep::in2, [](const auto& c) { return c.reduced(3, of_b(c)); }));
};

// ------------------------------------------------------------------------------------------ inverses

constexpr operand real_matrix[] = {{"a", wide_floats}};
constexpr result_spec inverse_results[] = {{"inverse", "of each matrix; NaN for a singular one"},
                                           {"info", "0, or the number of the first zero pivot", result::int32}};

void infer_inverse(inference& call) {
  call.give(call.in[0].dims);
  call.give(detail::batch_of(call.in[0].dims));
}

// Stacks of small matrices alone; others take their factors.
struct SmallInverse {
  static constexpr op_row row{.name = "LinalgSmallInverse",
                              .doc = "Inverses of small matrices by elimination.",
                              .group = family::matmul,
                              .operands = real_matrix,
                              .infer = infer_inverse,
                              .cost = 512,
                              .results = inverse_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<std::int32_t> info = elements_out<std::int32_t>(c, 1);
    lanes::inverse(elements_in<T>(c, 0).data(), elements_out<T>(c, 0).data(), info.data(),
                   {std::ssize(info), detail::rows_of(c.in[0].dims)});
  }
  static constexpr auto kernels = detail::kernels_for_floats<SmallInverse>;
  // Giles 2008, section 2.2.3.
  static constexpr auto gradient = gradient_of(
      wrt(keep::out0, [](const auto& c) { return -matmul(matmul(c.out(0), c.dy(0), true), c.out(0), false, true); }));
};

void expect_regular(const function& self, const tensor& info) {
  self.passed(info, "a singular matrix", "is zero", "a matrix with an inverse",
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
  self.numbers(matrices, "a", right, "b");
  self.square("a", matrices);
  self.right_side(matrices, detail::rows_of(matrices.dims()), right);
  const auto [scaled, unit] = detail::in_sum_units(matrices);
  const column_factors by = detail::factored(scaled);
  if (options.check) expect_regular(self, by.info);
  const tensor x = detail::solved_in_units(detail::as_columns(right), [&](const tensor& columns) {
    return detail::over_unit(detail::factored_solution(scaled, by, columns), unit);
  });
  return detail::like_right_side(x, right);
}

tensor inv(const tensor& x, const check_options& options) {
  constexpr function self{"inv"};
  const tensor given = self.numbers("x", x);
  self.square("x", given);
  if (detail::is_small(given)) {
    const auto [inverse, info] = call<SmallInverse>(given);
    if (options.check) expect_regular(self, info);
    return inverse;
  }
  const auto [a, unit] = detail::in_sum_units(given);
  const column_factors by = detail::factored(a);
  if (options.check) expect_regular(self, by.info);
  return detail::over_unit(detail::factored_solution(a, by, detail::identities(a)), unit);
}

}  // namespace kerngrad::linalg
