// SPDX-License-Identifier: Apache-2.0
// L-BFGS as a recipe: the minimum of a smooth function by its value and gradient (Nocedal and Wright 2006, algorithm
// 7.5), here Rosenbrock's in ten variables.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <vector>

import kerngrad;

namespace {

double inner(const kg::tensor& a, const kg::tensor& b) { return kg::sum(a * b).item(); }

// A step that was taken, and how the gradient changed over it.
struct curvature {
  kg::tensor step, change;
  double scale;  // 1 / inner(step, change)
};

// The product of the inverse Hessian, as the pairs describe it, and a gradient: the two loops.
kg::tensor inverse_times(const std::deque<curvature>& pairs, kg::tensor q) {
  std::vector<double> parts(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    parts[i] = pairs[i].scale * inner(pairs[i].step, q);
    q = q - pairs[i].change * parts[i];
  }
  if (!pairs.empty()) q = q / (pairs.back().scale * inner(pairs.back().change, pairs.back().change));
  for (std::size_t i = 0; i < pairs.size(); ++i)
    q = q + pairs[i].step * (parts[i] - pairs[i].scale * inner(pairs[i].change, q));
  return q;
}

struct minimum {
  kg::tensor x;
  double value;
  int steps;
};

// Backtracks until the value has fallen by a part of what the slope promises (Armijo). A pair without positive
// curvature is left out, so that every direction descends.
template <class F>
minimum lbfgs(F f, kg::tensor x, double tolerance = 1e-8, int most_steps = 200, std::size_t memory = 10) {
  const auto of = kg::value_and_grad(f);
  auto [value, gradient] = of(x);
  std::deque<curvature> pairs;
  for (int steps = 0;; ++steps) {
    if (steps == most_steps || std::sqrt(inner(gradient, gradient)) <= tolerance) return {x, value.item(), steps};
    const kg::tensor direction = -inverse_times(pairs, gradient);
    const double slope = inner(gradient, direction);
    double length = pairs.empty() ? std::fmin(1, 1 / std::sqrt(-slope)) : 1;
    auto next = of(x + direction * length);
    for (int i = 0; i < 40 && !(next.value.item() <= value.item() + 1e-4 * length * slope); ++i)
      next = of(x + direction * (length /= 2));
    const kg::tensor step = direction * length, change = next.grad - gradient;
    x = x + step;
    value = next.value, gradient = next.grad;
    if (const double curved = inner(step, change); curved > 1e-12 * inner(change, change))
      pairs.push_back({step, change, 1 / curved});
    if (pairs.size() > memory) pairs.pop_front();
  }
}

kg::tensor rosenbrock(const kg::tensor& x) {
  const std::int64_t n = x.size();
  const kg::tensor here = kg::slice(x, {0}, {n - 1}), next = kg::slice(x, {1}, {n - 1});
  return kg::sum(kg::square(next - here * here) * 100 + kg::square(1 - here));
}

}  // namespace

int main() {
  const auto [x, value, steps] = lbfgs(rosenbrock, kg::zeros({10}, kg::dtype::float64));
  std::printf("%g after %d steps\n", value, steps);
  const double error = kg::max(kg::abs(x - 1)).item();
  return error < 1e-6 && steps < 200 ? EXIT_SUCCESS : EXIT_FAILURE;
}
