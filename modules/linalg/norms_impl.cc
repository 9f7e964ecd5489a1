// SPDX-License-Identifier: Apache-2.0
// Norms, condition numbers, powers and exponentials: functions of other functions.
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

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string spelt(const norm_order& order) {
  return order.name().empty() ? to_string(attr_value(order.number())) : "\"" + std::string(order.name()) + "\"";
}

// Vectors along the last axis, in place of those along `over`, and the shape of a norm that keeps its axes.
struct in_last_axis {
  tensor x;
  shape kept;
};
in_last_axis moved(const function& self, const tensor& x, const axes& over) {
  std::vector<std::int64_t> others, reduced, kept(x.dims().begin(), x.dims().end());
  const attr_value& given = over.value();
  std::vector<bool> is_reduced(kept.size(), !given.given());
  std::vector<std::int64_t> named;
  if (given.kind() == attr_kind::integer) named.push_back(given.as_integer());
  else if (given.given()) named.assign(given.as_list().begin(), given.as_list().end());
  for (const std::int64_t axis : named) {
    const std::int64_t rank = x.rank();
    if (axis < -rank || axis >= rank)
      self.refuse("axis " + std::to_string(axis),
                  "an axis from " + std::to_string(-rank) + " to " + std::to_string(rank - 1));
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    if (is_reduced[at]) self.refuse("axis " + std::to_string(axis) + " twice", "distinct axes");
    is_reduced[at] = true;
  }
  std::int64_t count = 1;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    (is_reduced[i] ? reduced : others).push_back(static_cast<std::int64_t>(i));
    if (is_reduced[i]) count *= kept[i], kept[i] = 1;
    else sizes.push_back(kept[i]);
  }
  others.insert(others.end(), reduced.begin(), reduced.end());
  sizes.push_back(count);
  const tensor in_order = others.size() > 1 ? transpose(x, others) : x;
  return {reshape(in_order, shape(sizes)), shape(kept)};
}

tensor norm_of_vectors(const function& self, const tensor& x, const norm_order& order) {
  if (!order.name().empty()) self.refuse("order " + spelt(order), "a number");
  const double p = order.number();
  if (std::isnan(p)) self.refuse("order nan", "a number");
  if (p == 0) return sum(cast(x != 0, detail::part_type(x.type())), -1);
  if (p == 1 || p == 2 || std::isinf(p)) return norm(x, p, -1);
  // Powers of numbers up to 1 stay in range; of nothing and of zeros the largest counts as 1.
  const tensor sizes = abs(x),
               largest = max(concat({stop_gradient(sizes), zeros_like(sizes(ellipsis, range(0, 1)))}, -1), -1, true);
  const tensor scale = where(logical_and(largest > 0, largest < infinity), largest, ones_like(largest));
  return pow(sum(pow(sizes / scale, p), -1), 1 / p) * squeeze(scale, {-1});
}

tensor largest_sum(const tensor& x, std::int64_t summed, bool least) {
  const tensor sums = sum(abs(x), summed);
  return least ? min(sums, -1) : max(sums, -1);
}

tensor norm_of_matrices(const function& self, const tensor& x, const norm_order& order) {
  if (order.name() == "fro") return norm(x, "fro", {-2, -1});
  if (order.name() == "nuc") return sum(svdvals(x), -1);
  const double p = order.name().empty() ? order.number() : 0;
  if (p == 2) return max(svdvals(x), -1);
  if (p == -2) return min(svdvals(x), -1);
  if (std::fabs(p) == 1) return largest_sum(x, -2, p < 0);
  if (std::isinf(p)) return largest_sum(x, -1, p < 0);
  self.refuse("order " + spelt(order), "\"fro\", \"nuc\", 1, -1, 2, -2, infinity or -infinity");
}

// The order at which the Pade approximant of degree 13, or 7 in float32, has the accuracy of the dtype (Higham 2005,
// table 2.3), and its coefficients.
constexpr double most_of_13 = 5.371920351148152, most_of_7 = 3.925724783138660;
constexpr double pade_13[] = {64764752532480000,
                              32382376266240000,
                              7771770303897600,
                              1187353796428800,
                              129060195264000,
                              10559470521600,
                              670442572800,
                              33522128640,
                              1323241920,
                              40840800,
                              960960,
                              16380,
                              182,
                              1};
