// SPDX-License-Identifier: Apache-2.0
// Solutions for operators without a matrix, by Krylov spaces. Iterations are tensor ops on vectors, and double
// arithmetic on their coefficients. The gradient of a solution is one more solution. It does not go through
// kg::implicit, whose GMRES has no preconditioner and does not use symmetry: it would fail where the solution itself is
// easy.
module;
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/krylov.h"

namespace kerngrad::linalg::detail {

namespace {

// ------------------------------------------------------------------------------------------ systems

// The transpose of a linear function of tensors like x: its gradient, which is the same at all points.
map transpose_of(const map& f, const tensor& x) {
  const auto back = vjp_of([f](std::span<const tensor> xs) { return f(xs[0]); }, std::array{zeros_like(x)}).back;
  return [back](const tensor& y) { return back(y)[0]; };
}

map product_of(const krylov_solver& solver, std::span<const tensor> parameters, const tensor& like) {
  const map forward = [self = solver.self, apply = solver.apply,
                       ps = std::vector<tensor>(parameters.begin(), parameters.end())](const tensor& x) {
    return applied(self, apply, x, ps);
  };
  return solver.transposed ? transpose_of(forward, like) : forward;
}

map preconditioner_of(const krylov_solver& solver, const tensor& like) {
  if (!solver.options.preconditioner) return [](const tensor& x) { return x; };
  const map forward = [self = solver.self, &m = solver.options.preconditioner](const tensor& x) {
    tensor y = m(x);
    if (!y.defined() || !(y.signature() == x.signature()))
      self.refuse("a preconditioner from " + text_of(x) + " to " + (y.defined() ? text_of(y) : "an undefined tensor"),
                  "a result of the operand's shape and dtype");
    return y;
  };
  return solver.transposed ? transpose_of(forward, like) : forward;
}

// One solution on vectors of rank 1. Right sides are scaled to a largest element of 1, so that squares stay in range.
class iteration {
 public:
  iteration(const krylov_solver& solver, std::span<const tensor> parameters, const tensor& like)
      : solver_(solver),
        dims_(like.dims()),
        product_(product_of(solver, parameters, like)),
        precondition_(preconditioner_of(solver, like)) {}

  // The x of A x = b, or nothing for numbers that are not finite.
  std::optional<tensor> solution(const tensor& b) {
    start_ = length_of(b), left_ = start_;
    wanted_ = start_ * solver_.options.rtol;
    tensor x = zeros_like(b), residual = b;
    while (left_ > wanted_) {
      const double before = left_;
      const bool finite = solver_.definite ? conjugate_gradients(x, residual) : minimal_residual(x, residual);
      if (!finite) return {};
      // The residual that the methods update drifts from the true one by rounding.
      residual = b - apply(x);
      left_ = length_of(residual);
      if (!std::isfinite(left_)) return {};
      if (left_ > wanted_ && (spent() || !(left_ < before * 0.999))) not_converged();
    }
    return x;
  }

 private:
  bool spent() const { return products_ >= solver_.options.products; }
  tensor apply(const tensor& x) {
    check_stop(solver_.self.name);
    return flat(product_(reshape(x, dims_)));
  }
  tensor precondition(const tensor& x) {
    return solver_.options.preconditioner ? flat(precondition_(reshape(x, dims_))) : x;
  }
  [[noreturn]] void not_converged() const {
    solver_.self.refuse(
        "a residual of " + text_of(left_ / start_) + " |b| after " + std::to_string(products_) + " products",
        "at most " + text_of(solver_.options.rtol) + " |b|", solver_.advice);
  }
  bool conjugate_gradients(tensor& x, tensor& residual);
  bool minimal_residual(tensor& x, const tensor& residual);

