// SPDX-License-Identifier: Apache-2.0
// Calls of products of matrices, of norms and of distances.
#include <algorithm>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;

constexpr double infinity = std::numeric_limits<double>::infinity();

// beta * x + alpha * y, each factor 1 unless told.
results added(in s, const kg::tensor& y) {
  const auto scaled = [&](const char* name, const kg::tensor& part) {
    if (!s.has(name)) return part;
    const json& factor = s.raw(name, -1);
    return factor.is_number_integer() ? part * s.whole(name, -1) : part * s.number(name, -1);
  };
  return list_of(scaled("beta", s.x()) + scaled("alpha", y));
}

kg::tensor product_of_list(const std::vector<kg::tensor>& parts) {
  kg::tensor y = parts.at(0);
  for (std::size_t i = 1; i < parts.size(); ++i) y = kg::matmul(y, parts[i]);
  return y;
}

kg::tensor power(const kg::tensor& x, std::int64_t n) {
  if (n < 0) throw skip{"the power of an inverse"};
  const std::int64_t size = x.dims()[x.rank() - 1];
  if (n == 0) return kg::broadcast_to(kg::cast(kg::eye(size), x.type()), x.dims());
  kg::tensor y = x;
  for (std::int64_t i = 1; i < n; ++i) y = kg::matmul(y, x);
  return y;
}

kg::tensor inner(const kg::tensor& a, const kg::tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) return a * b;
  std::string left, right, rest;
  for (int i = 0; i + 1 < a.rank(); ++i) left += static_cast<char>('a' + i);
  for (int i = 0; i + 1 < b.rank(); ++i) right += static_cast<char>('k' + i);
  return kg::einsum(left + "z," + right + "z->" + left + right, a, b);
}

results contracted(in s) {
  const kg::tensor a = s.x(), b = s.x(1);
  std::vector<std::int64_t> left, right;
  if (s.has("dims", 2) && s.raw("dims", 2).is_array()) {
    const json& pair = s.raw("dims", 2);
    left = pair.at(0).get<std::vector<std::int64_t>>(), right = pair.at(1).get<std::vector<std::int64_t>>();
  } else {
    const auto count = s.whole("dims", 2, 2);
    for (std::int64_t i = 0; i < count; ++i) left.push_back(a.rank() - count + i), right.push_back(i);
  }
  std::string of_a, of_b, of_y;
  for (int i = 0; i < a.rank(); ++i) of_a += static_cast<char>('a' + i);
  for (int i = 0; i < b.rank(); ++i) of_b += static_cast<char>('n' + i);
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto at_a = static_cast<std::size_t>(left[i] < 0 ? left[i] + a.rank() : left[i]);
    of_b[static_cast<std::size_t>(right[i] < 0 ? right[i] + b.rank() : right[i])] = of_a[at_a];
  }
  for (const char letter : of_a + of_b)
    if (std::ranges::count(of_a + of_b, letter) == 1) of_y += letter;
  return list_of(kg::einsum(of_a + "," + of_b + "->" + of_y, a, b));
}

kg::tensor kronecker(kg::tensor a, kg::tensor b) {
  while (a.rank() < b.rank()) a = kg::expand_dims(a, 0);
  while (b.rank() < a.rank()) b = kg::expand_dims(b, 0);
  if (a.rank() == 0) return a * b;
  std::string left, right, both;
  std::vector<std::int64_t> dims;
  for (int i = 0; i < a.rank(); ++i) {
    left += static_cast<char>('a' + i), right += static_cast<char>('n' + i);
    both += {left.back(), right.back()};
    dims.push_back(a.dims()[i] * b.dims()[i]);
  }
  return kg::reshape(kg::einsum(left + "," + right + "->" + both, a, b), kg::shape(dims));
}

kg::tensor crossed(const kg::tensor& a, const kg::tensor& b, std::int64_t axis) {
  const auto has_three = [&](const kg::tensor& x) {
    return axis < x.rank() && axis >= -x.rank() && x.dims()[static_cast<int>(axis < 0 ? axis + x.rank() : axis)] == 3;
  };
  if (a.rank() != b.rank() || !has_three(a) || !has_three(b)) throw skip{"vectors of other than three elements"};
  return kg::roll(a, -1, axis) * kg::roll(b, 1, axis) - kg::roll(a, 1, axis) * kg::roll(b, -1, axis);
}

