// SPDX-License-Identifier: Apache-2.0
// Ordinary differential equations as a recipe: a step of Runge and Kutta, one of Dormand and Prince whose length
// follows the error, and derivatives of the solution, which are those of any function.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <vector>

import kerngrad;

namespace {

// One step of length h of y' = f(t, y), right to the fourth order.
template <class F>
kg::tensor rk4_step(F f, double t, const kg::tensor& y, double h) {
  const kg::tensor k1 = f(t, y);
  const kg::tensor k2 = f(t + h / 2, y + k1 * (h / 2));
  const kg::tensor k3 = f(t + h / 2, y + k2 * (h / 2));
  const kg::tensor k4 = f(t + h, y + k3 * h);
  return y + (k1 + k2 * 2 + k3 * 2 + k4) * (h / 6);
}

// The step of the fifth order, and by how much it differs from that of the fourth (Dormand and Prince 1980).
struct estimated_step {
  kg::tensor y, error;
};
template <class F>
estimated_step dormand_prince_step(F f, double t, const kg::tensor& y, double h) {
  static constexpr double a[7][6] = {{},
                                     {1.0 / 5},
                                     {3.0 / 40, 9.0 / 40},
                                     {44.0 / 45, -56.0 / 15, 32.0 / 9},
                                     {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                                     {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                                     {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
  static constexpr double c[7] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
  static constexpr double e[7] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                  -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
  std::vector<kg::tensor> k;
  kg::tensor at = y;
  for (int stage = 0; stage < 7; ++stage) {
    at = y;
    for (int j = 0; j < stage; ++j)
      if (a[stage][j] != 0) at = at + k[static_cast<std::size_t>(j)] * (h * a[stage][j]);
    k.push_back(f(t + c[stage] * h, at));
  }
  kg::tensor error = k[0] * (h * e[0]);
  for (std::size_t j = 1; j < 7; ++j) error = error + k[j] * (h * e[j]);
  return {at, error};  // the last stage is at the result
}

// y at the time `end`. The lengths of steps are numbers: gradients take them as they are.
template <class F>
kg::tensor solved(F f, kg::tensor y, double t, double end, double tolerance = 1e-9) {
  double h = (end - t) / 100;
  while (t < end) {
    h = std::min(h, end - t);
    const auto [next, error] = dormand_prince_step(f, t, y, h);
    const double size = kg::max(kg::abs(error)).item() / tolerance;
    if (size <= 1) t = t + h < end ? t + h : end, y = next;
    h *= std::clamp(0.9 * std::pow(std::fmax(size, 1e-10), -0.2), 0.2, 5.0);
  }
  return y;
}

kg::tensor oscillator(double, const kg::tensor& y) {
  const kg::tensor turn({0.0, 1.0, -1.0, 0.0}, {2, 2});
  return kg::reshape(kg::matmul(turn, kg::reshape(y, {2, 1})), {2});
}

}  // namespace

int main() {
  const kg::tensor start({1.0, 0.0});
  const double time = 2.5;
  const kg::tensor exact({std::cos(time), -std::sin(time)});
  const auto end = [&](const kg::tensor& y) { return solved(oscillator, y, 0, time); };
  const double error = kg::max(kg::abs(end(start) - exact)).item();

  kg::tensor y = start;
  for (int i = 0; i < 250; ++i) y = rk4_step(oscillator, i * 0.01, y, 0.01);
  const double rk4_error = kg::max(kg::abs(y - exact)).item();

  // How the end depends on the start is a rotation.
  const kg::tensor rotation({std::cos(time), std::sin(time), -std::sin(time), std::cos(time)}, {2, 2});
  const double jacobian_error = kg::max(kg::abs(kg::jacobian(end)(start) - rotation)).item();
  std::printf("errors %.1e, %.1e, %.1e\n", error, rk4_error, jacobian_error);
  return error < 1e-7 && rk4_error < 1e-8 && jacobian_error < 1e-7 ? EXIT_SUCCESS : EXIT_FAILURE;
}
