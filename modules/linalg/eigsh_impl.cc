// SPDX-License-Identifier: Apache-2.0
// Eigenvalues and eigenvectors of symmetric operators without a matrix.
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

struct pairs {
  vector64 values;
  tensor vectors;  // in rows
};

// Lanczos's method with thick restarts: the space keeps Ritz vectors, and grows from the last residual.
class lanczos {
 public:
  lanczos(const function& self, const eigsh_options& options, map product, const tensor& start)
      : self_(self),
        options_(options),
        product_(std::move(product)),
        most_(
            std::min(start.size(), options.basis > 0 ? options.basis : std::max<std::int64_t>(2 * options.k + 1, 20))),
        type_(start.type()),
        space_(most_, start),
        projected_(static_cast<std::size_t>(most_ * most_)) {
    space_.add(start, length_of(start));
  }

  // The wanted pairs, or nothing for numbers that are not finite.
  std::optional<pairs> found() {
    while (true) {
      if (!grow()) return {};
      const std::int64_t count = space_.count(), k = std::min(options_.k, count);
      const auto [values, vectors] = eigh(projected(count));
      const vector64 ritz = values.to_doubles(), last = vectors(-1).to_doubles();
      largest_ = std::max(std::fabs(ritz.front()), std::fabs(ritz.back()));
      const auto first = static_cast<std::size_t>(first_of(k, count));
      left_ = 0;
      for (std::size_t i = first; i < first + static_cast<std::size_t>(k); ++i)
        left_ = std::max(left_, std::fabs(rest_ * last[i]));
      const bool whole = count >= options_.k;
      if (whole && left_ <= options_.rtol * largest_) return chosen(ritz, vectors, k);
      if (products_ >= options_.products) not_converged(whole);
      restart(ritz, vectors);
    }
  }

 private:
  double& at(std::int64_t i, std::int64_t j) { return projected_[static_cast<std::size_t>(i * most_ + j)]; }
  tensor projected(std::int64_t count) const {
    return tensor(projected_, {most_, most_})(range(0, count), range(0, count));
  }
  std::int64_t first_of(std::int64_t k, std::int64_t count) const { return options_.smallest ? 0 : count - k; }
  tensor rows_of(const tensor& vectors, std::int64_t k) const {
    const std::int64_t count = space_.count(), first = first_of(k, count);
    return space_.combined(cast(transposed(vectors)(range(first, first + k)), type_));
  }
  pairs chosen(const vector64& ritz, const tensor& vectors, std::int64_t k) const {
    const auto begin = ritz.begin() + first_of(k, space_.count());
    const tensor rows = rows_of(vectors, k);
    return {{begin, begin + k}, rows / sqrt(sum(rows * rows, {-1}, true))};
  }
  [[noreturn]] void not_converged(bool whole) const {
    self_.refuse((whole ? "a residual of " + text_of(left_ / largest_) + " |A|" : "fewer vectors than k") + " after " +
                     std::to_string(products_) + " products",
                 "at most " + text_of(options_.rtol) + " |A|", "raise `products`, `basis` or `rtol`");
  }

  // Adds vectors until the space is full or products are spent. False for numbers that are not finite.
  bool grow() {
    while (true) {
      check_stop(self_.name);
      tensor next = product_(space_.last());
      ++products_;
      const double length = length_of(next);
      if (!std::isfinite(length)) return false;
      scale_ = std::max(scale_, length);
      const std::int64_t j = space_.count() - 1;
      const vector64 column = space_.remove_from(next);
      for (std::int64_t i = 0; i <= j; ++i) at(i, j) = at(j, i) = column[static_cast<std::size_t>(i)];
      rest_ = length_of(next);
      // The space holds whole eigenvectors: random numbers begin the next one.
      const bool closed = !(rest_ > scale_ * negligible(type_));
      if (closed) rest_ = 0;
      residual_ = next;
      if (space_.count() == most_ || products_ >= options_.products) return true;
      if (closed) {
        next = random_normal({next.size()}, 0, 1, j + 1, type_);
        space_.remove_from(next);
      }
      space_.add(next, length_of(next));
    }
  }

  void restart(const vector64& ritz, const tensor& vectors) {
    const std::int64_t count = space_.count(), kept = std::min(options_.k + (count - options_.k) / 2, count - 1);
    space_.replace(rows_of(vectors, kept));
    std::ranges::fill(projected_, 0);
    const std::int64_t first = first_of(kept, count);
    for (std::int64_t i = 0; i < kept; ++i) at(i, i) = ritz[static_cast<std::size_t>(first + i)];
    space_.add(residual_, rest_);
  }

  const function& self_;
  const eigsh_options& options_;
  map product_;
  std::int64_t most_;
  dtype type_;
  orthonormal_rows space_;
  vector64 projected_;  // A in the basis, in rows of most_ numbers
  tensor residual_;     // the part of the last product outside of the space
  double rest_ = 0, scale_ = 0, largest_ = 0, left_ = 0;
  std::int64_t products_ = 0;
};

