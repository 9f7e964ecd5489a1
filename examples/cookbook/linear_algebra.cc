// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/cookbook/linear-algebra.md that take the module kerngrad.linalg.
#include <cstdio>
#include <iostream>

import kerngrad;
import kerngrad.linalg;

namespace la = kg::linalg;

namespace {

// Points that follow y = 2 x + 1 up to an error of 0.1.
void least_squares_with_uncertainty() {
  const kg::tensor x = kg::arange(0, 50, 1, kg::dtype::float64) / 10;
  const kg::tensor y = x * 2 + 1 + kg::random_normal(x.dims(), 0, 0.1, 7, kg::dtype::float64);
  const kg::tensor design = kg::stack({x, kg::ones_like(x)}, 1);
  const auto [fit, residuals, rank, s] = la::lstsq(design, y);
  const kg::tensor variance = residuals / 48;  // 50 points less 2 unknowns
  const kg::tensor covariance = la::inv(kg::matmul(design, design, true)) * variance;
  const kg::tensor deviation = kg::sqrt(la::diagonal(covariance));
  std::printf("slope %.2f +- %.2f\n", fit(0).item(), deviation(0).item());
  std::printf("start %.2f +- %.2f\n", fit(1).item(), deviation(1).item());
}

// Columns with covariance of their own, made independent and of variance 1.
void whitening() {
  const kg::tensor mix{{2.0, 0.0}, {1.5, 0.5}};
  const kg::tensor x = kg::matmul(kg::random_normal({1000, 2}, 0, 1, 3, kg::dtype::float64), mix, false, true);
  const kg::tensor centered = x - kg::mean(x, 0);
  const kg::tensor factor = la::cholesky(kg::matmul(centered, centered, true) / 1000);
  const kg::tensor white =
      la::matrix_transpose(la::solve_triangular(factor, la::matrix_transpose(centered), {.lower = true}));
  const kg::tensor covariance = kg::matmul(white, white, true) / 1000;
  std::cout << (kg::max(kg::abs(covariance - kg::eye(2, 2, 0, kg::dtype::float64))).item() < 1e-12) << "\n";
}

// 200 points in 5 dimensions that lie near a plane.
void principal_components() {
  const kg::tensor plane = kg::random_normal({2, 5}, 0, 1, 1, kg::dtype::float64);
  const kg::tensor points = kg::matmul(kg::random_normal({200, 2}, 0, 1, 2, kg::dtype::float64), plane) +
                            kg::random_normal({200, 5}, 0, 0.01, 3, kg::dtype::float64);
  const auto [u, s, directions] = la::svd(points - kg::mean(points, 0));
  const kg::tensor share = kg::square(s) / kg::sum(kg::square(s));
  const kg::tensor coordinates = (u * s)(kg::ellipsis, kg::range(0, 2));
  std::printf("two of %d directions have %.1f%% of the variance\n", static_cast<int>(s.size()),
              100 * kg::sum(share(kg::range(0, 2))).item());
  std::cout << coordinates.dims() << "\n";
}

// The eigenvector of the largest eigenvalue, differentiated through a v = w v and v^T v = 1.
void an_eigenvector_through_its_equation() {
  const auto largest = kg::implicit(
      [](const kg::tensor& vw, const kg::tensor& a) {
        const kg::tensor v = vw(kg::range(0, 2)), w = vw(kg::range(2, 3));
        return kg::concat({kg::matmul(a, v) - w * v, kg::expand_dims(kg::dot(v, v) - 1, 0)}, 0);
      },
      [](const kg::tensor& a) {
        const auto [w, v] = la::eigh(a);
        return kg::concat({v(kg::all, 1), w(kg::range(1, 2))}, 0);
      });
  const kg::tensor a{{2.0, 1.0}, {1.0, 3.0}};
  const auto ratio = [&](const kg::tensor& m) {
    const kg::tensor vw = largest((m + kg::transpose(m)) / 2);
    return vw(0) / vw(1);
  };
  const auto by_rule = [](const kg::tensor& m) {
    const kg::tensor v = la::eigh(m).eigenvectors;
    return v(0, 1) / v(1, 1);
  };
  const kg::tensor g = kg::grad(ratio)(a);
  std::cout << (kg::max(kg::abs(g - kg::grad(by_rule)(a))).item() < 1e-6) << "\n";
}

// Position and velocity from positions that err by 0.5; the truth moves by 1 in each step.
void a_kalman_track() {
  const kg::tensor step{{1.0, 1.0}, {0.0, 1.0}}, seen{{1.0, 0.0}};
  const kg::tensor one = kg::eye(2, 2, 0, kg::dtype::float64), drift = one * 1e-4, noise{{0.25}};
  const kg::tensor errors = kg::random_normal({40}, 0, 0.5, 5, kg::dtype::float64);
  kg::tensor state = kg::zeros({2, 1}, kg::dtype::float64), covariance = one * 100;
  for (int t = 0; t < 40; ++t) {
    state = kg::matmul(step, state);
    covariance = la::multi_dot({step, covariance, la::matrix_transpose(step)}) + drift;
    const kg::tensor cross = kg::matmul(covariance, seen, false, true);
    const kg::tensor gain =
        la::matrix_transpose(la::solve(kg::matmul(seen, cross) + noise, la::matrix_transpose(cross)));
    state = state + kg::matmul(gain, errors(t) + t - kg::matmul(seen, state));
    covariance = covariance - kg::matmul(gain, la::matrix_transpose(cross));
  }
  std::printf("at %.1f +- %.1f, speed %.2f +- %.2f\n", state(0, 0).item(), kg::sqrt(covariance(0, 0)).item(),
              state(1, 0).item(), kg::sqrt(covariance(1, 1)).item());
}

}  // namespace

int main() {
  least_squares_with_uncertainty();
  whitening();
  principal_components();
  an_eigenvector_through_its_equation();
  a_kalman_track();
}
