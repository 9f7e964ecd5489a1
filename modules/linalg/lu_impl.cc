// SPDX-License-Identifier: Apache-2.0
// LU factors with exchanged rows, as SciPy has them.
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg {

using detail::function;

namespace {

constexpr operand matrix[] = {{"a", detail::lapack_dtypes}};
constexpr result_spec row_factors[] = {{"lu", "both factors"},
                                       {"pivots", "which row each was exchanged with", result::int32}};

void infer_row_factors(inference& call) {
  const shape& a = call.in[0].dims;
  call.give(a);
  call.give(detail::with_axes(detail::batch_of(a), {std::min(detail::rows_of(a), detail::columns_of(a))}));
}

// The block of `rows` x `columns` elements at (row, column) of each matrix.
tensor block(const tensor& x, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  std::vector<std::int64_t> begin(static_cast<std::size_t>(x.rank())), size(x.dims().begin(), x.dims().end());
  begin[begin.size() - 2] = row, size[size.size() - 2] = rows;
  begin[begin.size() - 1] = column, size[size.size() - 1] = columns;
  return slice(x, begin, size);
}

// Which row of the matrix is each row of the product of the factors, or the inverse of that, from the exchanges.
tensor permutation(const tensor& pivots, std::int64_t rows, bool inverse) {
  const std::span<const std::int32_t> exchanged = pivots.data<std::int32_t>();
  const shape batch = detail::batch_of(pivots.dims(), 1);
  const std::int64_t count = detail::columns_of(pivots.dims());
  return tensor::build<std::int32_t>(detail::with_axes(batch, {rows}), [&](std::span<std::int32_t> all) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      for (std::size_t r = 0; r < order.size(); ++r) order[r] = static_cast<std::int32_t>(r);
      for (std::int64_t k = 0; k < count; ++k)
        std::swap(order[static_cast<std::size_t>(k)],
                  order[static_cast<std::size_t>(exchanged[static_cast<std::size_t>(i * count + k)])]);
      for (std::size_t r = 0; r < order.size(); ++r) {
        const auto to = inverse ? static_cast<std::size_t>(order[r]) : r;
        all[static_cast<std::size_t>(i * rows) + to] = inverse ? static_cast<std::int32_t>(r) : order[r];
      }
    }
  });
}
// Rows of each matrix in another order.
tensor rows_in_order(const tensor& x, const tensor& order) { return gather(x, order, -2, x.rank() - 2); }

// x u^-H for the upper triangle of u.
tensor divided_by_upper(const tensor& x, const tensor& u) {
  return detail::adjoint(detail::triangular_solution(u, detail::adjoint(x), false, false));
}
// l^-H x for the lower triangle of l, with ones on its diagonal.
tensor divided_by_lower(const tensor& l, const tensor& x) {
  return detail::triangular_solution(conj(l), x, true, true, true);
}

// The gradient of p^T a = l u. With the first k columns and rows apart, what is next to or below them depends on a
// through the triangular factors: u2 = l^-1 a2 and l2 = a2 u^-1.
tensor gradient_of_factors(const tensor& lu, const tensor& g) {
  const std::int64_t m = detail::rows_of(lu.dims()), n = detail::columns_of(lu.dims()), k = std::min(m, n);
  const tensor lu1 = block(lu, 0, k, 0, k), g1 = block(g, 0, k, 0, k);
  const tensor turned = conj(lu), l1 = tril(conj(lu1), -1) + detail::identities(lu1), u1 = triu(conj(lu1));
  tensor lower = matmul(l1, tril(g1, -1), true), upper = matmul(triu(g1), u1, false, true);
  const tensor g2 = m > n ? block(g, k, m - k, 0, n) : block(g, 0, k, k, n - k);
  if (m > n) upper = upper - matmul(block(turned, k, m - k, 0, n), g2, true);
  if (m < n) lower = lower - matmul(g2, block(turned, 0, k, k, n - k), false, true);
  const tensor first = divided_by_upper(divided_by_lower(lu1, tril(lower, -1) + triu(upper)), lu1);
  if (m > n) return concat({first, divided_by_upper(g2, lu1)}, -2);
  return m < n ? concat({first, divided_by_lower(lu1, g2)}, -1) : first;
}

