// SPDX-License-Identifier: Apache-2.0
// Determinants by LU factors, and their derivatives for singular matrices.
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg {

using detail::column_factors;
using detail::function;

namespace {

constexpr operand factored_matrix[] = {
    {"a", detail::lapack_dtypes}, {"lu", detail::lapack_dtypes}, {"pivots", only(dtype::int32), role::own}};
constexpr operand real_matrix[] = {{"a", wide_floats}};
constexpr result_spec slogdet_results[] = {{"sign", "det / abs(det), or 0"},
                                           {"logabsdet", "log(abs(det))", result::ruled}};

void infer_determinant(inference& call) { call.give(detail::batch_of(call.in[0].dims)); }
void infer_slogdet(inference& call) {
  infer_determinant(call);
  call.give(detail::batch_of(call.in[0].dims), detail::part_type(call.compute));
}

// Products are of double precision.
template <class T>
using wide = std::conditional_t<detail::is_complex<T>, std::complex<double>, double>;

// A pivot over its absolute value; 0 and NaN as they are.
double sign_of(double pivot) { return pivot > 0 ? 1 : pivot < 0 ? -1 : pivot; }
std::complex<double> sign_of(std::complex<double> pivot) {
  const double size = std::abs(pivot);
  return size == 0 ? pivot : pivot / size;
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

inline tensor inverse_transposed(const tensor& a, const column_factors& by) {
  return detail::factored_solution(a, by, detail::identities(a), true);
}
inline tensor on_matrices(const tensor& of_stack) { return expand_dims(expand_dims(of_stack, -1), -1); }

// ------------------------------------------------------------------------------------------ cofactors

constexpr operand singular_values[] = {{"a", detail::lapack_dtypes}, {"s", detail::lapack_dtypes}};

void infer_pairs(inference& call) { call.give(call.in[0].dims); }

// Element (i, j) is the product of the singular values without the i-th and the j-th, by products from both ends.
struct PairProducts {
  static constexpr op_row row{.name = "LinalgPairProducts",
                              .doc = "Products of all singular values of a but two; 0 on the diagonal.",
                              .group = family::matmul,
                              .operands = singular_values,
                              .infer = infer_pairs,
                              .no_gradient = "det has no third derivative at a singular matrix here",
                              .cost = 512};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> s = elements_in<T>(c, 1);
    const std::span<T> y = elements_out<T>(c);
    const std::int64_t n = detail::rows_of(c.in[0].dims), rows = n == 0 ? 0 : std::ssize(y) / n;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t i = row % n;
      const T* const values = s.data() + row / n * n;
      T* const to = y.data() + row * n;
      T before = 1, after = 1;
      for (std::int64_t j = 0; j < n; ++j) to[j] = before, before *= j == i ? T(1) : values[j];
      for (std::int64_t j = n; j-- > 0;) to[j] *= after, after *= j == i ? T(1) : values[j];
      to[i] = 0;
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<PairProducts>;
};

constexpr operand decomposed[] = {{"a", detail::lapack_dtypes},
                                  {"u", detail::lapack_dtypes},
                                  {"s", detail::lapack_dtypes},
                                  {"vh", detail::lapack_dtypes}};

// The determinant of u vh is a sign. Factors u and v make the conjugate cofactors of a, over the conjugate sign, those
// of diag(s), turned.
struct Cofactors {
  static constexpr op_row row{.name = "LinalgCofactors",
                              .doc = "The conjugate cofactors of a by its singular values and vectors.",
                              .group = family::matmul,
                              .operands = decomposed,
                              .infer = infer_pairs,
                              .cost = 512};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> u = elements_in<T>(c, 1), s = elements_in<T>(c, 2), vh = elements_in<T>(c, 3);
    const std::span<T> y = elements_out<T>(c);
    const std::int64_t n = detail::rows_of(c.in[0].dims), count = n == 0 ? 0 : std::ssize(y) / (n * n);
    const auto size = static_cast<lapack::integer>(n);
    detail::work_array<T> scaled(kernels::product_of(n, n)), others(n);
    for (std::int64_t i = 0; i < count; ++i) {
      T before = 1, after = 1;
      for (std::int64_t j = 0; j < n; ++j) others[j] = before, before *= s[static_cast<std::size_t>(i * n + j)];
      for (std::int64_t j = n; j-- > 0;) others[j] *= after, after *= s[static_cast<std::size_t>(i * n + j)];
      const T* const left = u.data() + i * n * n;
      for (std::int64_t r = 0; r < n; ++r)
        for (std::int64_t k = 0; k < n; ++k) scaled[r * n + k] = left[r * n + k] * others[k];
      lapack::gemm('N', 'N', size, size, size, vh.data() + i * n * n, size, scaled.data(), size, y.data() + i * n * n,
                   size);
    }
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Cofactors>;

  // For diag(s) the derivative of cofactor (i, i) by element (j, j), and less that of (i, j) by (j, i), is the product
  // of the other singular values; all others are zero.
  static constexpr auto gradient = gradient_of(
      wrt(keep::in0 | keep::in1 | keep::in2 | keep::in3,
          [](const auto& c) {
            const tensor &u = c.in(1), &vh = c.in(3);
            const tensor products = call<PairProducts>(c.in(0), c.in(2));
            const tensor turned = conj(matmul(matmul(conj(u), c.dy(), true), conj(vh), false, true));
            const tensor own = expand_dims(kerngrad::diagonal(turned, 0, -2, -1), -1);
            const tensor middle = detail::identities(u) * matmul(products, own) - products * detail::transposed(turned);
            return matmul(matmul(u, middle), vh);
          }),
      constant_operand(), constant_operand(), constant_operand());
};

// The conjugate cofactors of matrices without an inverse.
tensor cofactors(const tensor& a) {
  const auto [u, s, vh] = svd(stop_gradient(a), {.check = false});
  return call<Cofactors>(a, u, s, vh) * on_matrices(conj(slogdet(u).sign * slogdet(vh).sign));
}

// Matrices whose least pivot is 0 to rounding, relative to the largest: the inverse has no right digit there.
tensor are_singular(const tensor& lu) {
  if (lu.size() == 0) return zeros(detail::batch_of(lu.dims()), dtype::boolean);
  const tensor pivots = abs(kerngrad::diagonal(lu, 0, -2, -1));
  return min(pivots, -1) <= max(pivots, -1) * (detail::rounding_of(lu.type()) * 1024);
}

// dy times the conjugate cofactors of a: by the factors, and for singular matrices by singular values. The factors of
// these are those of the identity instead, so that nothing is NaN.
tensor gradient_of_determinant(const tensor& a, const column_factors& by, const tensor& det, const tensor& dy) {
  const tensor singular = on_matrices(are_singular(by.lu));
  if (singular.size() == 0 || !any(singular).item<bool>())
    return on_matrices(dy * conj(det)) * conj(inverse_transposed(a, by));
  const tensor regular = where(singular, detail::identities(a), a);
  const tensor by_factors = on_matrices(dy * conj(det)) * conj(inverse_transposed(regular, detail::factored(regular)));
  return where(singular, on_matrices(dy) * cofactors(a), by_factors);
}

// ------------------------------------------------------------------------------------------ determinants

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
    const std::span<T> sign = elements_out<T>(c, 0);
    const std::span<detail::part_of<T>> logarithm = elements_out<detail::part_of<T>>(c, 1);
    each_factored<T>(c, [&](std::size_t i, const T* lu, double exchanges, std::size_t n) {
      double sum = 0;
      wide<T> product = exchanges;
      for (std::size_t k = 0; k < n; ++k) {
        const auto pivot = static_cast<wide<T>>(lu[k * n + k]);
        sum += std::log(std::abs(pivot));
        product *= sign_of(pivot);
      }
      sign[i] = static_cast<T>(product), logarithm[i] = static_cast<detail::part_of<T>>(sum);
    });
  }
  static constexpr auto kernels = detail::kernels_for_numbers<LogDeterminant>;
  static constexpr auto gradient = gradient_of(
      wrt(keep::in0 | keep::in1 | keep::in2 | keep::out0,
          [](const auto& c) {
            const tensor inverse = inverse_transposed(c.in(0), {c.in(1), c.in(2), {}});
            if (!complex_only.has(c.type(0))) return on_matrices(c.dy(1)) * inverse;
            const tensor turn = imag(c.dy(0) * conj(c.out(0)));  // the derivative by the determinant's angle
            return on_matrices(complex(c.dy(1), turn)) * conj(inverse);
          }),
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
    each_factored<T>(c, [&](std::size_t i, const T* lu, double exchanges, std::size_t n) {
      const auto rows = static_cast<std::int64_t>(n);
      y[i] = static_cast<T>(lanes::product_of_pivots<wide<T>>(lu, rows, rows + 1) * exchanges);
    });
  }
  static constexpr auto kernels = detail::kernels_for_numbers<Determinant>;
  static constexpr auto gradient = gradient_of(
      wrt(keep::in0 | keep::in1 | keep::in2 | keep::out0,
          [](const auto& c) { return gradient_of_determinant(c.in(0), {c.in(1), c.in(2), {}}, c.out(), c.dy()); }),
      constant_operand(), constant_operand());
};

// Stacks of small matrices alone. The forward pass writes no factors, so the rule computes them.
struct SmallDeterminant {
  static constexpr op_row row{.name = "LinalgSmallDeterminant",
                              .doc = "Determinants of small matrices by elimination.",
                              .group = family::matmul,
                              .operands = real_matrix,
                              .infer = infer_determinant,
                              .cost = 512};
  template <class T>
  static void run(const launch_call& c) {
    const std::span<T> y = elements_out<T>(c);
    lanes::determinant(elements_in<T>(c, 0).data(), y.data(), {std::ssize(y), detail::rows_of(c.in[0].dims)});
  }
  static constexpr auto kernels = detail::kernels_for_floats<SmallDeterminant>;
  static constexpr auto gradient = gradient_of(wrt(keep::in0 | keep::out0, [](const auto& c) {
    return gradient_of_determinant(c.in(0), detail::factored(c.in(0)), c.out(), c.dy());
  }));
};

}  // namespace

tensor det(const tensor& x) {
  constexpr function self{"det"};
  const tensor a = self.numbers("x", x);
  self.square("x", a);
  if (detail::is_small(a)) return call<SmallDeterminant>(a);
  const column_factors by = detail::factored(a);
  return call<Determinant>(a, by.lu, by.pivots);
}

slogdet_parts slogdet(const tensor& x) {
  constexpr function self{"slogdet"};
  const tensor given = self.numbers("x", x);
  self.square("x", given);
  const auto [a, unit] = detail::in_sum_units(given);
  const column_factors by = detail::factored(a);
  const auto [sign, logabsdet] = call<LogDeterminant>(a, by.lu, by.pivots);
  if (!unit.defined()) return {sign, logabsdet};
  const auto rows = static_cast<double>(detail::rows_of(a.dims()));
  return {sign, logabsdet + squeeze(log(unit), {-2, -1}) * rows};
}

}  // namespace kerngrad::linalg