  const krylov_solver& solver_;
  shape dims_;
  map product_, precondition_;
  double start_ = 0, left_ = 0, wanted_ = 0;  // lengths of residuals
  std::int64_t products_ = 0;                 // without those that check a residual
};

// ------------------------------------------------------------------------------------------ conjugate gradients

// Steps until the updated residual is small enough. False for numbers that are not finite.
bool iteration::conjugate_gradients(tensor& x, tensor& residual) {
  tensor direction = precondition(residual);
  double fall = inner_product(residual, direction);
  while (left_ > wanted_ && !spent()) {
    const tensor image = apply(direction);
    ++products_;
    const double curvature = inner_product(direction, image);
    if (!std::isfinite(curvature) || !std::isfinite(fall)) return false;
    if (!(curvature > 0))
      solver_.self.refuse("an operator with x^T A x = " + text_of(curvature) + " for an x that is not 0",
                          "a symmetric positive definite operator", "use gmres");
    if (!(fall > 0))
      solver_.self.refuse("a preconditioner M with x^T M x = " + text_of(fall) + " for an x that is not 0",
                          "a symmetric positive definite preconditioner", "use gmres");
    x = x + direction * (fall / curvature);
    residual = residual - image * (fall / curvature);
    left_ = length_of(residual);
    const tensor next = precondition(residual);
    const double fall_before = std::exchange(fall, inner_product(residual, next));
    direction = next + direction * (fall / fall_before);
  }
  return true;
}

// ------------------------------------------------------------------------------------------ Krylov spaces

// The least squares problem of GMRES: a Hessenberg matrix whose columns arrive one by one, made triangular by Givens
// rotations.
class hessenberg_problem {
 public:
  explicit hessenberg_problem(double length) : right_{length} {}
  double left() const { return std::fabs(right_.back()); }
  void add(vector64 column) {
    const std::size_t k = columns_.size();
    for (std::size_t i = 0; i < k; ++i) rotate(column[i], column[i + 1], i);
    const double radius = std::hypot(column[k], column[k + 1]);
    cosines_.push_back(radius > 0 ? column[k] / radius : 1);
    sines_.push_back(radius > 0 ? column[k + 1] / radius : 0);
    rotate(column[k], column[k + 1], k);
    right_.push_back(0);
    rotate(right_[k], right_[k + 1], k);
    columns_.push_back(std::move(column));
  }
  // Pivots that are rounding errors of the largest one count as 0: a singular operator has them.
  vector64 solution(dtype type) const {
    double largest = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) largest = std::max(largest, std::fabs(columns_[i][i]));
    const double least = 8 * rounding_of(type) * largest;
    vector64 y(right_.begin(), right_.end() - 1);
    for (std::size_t i = y.size(); i-- > 0;) {
      for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= columns_[j][i] * y[j];
      y[i] = std::fabs(columns_[i][i]) > least ? y[i] / columns_[i][i] : 0;
    }
    return y;
  }

 private:
  void rotate(double& a, double& b, std::size_t k) const {
    const double turned = cosines_[k] * a + sines_[k] * b;
    b = cosines_[k] * b - sines_[k] * a;
    a = turned;
  }
  std::vector<vector64> columns_;
  vector64 right_, cosines_, sines_;
};

// One Krylov space of at most `restart` vectors. False for numbers that are not finite.
bool iteration::minimal_residual(tensor& x, const tensor& residual) {
  const std::int64_t most = std::min(solver_.options.restart, residual.size());
  orthonormal_rows space(most + 1, residual);
  space.add(residual, left_);
  hessenberg_problem problem(left_);
  bool growing = true;
  for (std::int64_t k = 0; k < most && growing && problem.left() > wanted_ && !spent(); ++k) {
    tensor next = apply(precondition(space.last()));
    ++products_;
    const double before = length_of(next);
    if (!std::isfinite(before)) return false;
    vector64 column = space.remove_from(next);
    const double rest = length_of(next);
    growing = rest > before * negligible(next.type());
    column.push_back(growing ? rest : 0);
    problem.add(std::move(column));
    // The last vector has no part in the solution, but keeps the count of rows one above that of columns.
    space.add(next, growing ? rest : 1);
  }
  vector64 y = problem.solution(x.type());
  y.resize(static_cast<std::size_t>(space.count()));
  x = x + precondition(space.combined(numbers_of(y, x.type())));
  return true;
}

// ------------------------------------------------------------------------------------------ gradients of solutions

// With u = A^-T dy: u for b, and the gradient of -u^T A(p) x for p. Both are differentiable again, u by this rule.
struct solution_rule {
  krylov_solver solver;
  std::vector<tensor> operands;

