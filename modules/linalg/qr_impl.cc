// SPDX-License-Identifier: Apache-2.0
// QR factors. A row-major matrix is its transpose for LAPACK, so its QR factors are the LQ factors there.
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

namespace {

constexpr operand matrix[] = {{"a", detail::lapack_dtypes}};
constexpr attr_spec completions[] = {
    {.name = "complete", .kind = attr_kind::boolean, .doc = "a square q, and as many rows of r"}};
constexpr result_spec qr_results[] = {{"q", "orthonormal columns"}, {"r", "zeros below the diagonal"}};

void infer_qr(inference& call) {
  const shape &a = call.in[0].dims, batch = detail::batch_of(a);
  const std::int64_t m = detail::rows_of(a), n = detail::columns_of(a);
  const std::int64_t inner = call.attrs[0].as_bool() ? m : std::min(m, n);
  call.give(detail::with_axes(batch, {m, inner}));
  call.give(detail::with_axes(batch, {inner, n}));
}

// The first `columns` columns of each matrix, or those after them.
tensor first_columns(const tensor& x, std::int64_t columns) { return x(ellipsis, range(0, columns)); }
tensor other_columns(const tensor& x, std::int64_t columns) { return x(ellipsis, range(columns, end)); }

// Walter and Lehmann 2018 for at least as many rows as columns: (dq + q S) r^-H, where S is the Hermitian matrix with
// the lower triangle of r dr^H - dq^H q and the real part of its diagonal, because the diagonal of r is real.
tensor gradient_of_tall(const tensor& q, const tensor& r, const tensor& dq, const tensor& dr) {
  const tensor m = matmul(r, conj(dr), false, true) - matmul(conj(dq), q, true);
  const tensor half = (tril(m) + tril(m, -1)) * 0.5;
  const tensor left = dq + matmul(q, half + detail::adjoint(half));
  return detail::adjoint(detail::triangular_solution(r, detail::adjoint(left), false, false));
}

struct Qr {
  static constexpr op_row row{.name = "LinalgQr",
                              .doc = "Orthonormal columns times an upper triangular matrix.",
                              .group = family::matmul,
                              .operands = matrix,
                              .attrs = completions,
                              .infer = infer_qr,
                              .cost = 512,
                              .results = qr_results};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> a = elements_in<T>(c, 0);
    const std::span<T> q = elements_out<T>(c, 0), r = elements_out<T>(c, 1);
    const std::int64_t m = detail::rows_of(c.in[0].dims), n = detail::columns_of(c.in[0].dims), k = std::min(m, n);
    const std::int64_t inner = detail::columns_of(c.out[0].dims);
    if (m == 0) return;
    detail::work_array<T> reflectors(kernels::product_of(m, n)), tau(k);
    detail::workspace<T> work;
    const auto rows = static_cast<lapack::integer>(n), columns = static_cast<lapack::integer>(m);
    for (std::int64_t i = 0; i < detail::batch_of(c.in[0].dims).size(); ++i) {
      std::copy_n(a.data() + i * m * n, m * n, reflectors.data());
      if (k > 0) lapack::gelqf(rows, columns, reflectors.data(), tau.data(), work);
      T *const to_q = q.data() + i * m * inner, *const to_r = r.data() + i * inner * n;
      for (std::int64_t j = 0; j < inner; ++j)
        for (std::int64_t l = 0; l < n; ++l) to_r[j * n + l] = j <= l && j < k ? reflectors[j * n + l] : T(0);
      for (std::int64_t j = 0; j < m; ++j)
        for (std::int64_t l = 0; l < inner; ++l) to_q[j * inner + l] = l < k ? reflectors[j * n + l] : T(0);
      if (inner > 0)
        lapack::orglq(static_cast<lapack::integer>(inner), columns, static_cast<lapack::integer>(k), to_q, tau.data(),
                      work);
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Qr>;
  static constexpr auto gradient = gradient_of(wrt(keep::in0 | keep::out0 | keep::out1, [](const auto& c) {
    const std::int64_t m = detail::rows_of(c.dims(0)), n = detail::columns_of(c.dims(0));
    if (m > n && c.template attr<"complete">().as_bool())
      fail("kg::linalg::qr", "the gradient of a complete q of a matrix " + to_string(c.dims(0)),
           "at most as many rows as columns", "its further columns are not determined: use qr_mode::reduced");
    if (m >= n) return gradient_of_tall(c.out(0), c.out(1), c.dy(0), c.dy(1));
    // The columns after the square part are q times theirs in r.
    const tensor beyond = other_columns(c.dy(1), m);
    const tensor dq = c.dy(0) + matmul(other_columns(c.in(0), m), conj(beyond), false, true);
    const tensor square = gradient_of_tall(c.out(0), first_columns(c.out(1), m), dq, first_columns(c.dy(1), m));
    return concat({square, matmul(c.out(0), beyond)}, -1);
  }));
};

}  // namespace

qr_parts qr(const tensor& x, qr_mode mode) {
  constexpr function self{"qr"};
  const tensor given = self.numbers("x", x);
  self.matrices("x", given);
  const auto [a, unit] = detail::in_sum_units(given);  // LAPACK scales columns, but no sums of their products
  const auto [q, r] = call<Qr>(a, attr<"complete">(mode == qr_mode::complete));
  return {mode == qr_mode::r ? tensor() : q, detail::times_unit(r, unit)};
}

}  // namespace kerngrad::linalg
