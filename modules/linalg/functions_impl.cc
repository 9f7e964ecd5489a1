// SPDX-License-Identifier: Apache-2.0
// Square roots and logarithms of matrices, polar factors and products of reflectors: functions of other functions.
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
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg {

using detail::function;

namespace {

tensor inverse_of(const tensor& a) { return detail::factored_solution(a, detail::factored(a), detail::identities(a)); }
// The largest element of each matrix in absolute value, with axes of size 1.
tensor largest_of(const tensor& x) { return max(abs(stop_gradient(x)), {-2, -1}, true); }
double rounding_of(const tensor& x) {
  return static_cast<double>(detail::columns_of(x.dims())) * detail::rounding_of(x.type());
}

struct root_and_info {
  tensor root, info;  // info is 1 where there is none
};

// The product form of the iteration of Denman and Beavers, scaled by determinants (Higham 2008, equation 6.29): m goes
// to the identity and x to the root. Derivatives converge with the values, one step later.
root_and_info square_root(const tensor& a) {
  constexpr int most_steps = 60;
  const double enough = 16 * rounding_of(a), n = static_cast<double>(detail::columns_of(a.dims()));
  const tensor one = detail::identities(a);
  tensor m = a, x = a, off;
  bool near = false;
  for (int step = 0; step < most_steps; ++step) {
    const tensor inverse = inverse_of(m);
    off = largest_of(m - one);
    const tensor logarithm = expand_dims(expand_dims(slogdet(stop_gradient(m)).logabsdet, -1), -1);
    const tensor scale = where(off > 0.01, exp(logarithm / (-2 * n)), ones_like(off)), squared = square(scale);
    x = matmul(x, one + inverse / squared) * scale * 0.5;
    m = (one + (m * squared + inverse / squared) * 0.5) * 0.5;
    if (near) break;
    near = !any(off > enough).item<bool>();
  }
  const tensor last = squeeze(largest_of(m - one), {-2, -1});
  return {x, cast(logical_not(last <= enough), dtype::int32)};
}

void expect_root(const function& self, const tensor& a, const tensor& info) {
  const tensor unknown = any(any(stop_gradient(a) != stop_gradient(a), -1), -1);  // NaN gives NaN
  self.passed(cast(logical_and(info != 0, logical_not(unknown)), dtype::int32),
              "a matrix without a principal square root", "is not found",
              "matrices without eigenvalues at or below zero", "pass {.check = false} for NaN");
}

tensor nan_where(const tensor& info, const tensor& x) {
  return where(expand_dims(expand_dims(info, -1), -1) != 0, full_like(x, std::numeric_limits<double>::quiet_NaN()), x);
}

// Nodes and weights of Gauss and Legendre's rule on [0, 1], 7 of them.
constexpr double nodes[] = {0.025446043828620738, 0.12923440720030278, 0.2970774243113014, 0.5,
                            0.7029225756886985,   0.8707655927996972,  0.9745539561713793};
constexpr double weights[] = {0.06474248308443485, 0.13985269574463833, 0.19091502525255946, 0.20897959183673469,
                              0.19091502525255946, 0.13985269574463833, 0.06474248308443485};

}  // namespace

tensor sqrtm(const tensor& x, const check_options& options) {
  constexpr function self{"sqrtm"};
  const tensor a = self.numbers("x", x);
  self.square("x", a);
  if (a.dims().size() == 0) return a;
  const auto [root, info] = square_root(a);
  if (options.check) expect_root(self, a, info);
  return nan_where(info, root);
}

tensor logm(const tensor& x, const check_options& options) {
  constexpr function self{"logm"};
  constexpr int most_roots = 64;
  const tensor a = self.numbers("x", x);
  self.square("x", a);
  if (a.dims().size() == 0) return a;
  const tensor one = detail::identities(a);
  // Roots of each matrix until it is near to the identity; the logarithm doubles as often.
  tensor root = a, factor = ones_like(largest_of(a)), info;
  for (int step = 0; step < most_roots; ++step) {
    const tensor far = sum(abs(stop_gradient(root) - one), {-2, -1}, true) > 0.25;
    if (!any(far).item<bool>()) break;
    const auto [next, failed] = square_root(where(far, root, one));
    if (options.check) expect_root(self, a, failed);
    info = info.defined() ? maximum(info, failed) : failed;
    root = where(far, next, root), factor = where(far, factor * 2, factor);
  }
  // log(1 + r) is the integral of r / (1 + t r) over t from 0 to 1; the rule is its Pade approximant (Dieci, Morini and
  // Papini 1996).
  const tensor rest = root - one;
  tensor y = zeros_like(a);
  for (std::size_t j = 0; j < std::size(nodes); ++j) {
    const tensor divisor = one + rest * nodes[j];
    y = y + detail::factored_solution(divisor, detail::factored(divisor), rest) * weights[j];
  }
  y = y * factor;
  return info.defined() ? nan_where(info, y) : y;
}

polar_parts polar(const tensor& x) {
  constexpr function self{"polar"};
  const tensor given = self.numbers("x", x);
  self.matrices("x", given);
  const auto [a, unit] = detail::in_sum_units(given);
  const auto [u, s, vh] = svd(a);
  const tensor p = matmul(detail::adjoint(vh) * expand_dims(s, -2), vh);
  return {matmul(u, vh), detail::times_unit(p, unit)};
}

tensor householder_product(const tensor& reflectors, const tensor& tau) {
  constexpr function self{"householder_product"};
  tensor v = reflectors, factors = tau;
  self.numbers(v, "reflectors", factors, "tau");
  self.matrices("reflectors", v);
  const std::int64_t m = detail::rows_of(v.dims()), n = detail::columns_of(v.dims());
  const shape batch = detail::batch_of(v.dims());
  if (m < n) self.refuse(detail::shaped("reflectors", v), "at least as many rows as columns");
  if (factors.rank() != v.rank() - 1 || !(detail::batch_of(factors.dims(), 1) == batch) ||
      detail::columns_of(factors.dims()) > n)
    self.refuse(detail::shaped("tau", factors) + " for " + detail::shaped("reflectors", v),
                "a factor for each column or for the first ones");
  const tensor below = tril(v, -1) + eye(m, n, 0, v.type());
  tensor q = broadcast_to(eye(m, n, 0, v.type()), v.dims());
  for (std::int64_t i = detail::columns_of(factors.dims()); i-- > 0;) {
    const tensor column = below(ellipsis, all, range(i, i + 1)), factor = factors(ellipsis, range(i, i + 1));
    q = q - matmul(column * expand_dims(factor, -1), matmul(conj(column), q, true));
  }
  return q;
}

}  // namespace kerngrad::linalg