  std::vector<tensor> operator()(const tensor& dy, const tensor& x) const {
    krylov_solver adjoint = solver;
    adjoint.transposed = !solver.symmetric && !solver.transposed;
    std::vector<tensor> right = operands;
    right[0] = dy;
    std::vector<tensor> grads{linalg::detail::solution(adjoint, right)};
    if (operands.size() == 1) return grads;
    const std::span<const tensor> parameters = std::span(operands).subspan(1);
    const auto image = [&](std::span<const tensor> ps) { return product_of(solver, ps, x)(x); };
    for (tensor& grad : vjp_of(image, parameters).back(-grads[0])) grads.push_back(std::move(grad));
    return grads;
  }
};

tensor unrecorded_solution(const krylov_solver& solver, std::span<const tensor> operands) {
  const no_grad pause;
  const std::vector<tensor> all = constants(operands);
  const tensor& b = all[0];
  const double scale = b.size() == 0 ? 0 : max(abs(b)).item();
  if (scale == 0) return zeros_like(b);
  if (!std::isfinite(scale)) return nan_like(b);
  iteration steps(solver, std::span(all).subspan(1), b);
  const std::optional<tensor> x = steps.solution(flat(b) / scale);
  return x ? reshape(*x * scale, b.dims()) : nan_like(b);
}

constexpr std::string_view how_to_converge = "raise `products` or `rtol`, or pass a preconditioner";

}  // namespace

std::vector<tensor> constants(std::span<const tensor> xs) {
  std::vector<tensor> all;
  for (const tensor& x : xs) all.push_back(stop_gradient(x));
  return all;
}

tensor applied(const function& self, const list_function& apply, const tensor& x, std::span<const tensor> parameters) {
  std::vector<tensor> all{x};
  all.insert(all.end(), parameters.begin(), parameters.end());
  tensor y = apply(all);
  if (!y.defined()) self.refuse("an operator that returns an undefined tensor", text_of(x) + " like its operand");
  if (!(y.signature() == x.signature()))
    self.refuse("an operator from " + text_of(x) + " to " + text_of(y), "a result of the operand's shape and dtype");
  return y;
}

tensor solution(const krylov_solver& solver, std::span<const tensor> operands) {
  const auto solve = [&](std::span<const tensor> all) {
    return with_gradient(unrecorded_solution(solver, all), solution_rule{solver, {all.begin(), all.end()}});
  };
  return custom_grad(solve, operands, "kg::linalg::" + std::string(solver.self.name)).front();
}

void expect_operands(const function& self, std::string_view first, std::span<const tensor> operands) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (!operands[i].defined())
      self.refuse(i == 0 ? "operand " + std::string(first) + ", an undefined tensor"
                         : "parameter " + std::to_string(i - 1) + ", an undefined tensor",
                  "a tensor");
  if (!wide_floats.has(operands[0].type()))
    self.refuse("operand " + std::string(first) + " of dtype " + std::string(name_of(operands[0].type())),
                "float32 or float64", "cast it");
}

double expect_options(const function& self, double rtol, std::int64_t products, dtype type) {
  if (!(rtol >= 0)) self.refuse("an rtol of " + text_of(rtol), "0 or more");
  if (products < 1) self.refuse(std::to_string(products) + " products", "1 or more");
  return rtol > 0 ? rtol : type == dtype::float64 ? 1e-10 : 1e-5;
}

tensor solved_by_cg(const list_function& apply, std::span<const tensor> operands, const cg_options& options) {
  constexpr function self{"cg"};
  expect_operands(self, "b", operands);
  const double rtol = expect_options(self, options.rtol, options.products, operands[0].type());
  return solution({.self = self,
                   .apply = apply,
                   .options = {.rtol = rtol, .products = options.products, .preconditioner = options.preconditioner},
                   .definite = true,
                   .symmetric = true,
                   .advice = how_to_converge},
                  operands);
}

tensor solved_by_gmres(const list_function& apply, std::span<const tensor> operands, const gmres_options& options) {
  constexpr function self{"gmres"};
  expect_operands(self, "b", operands);
  gmres_options known = options;
  known.rtol = expect_options(self, options.rtol, options.products, operands[0].type());
  if (options.restart < 1) self.refuse("a restart of " + std::to_string(options.restart), "1 vector or more");
  return solution({.self = self, .apply = apply, .options = known, .advice = how_to_converge}, operands);
}

}  // namespace kerngrad::linalg::detail
