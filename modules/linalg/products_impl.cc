// SPDX-License-Identifier: Apache-2.0
// Products of vectors, matrices and tensors.
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
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
using detail::shaped;
using sizes_of = std::vector<std::int64_t>;

namespace {

tensor given(const function& self, std::string_view operand, const tensor& x, int least) {
  if (!x.defined()) self.refuse("operand " + std::string(operand) + ", an undefined tensor", "a tensor");
  if (x.type() == dtype::text) self.refuse("operand " + std::string(operand) + " of text", "numbers");
  if (x.rank() < least) self.refuse(shaped(operand, x), "rank " + std::to_string(least) + " or more");
  return x;
}

void expect_broadcast(const function& self, const tensor& a, const tensor& b) {
  if (!broadcast(a.dims(), b.dims())) self.refuse(shaped("a", a) + " and " + shaped("b", b), "shapes that broadcast");
}

// The first matrix after the cut of the cheapest product of matrices i to j (Cormen et al. 2009, section 15.2).
std::vector<std::size_t> cheapest_cuts(const sizes_of& sizes) {
  const std::size_t n = sizes.size() - 1;
  std::vector<double> cost(kernels::product_of(n, n));
  std::vector<std::size_t> cut(cost.size());
  for (std::size_t length = 2; length <= n; ++length)
    for (std::size_t i = 0; i + length <= n; ++i) {
      const std::size_t j = i + length - 1;
      cost[i * n + j] = std::numeric_limits<double>::infinity();
      for (std::size_t k = i + 1; k <= j; ++k) {
        const double here =
            cost[i * n + k - 1] + cost[k * n + j] +
            static_cast<double>(sizes[i]) * static_cast<double>(sizes[k]) * static_cast<double>(sizes[j + 1]);
        if (here < cost[i * n + j]) cost[i * n + j] = here, cut[i * n + j] = k;
      }
    }
  return cut;
}

tensor product_of_range(std::span<const tensor> all, const std::vector<std::size_t>& cut, std::size_t i,
                        std::size_t j) {
  if (i == j) return all[i];
  const std::size_t k = cut[i * all.size() + j];
  return matmul(product_of_range(all, cut, i, k - 1), product_of_range(all, cut, k, j));
}

}  // namespace

tensor matrix_transpose(const tensor& x) {
  constexpr function self{"matrix_transpose"};
  return detail::transposed(given(self, "x", x, 2));
}

tensor diagonal(const tensor& x, std::int64_t offset) {
  constexpr function self{"diagonal"};
  return kerngrad::diagonal(given(self, "x", x, 2), offset, -2, -1);
}

tensor trace(const tensor& x, std::int64_t offset) {
  constexpr function self{"trace"};
  return sum(kerngrad::diagonal(given(self, "x", x, 2), offset, -2, -1), -1);
}

tensor outer(const tensor& a, const tensor& b) {
  constexpr function self{"outer"};
  for (const tensor* each : {&a, &b})
    if (given(self, each == &a ? "a" : "b", *each, 1).rank() != 1)
      self.refuse(shaped(each == &a ? "a" : "b", *each), "vectors");
  return outer_product(a, b);
}

tensor vecdot(const tensor& a, const tensor& b, std::int64_t axis) {
  constexpr function self{"vecdot"};
  given(self, "a", a, 1), given(self, "b", b, 1);
  if (axis >= 0 || axis < -std::min(a.rank(), b.rank()))
    self.refuse("axis " + std::to_string(axis), "an axis of both, counted from the back by numbers below 0");
  if (a.dims()[a.rank() + axis] != b.dims()[b.rank() + axis])
    self.refuse(shaped("a", a) + " and " + shaped("b", b), "vectors of one length");
  expect_broadcast(self, a, b);
  return sum(conj(a) * b, axis);
}

tensor cross(const tensor& a, const tensor& b, std::int64_t axis) {
  constexpr function self{"cross"};
  given(self, "a", a, 1), given(self, "b", b, 1);
  if (axis >= 0 || axis < -std::min(a.rank(), b.rank()))
    self.refuse("axis " + std::to_string(axis), "an axis of both, counted from the back by numbers below 0");
  return kerngrad::cross(a, b, axis);
}

tensor kron(const tensor& a, const tensor& b) { return kerngrad::kron(a, b); }

tensor tensordot(const tensor& a, const tensor& b, std::span<const std::int64_t> a_axes,
                 std::span<const std::int64_t> b_axes) {
  return kerngrad::tensordot(a, b, a_axes, b_axes);
}

tensor tensordot(const tensor& a, const tensor& b, std::int64_t count) {
  return kerngrad::tensordot(a, b, static_cast<int>(std::clamp<std::int64_t>(count, -1, max_rank + 1)));
}

tensor multi_dot(std::span<const tensor> factors) {
  constexpr function self{"multi_dot"};
  if (factors.size() < 2) self.refuse(std::to_string(factors.size()) + " factors", "two or more");
  std::vector<tensor> all;
  sizes_of sizes;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::string name = "factors[" + std::to_string(i) + "]";
    tensor x = given(self, name, factors[i], 1);
    const bool at_end = i == 0 || i + 1 == factors.size();
    if (x.rank() > 2 || (x.rank() == 1 && !at_end)) self.refuse(shaped(name, x), "matrices, at the ends vectors too");
    if (x.rank() == 1) x = expand_dims(x, i == 0 ? 0 : 1);
    if (i == 0) sizes.push_back(x.dims()[0]);
    if (sizes.back() != x.dims()[0]) self.refuse(shaped(name, factors[i]), std::to_string(sizes.back()) + " rows");
    sizes.push_back(x.dims()[1]);
    all.push_back(x);
  }
  tensor y = product_of_range(all, cheapest_cuts(sizes), 0, all.size() - 1);
  if (factors.back().rank() == 1) y = squeeze(y, {-1});
  return factors.front().rank() == 1 ? squeeze(y, {0}) : y;
}

}  // namespace kerngrad::linalg