constexpr double pade_7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};

}  // namespace

tensor vector_norm(const tensor& x, const vector_norm_options& options) {
  constexpr function self{"vector_norm"};
  const auto [vectors, kept] = moved(self, self.numbers("x", x), options.over);
  const tensor y = norm_of_vectors(self, vectors, options.order);
  return options.keep_dims ? reshape(y, kept) : y;
}

tensor matrix_norm(const tensor& x, norm_order order, bool keep_dims) {
  constexpr function self{"matrix_norm"};
  const tensor a = self.numbers("x", x);
  self.matrices("x", a);
  const tensor y = norm_of_matrices(self, a, order);
  return keep_dims ? expand_dims(expand_dims(y, -1), -1) : y;
}

tensor cond(const tensor& x, norm_order order) {
  constexpr function self{"cond"};
  const tensor given = self.numbers("x", x);
  self.matrices("x", given);
  if (given.dims()[given.rank() - 1] == 0 || given.dims()[given.rank() - 2] == 0)
    self.refuse(detail::shaped("x", given), "matrices with elements");
  const tensor a = detail::in_matrix_units(given).x;  // the unit cancels
  if (order.name().empty() && std::fabs(order.number()) == 2) {
    const tensor s = svdvals(a), largest = max(s, -1), least = min(s, -1);
    return order.number() > 0 ? largest / least : least / largest;
  }
  self.square("x", a);
  const tensor product = norm_of_matrices(self, a, order) * norm_of_matrices(self, inv(a, {.check = false}), order);
  const tensor known = any(any(a != a, -1), -1);  // NaN stays NaN, a singular matrix has an infinite condition
  return where(logical_and(product != product, logical_not(known)), full_like(product, infinity), product);
}

tensor matrix_power(const tensor& x, std::int64_t n, const check_options& options) {
  constexpr function self{"matrix_power"};
  const tensor a = self.numbers("x", x);
  self.square("x", a);
  if (n == 0) return detail::identities(a);
  tensor square = a, result;
  if (n < 0) {
    const auto by = detail::factored(a);
    if (options.check)
      self.passed(by.info, "a singular matrix", "is zero", "a matrix with an inverse for a power below 0",
                  "pass {.check = false} for NaN");
    square = detail::factored_solution(a, by, detail::identities(a));
  }
  for (std::uint64_t left = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n); left;
       left >>= 1) {
    if (left & 1) result = result.defined() ? matmul(result, square) : square;
    if (left > 1) square = matmul(square, square);
  }
  return result;
}

tensor expm(const tensor& x) {
  constexpr function self{"expm"};
  const tensor a = self.numbers("x", x);
  self.square("x", a);
  if (a.dims().size() == 0) return a;
  const bool narrow = detail::part_type(a.type()) == dtype::float32;
  const std::span<const double> b = narrow ? std::span<const double>(pade_7) : std::span<const double>(pade_13);
  // Halves of each matrix until its norm is small, and as many squares of the result.
  const tensor size = largest_sum(stop_gradient(a), -2, false);
  const tensor halves = expand_dims(
      expand_dims(clip(ceil(log2(maximum(size, 1e-300) / (narrow ? most_of_7 : most_of_13))), 0, 1100), -1), -1);
  const tensor scaled = a * pow(full_like(halves, 2), -halves), one = detail::identities(a);
  const tensor a2 = matmul(scaled, scaled), a4 = matmul(a2, a2), a6 = matmul(a4, a2);
  tensor odd = one * b[1] + a2 * b[3] + a4 * b[5] + a6 * b[7], even = one * b[0] + a2 * b[2] + a4 * b[4] + a6 * b[6];
  if (!narrow) {
    odd = odd + matmul(a6, a2 * b[9] + a4 * b[11] + a6 * b[13]);
    even = even + matmul(a6, a2 * b[8] + a4 * b[10] + a6 * b[12]);
  }
  odd = matmul(scaled, odd);
  tensor y = detail::factored_solution(even - odd, detail::factored(even - odd), even + odd);
  const double most = max(halves).item();
  for (double k = 0; k < most; ++k) y = where(halves > k, matmul(y, y), y);
  return y;
}

}  // namespace kerngrad::linalg
