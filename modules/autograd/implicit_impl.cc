// SPDX-License-Identifier: Apache-2.0
// Implicit functions: a custom gradient whose rule solves a linear system, which is an implicit function once more, so
// that every order is right.
module;
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :scopes;
import :tape;

namespace kerngrad::detail {

namespace {

using vector64 = std::vector<double>;

double inner_product_of(const vector64& a, const vector64& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double length_of(const vector64& a) { return std::sqrt(inner_product_of(a, a)); }
void add_scaled(vector64& a, double factor, const vector64& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

// GMRES from one residual: a basis of the Krylov space by Arnoldi's method, and the least squares problem in it by
// Givens rotations as the basis grows.
class krylov_space {
 public:
  krylov_space(const vector64& residual, double length) : right_{length} {
    basis_.push_back(residual);
    for (double& v : basis_[0]) v /= length;
  }
  /// The length of the residual that the space leaves.
  double left() const { return std::fabs(right_.back()); }
  /// One dimension more; false where the space is closed under products.
  template <class Product>
  bool grow(const Product& product) {
    const std::size_t k = basis_.size() - 1;
    vector64 next = product(basis_[k]), column(k + 2);
    const double before = length_of(next);
    // Twice is enough (Giraud, Langou and Rozloznik 2005).
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t i = 0; i <= k; ++i) {
        const double part = inner_product_of(basis_[i], next);
        column[i] += part;
        add_scaled(next, -part, basis_[i]);
      }
    const double rest = length_of(next);
    const bool closed = !(rest > before * 1e-14);
    column[k + 1] = closed ? 0 : rest;
    for (std::size_t i = 0; i < k; ++i) rotate(column[i], column[i + 1], cosines_[i], sines_[i]);
    const double radius = std::hypot(column[k], column[k + 1]);
    cosines_.push_back(radius > 0 ? column[k] / radius : 1);
    sines_.push_back(radius > 0 ? column[k + 1] / radius : 0);
    rotate(column[k], column[k + 1], cosines_[k], sines_[k]);
    right_.push_back(0);
    rotate(right_[k], right_[k + 1], cosines_[k], sines_[k]);
    columns_.push_back(std::move(column));
    if (closed) return false;
    for (double& v : next) v /= rest;
    basis_.push_back(std::move(next));
    return true;
  }
  /// Adds the solution of the least squares problem to x.
  void add_solution(vector64& x) const {
    vector64 y(right_.begin(), right_.end() - 1);
    for (std::size_t i = y.size(); i-- > 0;) {
      for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= columns_[j][i] * y[j];
      y[i] = columns_[i][i] != 0 ? y[i] / columns_[i][i] : 0;
    }
    for (std::size_t i = 0; i < y.size(); ++i) add_scaled(x, y[i], basis_[i]);
  }

 private:
  static void rotate(double& a, double& b, double cosine, double sine) {
    const double turned = cosine * a + sine * b;
    b = cosine * b - sine * a;
    a = turned;
  }
  std::vector<vector64> basis_, columns_;
  vector64 right_, cosines_, sines_;
};

tensor tensor_of(const vector64& values, const signature& like) {
  const tensor x(values, like.dims);
  return like.type == dtype::float64 ? x : cast(x, like.type);
}

// The u with product(u) = b.
template <class Product>
tensor solved_linear(const Product& product, const tensor& b, const implicit_options& options) {
  constexpr std::size_t most_dimensions = 60;  // of a space, which is kept whole
  const double tolerance = options.tolerance > 0 ? options.tolerance : b.type() == dtype::float64 ? 1e-10 : 1e-5;
  const auto apply = [&](const vector64& u) {
    poll_stop("implicit");
    return product(tensor_of(u, b.signature())).to_doubles();
  };
  const vector64 right = b.to_doubles();
  const double wanted = tolerance * length_of(right);
  vector64 u(right.size()), residual = right;
  double left = length_of(residual);
  for (std::int64_t products = 0; left > wanted;) {
    krylov_space space(residual, left);
    bool growing = true;
    for (std::size_t k = 0; k < most_dimensions && growing && space.left() > wanted && products < options.products; ++k)
      growing = (++products, space.grow(apply));
    space.add_solution(u);
    residual = right;
    add_scaled(residual, -1, apply(u));
    const double now = length_of(residual);
    if (now <= wanted) break;
    if (!(now < left * 0.999) || products >= options.products)
      fail("kg::implicit",
           "a linear system that is solved to " + to_string(attr_value(now / length_of(right))) + " of its right side",
           "a residual whose derivative with respect to x is not singular",
           "raise implicit_options::tolerance or products, or make the solution more accurate");
    left = now;
  }
  return tensor_of(u, b.signature());
}

std::vector<tensor> point_at(const tensor& x, std::span<const tensor> parameters) {
  std::vector<tensor> point{x};
  point.insert(point.end(), parameters.begin(), parameters.end());
  return point;
}

// The u with (dr/dx)^T u = dy at a point {x, p...}, as an implicit function of dy and the point.
tensor adjoint_of(const list_function& residual, std::span<const tensor> point, const tensor& dy,
                  const implicit_options& options) {
  const list_function equation = [residual](std::span<const tensor> all) {
    return vjp_of(residual, all.subspan(2)).back(all[0])[0] - all[1];
  };
  const list_function solve = [residual, options](std::span<const tensor> all) {
    const auto back = vjp_of(residual, all.subspan(1)).back;
    return solved_linear([&](const tensor& u) { return back(u)[0]; }, all[0], options);
  };
  return run_implicit(equation, solve, point_at(dy, point), options);
}

struct implicit_rule {
  list_function residual;
  implicit_options options;
  std::vector<tensor> parameters;
  tensor solution;

  std::vector<tensor> operator()(std::span<const tensor> dy) const {
    // An outer gradient follows the solution through this function, of which it is known already.
    const list_function known = [x = solution](std::span<const tensor>) { return x; };
    const std::vector<tensor> point =
        point_at(recording_now() ? run_implicit(residual, known, parameters, options) : solution, parameters);
    const value_and_pullback_list at = vjp_of(residual, point);
    if (!(at.value.signature() == solution.signature()))
      fail("kg::implicit", "a residual " + std::string(name_of(at.value.type())) + " " + to_string(at.value.dims()),
           std::string(name_of(solution.type())) + " " + to_string(solution.dims()) + " like the solution");
    std::vector<tensor> grads = at.back(adjoint_of(residual, point, dy[0], options));
    grads.erase(grads.begin());
    for (tensor& g : grads)
      if (differentiable.has(g.type())) g = neg(g);
    return grads;
  }
};

}  // namespace

tensor run_implicit(const list_function& residual, const list_function& solve, std::span<const tensor> parameters,
                    const implicit_options& options) {
  for (const tensor& p : parameters)
    if (!p.defined()) fail("kg::implicit", "an undefined tensor", "tensors", "check it with defined()");
  const auto f = [&](std::span<const tensor> ps) -> custom_result {
    const unrecorded pause;
    std::vector<tensor> constants;
    for (const tensor& p : ps) constants.push_back(stop_gradient(p));
    tensor x = stop_gradient(solve(constants));
    if (!x.defined() || !floating.has(x.type()))
      fail("kg::implicit",
           x.defined() ? "a solution of dtype " + std::string(name_of(x.type())) : "an undefined tensor as solution",
           "a tensor of one of " + to_string(floating));
    return {{x}, implicit_rule{residual, options, {ps.begin(), ps.end()}, x}};
  };
  return custom_grad(f, parameters, "implicit").front();
}

}  // namespace kerngrad::detail