results cross(in s) {
  const kg::tensor a = s.x();
  std::int64_t axis = 0;
  while (axis < a.rank() && a.dims()[static_cast<int>(axis)] != 3) ++axis;  // the first one of size 3 unless told
  return list_of(crossed(a, s.x(1), s.whole("dim", 2, axis)));
}

// Orthonormal columns and a triangle whose diagonal is positive: the signs are a convention.
results orthogonal_parts(in s, bool full) {
  const auto [q, r] = kg::qr(s.x(), full);
  const kg::tensor signs = kg::stop_gradient(kg::sign(kg::diagonal(r, 0, -2, -1)));
  const auto filled = [&](std::int64_t size) {
    std::vector<std::int64_t> dims(signs.dims().begin(), signs.dims().end());
    dims.back() = size - dims.back();
    return dims.back() == 0 ? signs : kg::concat({signs, kg::ones(kg::shape(dims), signs.type())}, -1);
  };
  return {q * kg::expand_dims(filled(q.dims()[q.rank() - 1]), -2),
          r * kg::expand_dims(filled(r.dims()[r.rank() - 2]), -1)};
}

results decomposed(in s) {
  const std::string mode = s.text("mode", 1, "reduced");
  if (mode == "r") throw skip{"the triangle alone"};
  return orthogonal_parts(s, mode == "complete");
}

// ---- norms

kg::norm_order order_of(in s, const char* name, int place) {
  if (!s.has(name, place)) return "euclidean";
  const json& order = s.raw(name, place);
  if (order == "fro") return "fro";
  if (order == "nuc") throw skip{"a norm by singular values"};
  return s.number(name, place);
}

kg::tensor in_dtype(in s) { return s.typed(s.x()); }

// Norms of vectors for any order: the library has those of the table of kg::norm.
kg::tensor vector_norm(const kg::tensor& x, double p, const kg::axes& over, bool keep) {
  if (p == 2) return kg::euclidean_norm(x, over, keep);
  const kg::tensor size = kg::abs(x);
  if (p == 1) return kg::sum(size, over, keep);
  if (p == infinity) return kg::max(size, over, keep);
  if (p == -infinity) return kg::min(size, over, keep);
  if (p == 0) return kg::cast(kg::sum(size != 0, over, keep), size.type());
  return norm_of_order(x, p, over, keep);
}

// Axes alone say whether an order is that of vectors: with one, or without any and an operand of rank 1.
results norm(in s, const char* order) {
  const kg::axes over = s.axes("dim", 2);
  const bool keep = s.truth("keepdim", 3);
  return list_of(kg::norm(in_dtype(s), order_of(s, order, 1), over, keep));
}

results distance_of_pairs(in s, bool to_itself) {
  const double p = s.number("p", to_itself ? 1 : 2, 2);
  if (s.has("compute_mode", 3)) s.text("compute_mode", 3, "");
  if (to_itself) throw skip{"distances of pairs in one list"};
  const kg::tensor d = kg::expand_dims(s.x(), -2) - kg::expand_dims(s.x(1), -3);
  return list_of(vector_norm(d, p, -1, false));
}