struct RowFactors {
  static constexpr op_row row{.name = "LinalgRowFactors",
                              .doc = "LU factors of each matrix, with pivots from rows.",
                              .group = family::matmul,
                              .operands = matrix,
                              .infer = infer_row_factors,
                              .cost = 512,
                              .results = row_factors};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<T> lu = elements_out<T>(c, 0);
    const std::span<std::int32_t> pivots = elements_out<std::int32_t>(c, 1);
    const std::int64_t m = detail::rows_of(c.in[0].dims), n = detail::columns_of(c.in[0].dims), k = std::min(m, n);
    if (k == 0) return;
    // LAPACK factors a square matrix where the result is.
    const bool is_square = m == n;
    detail::work_array<T> apart(is_square ? 0 : kernels::product_of(m, n));
    detail::work_array<lapack::integer> exchanged(k);
    for (std::int64_t i = 0; i < detail::batch_of(c.in[0].dims).size(); ++i) {
      T* const result = lu.data() + i * m * n;
      T* const columns = is_square ? result : apart.data();
      detail::transpose_into(a.data() + i * m * n, m, n, columns);
      lapack::getrf(static_cast<lapack::integer>(m), static_cast<lapack::integer>(n), columns, exchanged.data());
      if (is_square) detail::transpose_square(result, n);
      else detail::transpose_into(columns, n, m, result);
      for (std::int64_t j = 0; j < k; ++j)
        pivots[static_cast<std::size_t>(i * k + j)] = static_cast<std::int32_t>(exchanged[j]) - 1;
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<RowFactors>;
  static constexpr auto gradient = gradient_of(wrt(keep::out0 | keep::out1, [](const auto& c) {
    const tensor back = permutation(c.out(1), detail::rows_of(c.dims(0)), true);
    return rows_in_order(gradient_of_factors(c.out(0), c.dy(0)), back);
  }));
};

lu_factors factors_of(const function& self, const tensor& x) {
  const tensor a = self.numbers("x", x);
  self.matrices("x", a);
  const auto [factors, pivots] = call<RowFactors>(a);
  return {factors, pivots};
}

}  // namespace

lu_factors lu_factor(const tensor& x) { return factors_of({"lu_factor"}, x); }

lu_parts lu(const tensor& x) {
  const function self{"lu"};
  const tensor given = self.numbers("x", x);
  self.matrices("x", given);
  const auto [scaled, unit] = detail::in_sum_units(given);
  const auto [factors, pivots] = factors_of(self, scaled);
  const std::int64_t m = detail::rows_of(factors.dims()), n = detail::columns_of(factors.dims()), k = std::min(m, n);
  const tensor order = permutation(pivots, m, true);
  return {gather(eye(m, m, 0, factors.type()), order, 0),
          tril(block(factors, 0, m, 0, k), -1) + eye(m, k, 0, factors.type()),
          detail::times_unit(triu(block(factors, 0, k, 0, n)), unit)};
}

tensor lu_solve(const lu_factors& factors, const tensor& b, const lu_solve_options& options) {
  constexpr function self{"lu_solve"};
  tensor lu = factors.lu, right = b;
  self.numbers(lu, "lu", right, "b");
  self.square("lu", lu);
  const tensor& pivots = factors.pivots;
  const std::int64_t n = detail::rows_of(lu.dims());
  if (!pivots.defined() || pivots.type() != dtype::int32 || !(pivots.dims() == detail::batch_of(lu.dims(), 1)))
    self.refuse("pivots that do not belong to " + detail::shaped("lu", lu), "the result of lu_factor");
  for (const std::int32_t at : pivots.data<std::int32_t>())
    if (at < 0 || at >= n) self.refuse("pivot " + std::to_string(at), "rows from 0 to " + std::to_string(n - 1));
  self.right_side(lu, n, right);
  const auto [columns, unit] = detail::in_sum_units(detail::as_columns(right));
  const shape batch = *broadcast(detail::batch_of(lu.dims()), detail::batch_of(columns.dims()));
  const tensor order = broadcast_to(permutation(pivots, n, options.transpose), detail::with_axes(batch, {n}));
  const auto ordered = [&](const tensor& x) {
    return rows_in_order(broadcast_to(x, detail::with_axes(batch, {n, detail::columns_of(x.dims())})), order);
  };
  if (options.transpose) {
    const tensor y = detail::triangular_solution(lu, columns, false, true);
    const tensor x = ordered(detail::triangular_solution(lu, y, true, true, true));
    return detail::like_right_side(detail::times_unit(x, unit), right);
  }
  const tensor y = detail::triangular_solution(lu, ordered(columns), true, false, true);
  return detail::like_right_side(detail::times_unit(detail::triangular_solution(lu, y, false, false), unit), right);
}

}  // namespace kerngrad::linalg
