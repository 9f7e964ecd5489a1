// SPDX-License-Identifier: Apache-2.0
// Gaussian process regression (Rasmussen and Williams 2006, algorithm 2.1). The gradient of the log marginal likelihood
// fits three hyperparameters: the length scale, the signal's deviation and the noise.
#include <cmath>
#include <cstdio>

import kerngrad;
import kerngrad.linalg;

namespace {

using kg::tensor;
namespace la = kg::linalg;

// exp(log_parameters) is the length scale, the deviation of the signal and that of the noise.
tensor covariance(const tensor& a, const tensor& b, const tensor& log_parameters) {
  const tensor parameters = kg::exp(log_parameters);
  const tensor apart = (kg::expand_dims(a, 1) - kg::expand_dims(b, 0)) / parameters(0);
  return kg::square(parameters(1)) * kg::exp(kg::square(apart) * -0.5);
}

tensor with_noise(const tensor& x, const tensor& log_parameters) {
  const std::int64_t n = x.size();
  return covariance(x, x, log_parameters) + kg::eye(n, n, 0, x.type()) * kg::exp(log_parameters(2) * 2);
}

// The negative log marginal likelihood. The factor gives the solution, and its diagonal the determinant.
tensor loss(const tensor& x, const tensor& y, const tensor& log_parameters) {
  const tensor factor = la::cholesky(with_noise(x, log_parameters));
  const tensor half_logdet = kg::sum(kg::log(la::diagonal(factor)));
  return la::vecdot(y, la::cho_solve(factor, y)) * 0.5 + half_logdet +
         static_cast<double>(x.size()) * 0.5 * std::log(2 * M_PI);
}

}  // namespace

int main() {
  const tensor points = kg::linspace(0, 6, 25, kg::dtype::float64);
  const tensor values = kg::sin(points) + 0.1 * kg::cos(points * 37.0);  // the second term stands for noise
  tensor log_parameters({0.0, 0.0, -1.0});
  const auto of = kg::value_and_grad([&](const tensor& p) { return loss(points, values, p); });
  std::printf("before: %.3f\n", of(log_parameters).value.item());
  for (int step = 0; step < 400; ++step) log_parameters = log_parameters - of(log_parameters).grad * 0.01;
  const auto [value, gradient] = of(log_parameters);
  const auto found = kg::exp(log_parameters).to_doubles();
  std::printf("after: %.3f, gradient below 1e-3: %s\n", value.item(),
              kg::max(kg::abs(gradient)).item() < 1e-3 ? "yes" : "no");
  std::printf("length scale %.2f, signal %.2f, noise %.3f\n", found[0], found[1], found[2]);

  const tensor at({1.0, 3.1, 5.5}), across = covariance(at, points, log_parameters);
  const tensor factor = la::cholesky(with_noise(points, log_parameters));
  const tensor mean = kg::matmul(across, la::cho_solve(factor, values));
  const tensor half = la::solve_triangular(factor, kg::transpose(across), {.lower = true});
  const tensor variance = kg::square(kg::exp(log_parameters(1))) - kg::sum(kg::square(half), 0);
  for (std::int64_t i = 0; i < at.size(); ++i)
    std::printf("f(%.1f) = %.2f +- %.2f, sin is %.2f\n", at(i).item(), mean(i).item(), std::sqrt(variance(i).item()),
                std::sin(at(i).item()));
}
