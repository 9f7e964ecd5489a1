// SPDX-License-Identifier: Apache-2.0
// Systems with banded matrices.
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

constexpr operand banded_system[] = {{"bands", detail::lapack_dtypes}, {"b", detail::lapack_dtypes}};
constexpr attr_spec widths[] = {
    {.name = "lower", .kind = attr_kind::integer, .doc = "diagonals below the main one", .least = 0},
    {.name = "upper", .kind = attr_kind::integer, .doc = "diagonals above it", .least = 0},
    {.name = "transpose", .kind = attr_kind::boolean, .doc = "solves a^T X = b"}};
constexpr result_spec banded_results[] = {{"x", "the solution; NaN for a singular matrix"},
                                          {"info", "0, or the number of the first zero pivot", result::int32}};

void infer_banded(inference& call) {
  const shape &bands = call.in[0].dims, &b = call.in[1].dims;
  const shape batch = detail::common_batch(call, bands, b);
  call.give(detail::with_axes(batch, {detail::rows_of(b), detail::columns_of(b)}));
  call.give(batch);
}

tensor banded_solution(const tensor& bands, const tensor& b, std::int64_t lower, std::int64_t upper, bool transpose);

struct BandedSolve {
  static constexpr op_row row{.name = "LinalgBandedSolve",
                              .doc = "The X with op(a) X = b for banded matrices a.",
                              .group = family::matmul,
                              .operands = banded_system,
                              .attrs = widths,
                              .infer = infer_banded,
                              .cost = 512,
                              .results = banded_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> bands = elements_in<T>(c, 0), b = elements_in<T>(c, 1);
    const std::span<T> x = elements_out<T>(c, 0);
    const std::span<std::int32_t> info = elements_out<std::int32_t>(c, 1);
    const std::int64_t lower = c.call.attrs[0].as_integer(), upper = c.call.attrs[1].as_integer();
    const std::int64_t n = detail::rows_of(c.in[1].dims), k = detail::columns_of(c.in[1].dims);
    const std::int64_t rows = lower + upper + 1, rows_with_fill = rows + lower;
    const shape batch = detail::batch_of(c.out[0].dims), batch_a = detail::batch_of(c.in[0].dims),
                batch_b = detail::batch_of(c.in[1].dims);
    detail::work_array<T> matrix(kernels::product_of(rows_with_fill, n)), right(kernels::product_of(n, k));
    detail::work_array<lapack::integer> pivots(n);
    const lapack::band shape_of{static_cast<lapack::integer>(n), static_cast<lapack::integer>(lower),
                                static_cast<lapack::integer>(upper)};
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      info[static_cast<std::size_t>(i)] = 0;
      if (n == 0) continue;
      const T* const from = bands.data() + detail::matrix_at(batch_a, batch, i) * rows * n;
      const T* const from_b = b.data() + detail::matrix_at(batch_b, batch, i) * n * k;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t r = 0; r < rows; ++r) matrix[j * rows_with_fill + lower + r] = from[r * n + j];
      for (std::int64_t r = 0; r < n; ++r)
        for (std::int64_t j = 0; j < k; ++j) right[j * n + r] = from_b[r * k + j];
      const lapack::integer failed = lapack::gbtrf(shape_of, matrix.data(), pivots.data());
      info[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(failed);
      if (failed == 0)
        lapack::gbtrs(c.call.attrs[2].as_bool() ? 'T' : 'N', shape_of, static_cast<lapack::integer>(k), matrix.data(),
                      pivots.data(), right.data());
      else detail::fill_with_nan(right.span());
      for (std::int64_t r = 0; r < n; ++r)
        for (std::int64_t j = 0; j < k; ++j) x[static_cast<std::size_t>((i * n + r) * k + j)] = right[j * n + r];
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<BandedSolve>;

  template <class C>
  static tensor of_b(const C& c) {
    return c.template once<0>([&] {
      return banded_solution(conj(c.in(0)), c.dy(0), c.template attr<"lower">().as_integer(),
                             c.template attr<"upper">().as_integer(), !c.template attr<"transpose">().as_bool());
    });
  }
  // Giles 2008, section 2.2.3: -g x^T on the bands. Row r of the bands has elements (j + r - upper, j).
  template <class C>
  static tensor of_bands(const C& c) {
    const bool transpose = c.template attr<"transpose">().as_bool();
    const std::int64_t lower = c.template attr<"lower">().as_integer(), upper = c.template attr<"upper">().as_integer();
    const tensor g = of_b(c), x = conj(c.out(0)), &rows = transpose ? x : g, &columns = transpose ? g : x;
    const std::int64_t n = detail::rows_of(rows.dims()), k = detail::columns_of(rows.dims());
    const shape batch = detail::batch_of(rows.dims());
    const tensor padded = concat({zeros(detail::with_axes(batch, {upper, k}), rows.type()), rows,
                                  zeros(detail::with_axes(batch, {lower, k}), rows.type())},
                                 -2);
    std::vector<tensor> bands;
    for (std::int64_t r = 0; r <= lower + upper; ++r)
      bands.push_back(expand_dims(sum(padded(ellipsis, range(r, r + n), all) * columns, -1), -2));
    return c.reduced(0, -concat(bands, -2));
  }
  static constexpr auto gradient =
      gradient_of(wrt(keep::in0 | keep::out0, [](const auto& c) { return of_bands(c); }),
                  wrt(keep::in0 | keep::out0, [](const auto& c) { return c.reduced(1, of_b(c)); }));
};

tensor banded_solution(const tensor& bands, const tensor& b, std::int64_t lower, std::int64_t upper, bool transpose) {
  return call<BandedSolve>(bands, b, attr<"lower">(lower), attr<"upper">(upper), attr<"transpose">(transpose))[0];
}

}  // namespace

tensor solve_banded(const bandwidths& widths, const tensor& bands, const tensor& b, const check_options& options) {
  constexpr function self{"solve_banded"};
  tensor matrices = bands, right = b;
  self.numbers(matrices, "bands", right, "b");
  self.matrices("bands", matrices);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 4;
  if (widths.lower < 0 || widths.upper < 0 || widths.lower > most || widths.upper > most)
    self.refuse(std::to_string(widths.lower) + " diagonals below and " + std::to_string(widths.upper) + " above",
                "numbers from 0 to " + std::to_string(most));
  if (detail::rows_of(matrices.dims()) != widths.lower + widths.upper + 1)
    self.refuse(detail::shaped("bands", matrices), std::to_string(widths.lower + widths.upper + 1) +
                                                       " rows: the diagonals from the highest to the lowest");
  self.right_side(matrices, detail::columns_of(matrices.dims()), right);
  const auto [columns, unit] = detail::in_sum_units(detail::as_columns(right));
  const auto [x, info] = call<BandedSolve>(matrices, columns, attr<"lower">(widths.lower), attr<"upper">(widths.upper),
                                           attr<"transpose">(false));
  if (options.check)
    self.passed(info, "a singular matrix", "is zero", "a matrix with an inverse", "pass {.check = false} for NaN");
  return detail::like_right_side(detail::times_unit(x, unit), right);
}

}  // namespace kerngrad::linalg
