// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/kalman.md: a track through noisy positions, by Kalman's filter.
#include <cstdio>
#include <iostream>
#include <numbers>

import kerngrad;
import kerngrad.io;
import kerngrad.linalg;

namespace {

using kg::tensor;
namespace la = kg::linalg;

// Distance of each pixel from the nearest of the points, less the point's margin.
tensor nearest(const tensor& points, const tensor& margins, int width, int height) {
  const tensor x = kg::reshape(kg::linspace(-4, 4, width), {1, width, 1});
  const tensor y = kg::reshape(kg::linspace(2, -2, height), {height, 1, 1});
  const tensor at = kg::cast(points, kg::dtype::float32);
  return kg::min(kg::hypot(x - at(kg::all, 0), y - at(kg::all, 1)) - kg::cast(margins, kg::dtype::float32), -1);
}

}  // namespace

int main() {
  constexpr int steps = 300;
  constexpr double error = 0.2, interval = 0.05, unrest = 1;
  kg::generator rng(7);
  const tensor t = kg::linspace(0, 2 * std::numbers::pi, steps, kg::dtype::float64);
  const tensor truth = kg::stack({kg::sin(t) * 3, kg::sin(t * 2) * 1.2}, 1);
  const tensor seen = truth + rng.normal(truth.dims(), 0, error, kg::dtype::float64);

  // The state is the position and the velocity. The acceleration is white noise.
  const tensor one = kg::eye(2, 2, 0, kg::dtype::float64), look = la::kron(tensor{{1.0, 0.0}}, one);
  const tensor step = la::kron(tensor{{1.0, interval}, {0.0, 1.0}}, one);
  const tensor drift = la::kron(tensor{{interval * interval / 3, interval / 2}, {interval / 2, 1.0}}, one);
  tensor state = kg::zeros({4}, kg::dtype::float64), covariance = kg::eye(4, 4, 0, kg::dtype::float64) * 10;
  kg::tensor_list track, margins;
  for (int i = 0; i < steps; ++i) {
    state = kg::matmul(step, state);
    covariance = la::multi_dot({step, covariance, kg::transpose(step)}) + drift * (unrest * interval);
    const tensor seen_part = kg::matmul(look, covariance);
    const tensor factor = la::cholesky(kg::matmul(seen_part, look, false, true) + one * (error * error));
    const tensor gain = la::cho_solve(factor, seen_part);  // transposed
    state = state + kg::matmul(seen(i) - kg::matmul(look, state), gain);
    covariance = covariance - kg::matmul(gain, seen_part, true);
    track.push_back(state(kg::range(0, 2)));
    margins.push_back(kg::sqrt(covariance(0, 0)) * 2);
  }
  const tensor path = kg::stack(track, 0), bands = kg::stack(margins, 0);
  const auto distance = [&](const tensor& x) { return kg::sqrt(kg::mean(kg::square(kg::norm(x - truth, 2, 1)))); };
  std::printf("positions err by %.2f, the track by %.2f\n", distance(seen).item(), distance(path).item());

  constexpr int width = 240, height = 120;
  const tensor none = kg::zeros({steps}), white = kg::full({height, width}, 255);
  tensor picture = kg::where(nearest(path, bands, width, height) < 0, 200, white);
  picture = kg::where(nearest(seen, none, width, height) < 0.04, 110, picture);
  picture = kg::where(nearest(path, none, width, height) < 0.04, 0, picture);
  kg::io::save("kalman.png", kg::cast(picture, kg::dtype::uint8));
  std::cout << kg::to_string(tensor(kg::io::load("kalman.png")).dims()) << "\n";
}
