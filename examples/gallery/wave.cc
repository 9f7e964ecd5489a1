// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/wave.md: a wave on a membrane, as a strip of six pictures.
#include <iostream>
#include <vector>

import kerngrad;
import kerngrad.io;

namespace {

// The next field, from this one, the one before it and the sum of the four neighbours; rate is (c dt / dx)^2.
constexpr auto next_field = kg::fuse(
    [](auto now, auto before, auto neighbours, auto rate) { return now * 2 - before + (neighbours - now * 4) * rate; });

kg::tensor sum_of_neighbours(const kg::tensor& u) {
  const kg::tensor wide = kg::pad(u, {1, 1, 1, 1});
  const kg::range inside(1, -1), less(0, -2), more(2, kg::end);
  return wide(less, inside) + wide(more, inside) + wide(inside, less) + wide(inside, more);
}

}  // namespace

int main() {
  constexpr int size = 64, frames = 6, steps = 16;
  const kg::tensor at = kg::linspace(-1, 1, size);
  const kg::tensor x = at - 0.3, y = kg::expand_dims(at, 1) + 0.2;
  kg::tensor u = kg::exp((x * x + y * y) * -40), before = u;  // a bump at rest
  std::vector<kg::tensor> strip;
  for (int step = 0; step < frames * steps; ++step) {
    if (step % steps == 0) strip.push_back(u);
    const kg::tensor next = next_field(u, before, sum_of_neighbours(u), 0.4f);
    before = u;
    u = next;
  }

  const kg::tensor heights = kg::clip(kg::concat(strip, 1) * 2, -1, 1);
  const kg::tensor red = kg::relu(heights), blue = kg::relu(-heights);
  const kg::tensor picture = kg::stack({1 - blue, 1 - red - blue, 1 - red}, -1);
  kg::io::save("wave.png", kg::cast(kg::round(picture * 255), kg::dtype::uint8));
  std::cout << kg::to_string(kg::tensor(kg::io::load("wave.png")).dims()) << "\n";
  std::cout << (kg::max(kg::abs(u)).item() < 1 ? "it stays bounded" : "it grows") << "\n";
}
