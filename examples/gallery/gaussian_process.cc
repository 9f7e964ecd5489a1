// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/gaussian_process.md: a curve without a formula, how sure it is, and fitted
// hyperparameters (Rasmussen and Williams 2006, algorithm 2.1).
#include <cstdio>
#include <iostream>

import kerngrad;
import kerngrad.io;
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

// The Cholesky factor of the covariance of noisy values at x.
tensor factor_of(const tensor& x, const tensor& log_parameters) {
  const tensor noise = kg::eye(x.size(), x.size(), 0, x.type()) * kg::exp(log_parameters(2) * 2);
  return la::cholesky(covariance(x, x, log_parameters) + noise);
}

// The negative log marginal likelihood, up to a constant.
tensor loss(const tensor& x, const tensor& y, const tensor& log_parameters) {
  const tensor factor = factor_of(x, log_parameters);
  return la::vecdot(y, la::cho_solve(factor, y)) * 0.5 + kg::sum(kg::log(la::diagonal(factor)));
}

}  // namespace

int main() {
  kg::generator rng(3);
  const tensor all = kg::linspace(0, 10, 60, kg::dtype::float64);
  const tensor points = all(kg::logical_or(all < 4, all > 6.5));  // no points between 4 and 6.5
  const tensor values = kg::sin(points) + rng.normal(points.dims(), 0, 0.15, kg::dtype::float64);

  tensor log_parameters({0.0, 0.0, -1.0});
  const auto of = kg::value_and_grad([&](const tensor& p) { return loss(points, values, p); });
  for (int i = 0; i < 500; ++i) log_parameters -= of(log_parameters).grad * 0.02;
  const auto found = kg::exp(log_parameters).to_doubles();
  std::printf("length scale %.1f, signal %.1f, noise %.2f\n", found[0], found[1], found[2]);

  constexpr int width = 240, height = 120;
  const tensor along = kg::linspace(0, 10, width, kg::dtype::float64);
  const tensor factor = factor_of(points, log_parameters), across = covariance(along, points, log_parameters);
  const tensor mean = kg::matmul(across, la::cho_solve(factor, values));
  const tensor known = la::solve_triangular(factor, kg::transpose(across), {.lower = true});
  const tensor deviation = kg::sqrt(kg::square(kg::exp(log_parameters(1))) - kg::sum(kg::square(known), 0));
  std::printf("at 2: +- %.2f, at 5.2: +- %.2f\n", deviation(48).item(), deviation(125).item());

  const tensor level = kg::expand_dims(kg::linspace(1.8, -1.8, height, kg::dtype::float64), 1);
  const tensor off = kg::abs(level - mean);
  tensor picture = kg::where(off < 0.018, 0, kg::where(off < deviation * 2, 170, kg::full({height, width}, 255)));
  const tensor columns = kg::cast(kg::clip(kg::round(points / 10 * (width - 1)), 1, width - 2), kg::dtype::int32);
  const tensor rows =
      kg::cast(kg::clip(kg::round((1.8 - values) / 3.6 * (height - 1)), 1, height - 2), kg::dtype::int32);
  for (const int shift : {-1, 0, 1}) picture = picture.at(rows + shift, columns).set(80);
  kg::io::save("gaussian_process.png", kg::cast(picture, kg::dtype::uint8));
  std::cout << kg::to_string(tensor(kg::io::load("gaussian_process.png")).dims()) << "\n";
}
