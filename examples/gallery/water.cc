// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/water.md: shallow water after a drop, as a strip of six images.
#include <array>
#include <iostream>
#include <span>
#include <vector>

import kerngrad;
import kerngrad.io;

int main() {
  constexpr double c = 0.4;  // time step over cell size, in units where gravity and the depth at rest are 1
  using fields = std::span<const kg::field>;
  const auto flow = kg::fuse(3, kg::boundary::periodic, [](fields x) {
    const kg::field h = x[0], u = x[1], v = x[2];
    return std::array{u() - (h(0, 1) - h()) * c, v() - (h(1, 0) - h()) * c};
  });
  const auto level = kg::fuse(3, kg::boundary::periodic, [](fields x) {
    const kg::field h = x[0], u = x[1], v = x[2];
    const kg::symbol east = u() * (h() + h(0, 1)), west = u(0, -1) * (h(0, -1) + h());
    const kg::symbol south = v() * (h() + h(1, 0)), north = v(-1, 0) * (h(-1, 0) + h());
    return h() - (east - west + south - north) * (c / 2);
  });

  constexpr int size = 64, frames = 6, steps = 16;
  const kg::tensor at = kg::linspace(-1, 1, size);
  const kg::tensor x = at - 0.3, y = kg::expand_dims(at, 1) + 0.2;
  kg::tensor h = 1 + kg::exp((x * x + y * y) * -40) * 0.2, u = kg::zeros_like(h), v = u;
  const double volume = kg::sum(h).item();
  std::vector<kg::tensor> strip;
  for (int step = 0; step < frames * steps; ++step) {
    if (step % steps == 0) strip.push_back(h);
    auto [east, south] = flow(h, u, v);
    h = level(h, east, south);
    u = east, v = south;
  }

  const kg::tensor heights = kg::clip((kg::concat(strip, 1) - 1) * 10, -1, 1);
  const kg::tensor red = kg::relu(heights), blue = kg::relu(-heights);
  const kg::tensor image = kg::stack({1 - blue, 1 - red - blue, 1 - red}, -1);
  kg::io::save("water.png", kg::cast(kg::round(image * 255), kg::dtype::uint8));
  std::cout << kg::to_string(kg::tensor(kg::io::load("water.png")).dims()) << "\n";
  std::cout << (kg::abs(kg::sum(h) - volume).item() < 0.01 ? "no water is lost" : "water is lost") << "\n";
}