constexpr call_line lines[] = {
    {"matrices", "bmm", [](in s) { return list_of(kg::matmul(s.x(), s.x(1))); }},
    {"matrices", "__rmatmul__", [](in s) { return list_of(kg::matmul(s.x(1), s.x())); }},
    {"matrices", "mv", [](in s) { return list_of(kg::matmul(s.x(), s.x(1))); }},
    {"matrices", "vdot", [](in s) { return list_of(kg::dot(kg::conj(s.x()), s.x(1))); }},
    {"matrices", "inner", [](in s) { return list_of(inner(s.x(), s.x(1))); }},
    {"matrices", "addmm", [](in s) { return added(s, kg::matmul(s.x(1), s.x(2))); }},
    {"matrices", "addmv", [](in s) { return added(s, kg::matmul(s.x(1), s.x(2))); }},
    {"matrices", "addbmm", [](in s) { return added(s, kg::sum(kg::matmul(s.x(1), s.x(2)), 0)); }},
    {"matrices", "baddbmm", [](in s) { return added(s, kg::matmul(s.x(1), s.x(2))); }},
    {"matrices", "addr", [](in s) { return added(s, kg::outer(s.x(1), s.x(2))); }},
    {"matrices", "einsum",
     [](in s) { return list_of(kg::einsum(s.text("", 1, ""), std::span<const kg::tensor>(s.tensors()))); }},
    {"matrices", "tensordot", contracted},
    {"matrices", "kron", [](in s) { return list_of(kronecker(s.x(), s.x(1))); }},
    {"matrices", "cross", cross},
    {"matrices", "linalg.cross", [](in s) { return list_of(crossed(s.x(), s.x(1), s.whole("dim", 2, -1))); }},
    {"matrices", "linalg.vecdot",
     [](in s) { return list_of(kg::sum(kg::conj(s.x()) * s.x(1), s.whole("dim", 2, -1))); }},
    {"matrices", "linalg.matrix_power", [](in s) { return list_of(power(s.x(), s.whole("n", 1))); }},
    {"matrices", "linalg.multi_dot", [](in s) { return list_of(product_of_list(s.tensors())); }},
    {"matrices", "qr", [](in s) { return orthogonal_parts(s, !s.truth("some", 1, true)); }},
    {"matrices", "linalg.qr", decomposed},
    {"matrices", "norm",
     [](in s) {
       if (s.has("p", 1) && s.raw("p", 1).is_number())
         return list_of(vector_norm(in_dtype(s), s.number("p", 1), s.axes("dim", 2), s.truth("keepdim", 3)));
       return norm(s, "p");
     }},
    {"matrices", "linalg.norm", [](in s) { return norm(s, "ord"); }},
    {"matrices", "linalg.matrix_norm",
     [](in s) {
       const kg::axes over = s.has("dim", 2) ? s.axes("dim", 2) : kg::axes({-2, -1});
       return list_of(kg::norm(in_dtype(s), s.has("ord", 1) ? order_of(s, "ord", 1) : kg::norm_order("fro"), over,
                               s.truth("keepdim", 3)));
     }},
    {"matrices", "linalg.vector_norm",
     [](in s) {
       return list_of(vector_norm(in_dtype(s), s.number("ord", 1, 2), s.axes("dim", 2), s.truth("keepdim", 3)));
     }},
    {"matrices", "masked.norm",
     [](in s) {
       const double p = s.number("ord", 1, 2);
       const kg::axes over = s.axes("dim", 2);
       kg::tensor x = in_dtype(s);
       if (s.has("mask")) {
         if (p <= 0) throw skip{"the least of elements that count"};
         x = kg::where(kg::broadcast_to(s.tensor("mask"), x.dims()), x, kg::zeros_like(x));
       }
       return list_of(vector_norm(x, p, over, s.truth("keepdim", 3)));
     }},
    {"matrices", "dist",
     [](in s) { return list_of(vector_norm(s.x() - s.x(1), s.number("p", 2, 2), kg::all_axes, false)); }},
    {"matrices", "cdist", [](in s) { return distance_of_pairs(s, false); }},
    {"matrices", "nn.functional.linear",
     [](in s) {
       const kg::tensor y = kg::matmul(s.x(), s.x(1).rank() == 1 ? s.x(1) : kg::transpose(s.x(1)));
       return list_of(s.has("bias", 2) ? y + s.tensor("bias", 2) : y);
     }},
    {"matrices", "nn.functional.bilinear",
     [](in s) {
       const kg::tensor y = kg::einsum("...i,oij,...j->...o", s.x(), s.x(2), s.x(1));
       return list_of(s.has("bias", 3) ? y + s.tensor("bias", 3) : y);
     }},
};

}  // namespace

// The sum of powers of sizes that are divided by their largest, or least for a negative order: no power overflows.
kg::tensor norm_of_order(const kg::tensor& x, double p, const kg::axes& over, bool keep) {
  const kg::tensor size = kg::abs(x);
  const kg::tensor end = kg::stop_gradient(p > 0 ? kg::max(size, over, true) : kg::min(size, over, true));
  const kg::tensor unit = kg::where(end == 0, kg::ones_like(end), end);
  // An element 0 is a constant term: the derivative of its power would be infinite times the sign 0.
  const kg::tensor positive = kg::where(size == 0, kg::ones_like(size), size / unit);
  const kg::tensor terms = kg::where(size == 0, p > 0 ? 0 : infinity, kg::pow(positive, p));
  const kg::tensor y = kg::pow(kg::sum(terms, over, true), 1 / p) * unit;
  return keep ? y : kg::reshape(y, kg::sum(size, over).dims());
}

std::span<const call_line> matrices_calls() { return lines; }

}  // namespace opinfo
