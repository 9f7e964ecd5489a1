// SPDX-License-Identifier: Apache-2.0
// Products of vectors, matrices and tensors.
module;
#include <algorithm>
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

// Axes of x counted from the front, each once.
sizes_of counted(const function& self, std::string_view operand, const tensor& x, std::span<const std::int64_t> axes) {
  sizes_of all;
  for (const std::int64_t axis : axes) {
    const std::int64_t at = axis < 0 ? axis + x.rank() : axis;
    if (at < 0 || at >= x.rank())
      self.refuse("axis " + std::to_string(axis) + " of " + shaped(operand, x), "one of its axes");
    if (std::ranges::find(all, at) != all.end())
      self.refuse("axis " + std::to_string(axis) + " of operand " + std::string(operand) + " twice", "distinct axes");
    all.push_back(at);
  }
  return all;
}

// x as a matrix whose rows are the other axes, in their order, and whose columns are `summed`; the sizes of the others
// are added to `sizes`.
tensor as_matrix(const tensor& x, const sizes_of& summed, sizes_of& sizes) {
  sizes_of order;
  std::int64_t rows = 1, columns = 1;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    if (std::ranges::find(summed, axis) != summed.end()) continue;
    order.push_back(axis), sizes.push_back(x.dims()[axis]);
    rows = kernels::product_of(rows, x.dims()[axis]);
  }
  for (const std::int64_t axis : summed) order.push_back(axis), columns = kernels::product_of(columns, x.dims()[axis]);
  return reshape(x.rank() > 1 ? transpose(x, order) : x, {rows, columns});
}

// The first matrix behind the cut of the cheapest product of matrices i to j (Cormen et al. 2009, section 15.2).
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
  return sum(a * b, axis);
}

tensor cross(const tensor& a, const tensor& b, std::int64_t axis) {
  constexpr function self{"cross"};
  given(self, "a", a, 1), given(self, "b", b, 1);
  if (axis >= 0 || axis < -std::min(a.rank(), b.rank()))
    self.refuse("axis " + std::to_string(axis), "an axis of both, counted from the back by numbers below 0");
  for (const tensor* each : {&a, &b})
    if (each->dims()[each->rank() + axis] != 3)
      self.refuse(shaped("a", a) + " and " + shaped("b", b), "vectors of 3 elements");
  expect_broadcast(self, a, b);
  return roll(a, -1, axis) * roll(b, -2, axis) - roll(a, -2, axis) * roll(b, -1, axis);
}

tensor kron(const tensor& a, const tensor& b) {
  constexpr function self{"kron"};
  given(self, "a", a, 0), given(self, "b", b, 0);
  const int rank = std::max(a.rank(), b.rank());
  // Axes of size 1 in front of the one with fewer, then each axis of a beside its axis of b.
  sizes_of of_a, of_b, of_both;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t size_a = i < rank - a.rank() ? 1 : a.dims()[i - (rank - a.rank())];
    const std::int64_t size_b = i < rank - b.rank() ? 1 : b.dims()[i - (rank - b.rank())];
    of_a.insert(of_a.end(), {size_a, 1}), of_b.insert(of_b.end(), {1, size_b});
    of_both.push_back(kernels::product_of(size_a, size_b));
  }
  if (of_a.size() > static_cast<std::size_t>(max_rank))
    self.refuse(shaped("a", a) + " and " + shaped("b", b), "rank " + std::to_string(max_rank / 2) + " or less");
  return reshape(reshape(a, shape(of_a)) * reshape(b, shape(of_b)), shape(of_both));
}

tensor tensordot(const tensor& a, const tensor& b, std::span<const std::int64_t> a_axes,
                 std::span<const std::int64_t> b_axes) {
  constexpr function self{"tensordot"};
  given(self, "a", a, 0), given(self, "b", b, 0);
  if (a_axes.size() != b_axes.size())
    self.refuse(std::to_string(a_axes.size()) + " axes of a and " + std::to_string(b_axes.size()) + " of b",
                "as many of both");
  const sizes_of left = counted(self, "a", a, a_axes), right = counted(self, "b", b, b_axes);
  for (std::size_t i = 0; i < left.size(); ++i)
    if (a.dims()[left[i]] != b.dims()[right[i]])
      self.refuse(shaped("a", a) + " and " + shaped("b", b) + " along axes " + std::to_string(left[i]) + " and " +
                      std::to_string(right[i]),
                  "equal sizes of the axes that are summed");
  sizes_of sizes;
  const tensor rows = as_matrix(a, left, sizes), columns = as_matrix(b, right, sizes);
  if (sizes.size() > static_cast<std::size_t>(max_rank))
    self.refuse("a result of rank " + std::to_string(sizes.size()), "at most " + std::to_string(max_rank) + " axes");
  return reshape(matmul(rows, columns, false, true), shape(sizes));
}

tensor tensordot(const tensor& a, const tensor& b, std::int64_t count) {
  constexpr function self{"tensordot"};
  given(self, "a", a, 0), given(self, "b", b, 0);
  if (count < 0 || count > std::min(a.rank(), b.rank()))
    self.refuse(std::to_string(count) + " axes of " + shaped("a", a) + " and " + shaped("b", b), "axes that both have");
  sizes_of last(static_cast<std::size_t>(count)), first(last.size());
  std::iota(last.begin(), last.end(), a.rank() - count);
  std::iota(first.begin(), first.end(), std::int64_t{0});
  return tensordot(a, b, last, first);
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