// ------------------------------------------------------------------------------------------ gradients of pairs

// The operator for the part of an eigenvector's gradient that is orthogonal to the vector v. Operands are z, v, the
// value w and p...: (A - w) on that part, and `scale` on v, where the right side is 0.
list_function shifted(const function& self, const list_function& apply, double scale) {
  return [self, apply, scale](std::span<const tensor> all) {
    const tensor &z = all[0], &v = all[1], &w = all[2];
    const tensor along = v * sum(v * z), across = z - along;
    const tensor y = applied(self, apply, across, all.subspan(3)) - w * across;
    return y - v * sum(v * y) + along * scale;
  };
}

// Each pair is the solution of A v = w v and v^T v = 1 (Magnus 1985).
struct pair_rule {
  function self;
  list_function apply;
  eigsh_options options;
  std::vector<tensor> parameters;
  double scale;

  std::vector<tensor> operator()(std::span<const tensor> dy, std::span<const tensor> values) const {
    std::vector<tensor> grads(1);  // none for the start
    if (parameters.empty()) return grads;
    std::vector<tensor> vectors, weights;
    for (std::int64_t i = 0; i < options.k; ++i) {
      const tensor v = values[1](ellipsis, i), w = values[0](i);
      vectors.push_back(v);
      weights.push_back(zeros_like(v));
      if (dy[0].defined()) weights.back() = v * dy[0](i);
      if (dy[1].defined()) weights.back() = weights.back() - of_vector(dy[1](ellipsis, i), v, w);
    }
    const auto images = [&](std::span<const tensor> ps) {
      std::vector<tensor> all;
      for (const tensor& v : vectors) all.push_back(applied(self, apply, v, ps));
      return stack(all);
    };
    for (tensor& grad : vjp_of(images, parameters).back(stack(weights))) grads.push_back(std::move(grad));
    return grads;
  }

  tensor of_vector(const tensor& dy, const tensor& v, const tensor& w) const {
    constexpr std::int64_t most_vectors = 100;
    const krylov_solver solver{.self = self,
                               .apply = shifted(self, apply, scale),
                               .options = {.rtol = options.rtol, .products = options.products, .restart = most_vectors},
                               .symmetric = true,
                               .advice = "the gradient of an eigenvector needs an eigenvalue that is not repeated"};
    std::vector<tensor> operands{dy - v * sum(v * dy), v, w};
    operands.insert(operands.end(), parameters.begin(), parameters.end());
    return solution(solver, operands);
  }
};

pairs unrecorded_pairs(const function& self, const list_function& apply, std::span<const tensor> operands,
                       const eigsh_options& options) {
  const no_grad pause;
  const std::vector<tensor> all = constants(operands);
  const tensor& start = all[0];
  const double scale = max(abs(start)).item();
  std::optional<pairs> found;
  if (std::isfinite(scale)) {
    const tensor first = scale > 0 ? flat(start) / scale : random_normal({start.size()}, 0, 1, 0, start.type());
    const map product = [&](const tensor& x) {
      return flat(applied(self, apply, reshape(x, start.dims()), std::span(all).subspan(1)));
    };
    found = lanczos(self, options, product, first).found();
  }
  if (found) return *found;
  const auto k = static_cast<std::size_t>(options.k);
  return {vector64(k, std::numeric_limits<double>::quiet_NaN()),
          nan_like(zeros({options.k, start.size()}, start.type()))};
}

}  // namespace

eigh_parts eigenpairs(const list_function& apply, std::span<const tensor> operands, const eigsh_options& options) {
  constexpr function self{"eigsh"};
  expect_operands(self, "start", operands);
  const tensor& start = operands[0];
  eigsh_options known = options;
  known.rtol = expect_options(self, options.rtol, options.products, start.type());
  if (options.k < 1 || options.k > start.size())
    self.refuse("k = " + std::to_string(options.k) + " for vectors of " + std::to_string(start.size()) + " elements",
                "1 to as many eigenvalues as elements");
  if (options.basis != 0 && options.basis <= options.k && options.basis < start.size())
    self.refuse("a basis of " + std::to_string(options.basis) + " vectors for k = " + std::to_string(options.k),
                "more than k vectors, or 0");
  const tensor_list parts = custom_grad(
      [&](std::span<const tensor> all) -> custom_result {
        const auto [values, rows] = unrecorded_pairs(self, apply, all, known);
        const no_grad pause;
        const double largest = std::max(std::fabs(values.front()), std::fabs(values.back()));
        const pair_rule rule{self, apply, known, {all.begin() + 1, all.end()}, largest > 0 ? largest : 1};
        return {{numbers_of(values, start.type()), reshape(transposed(rows), with_axes(start.dims(), {known.k}))},
                rule};
      },
      operands, "kg::linalg::eigsh");
  return {parts[0], parts[1]};
}

}  // namespace kerngrad::linalg::detail
