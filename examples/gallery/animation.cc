// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/animation.md: a drop falls on a membrane, as an SVG that moves.
#include <cstddef>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

import kerngrad;

namespace {

constexpr int size = 64, frames = 45, steps = 6;

// The next field, by central differences; a part of the speed is lost.
constexpr auto next_field = kg::fuse([](auto now, auto before, auto neighbours) {
  return now + (now - before) * 0.985f + (neighbours - now * 4) * 0.4f;
});

kg::tensor sum_of_neighbours(const kg::tensor& u) {
  const kg::tensor wide = kg::pad(u, {1, 1, 1, 1});
  const kg::range inside(1, -1), less(0, -2), more(2, kg::end);
  return wide(less, inside) + wide(more, inside) + wide(inside, less) + wide(inside, more);
}

// The field at each time, every second point of every third row, as whole pixels upwards: [frames, rows, points].
kg::tensor heights() {
  const kg::tensor at = kg::linspace(-1, 1, size);
  const kg::tensor x = at - 0.2, y = kg::expand_dims(at, 1) + 0.1;
  kg::tensor u = kg::exp((x * x + y * y) * -60), before = u;
  std::vector<kg::tensor> seen;
  for (int step = 0; step < frames * steps; ++step) {
    if (step % steps == 0) seen.push_back(u(kg::range(0, kg::end, 3), kg::range(0, kg::end, 2)));
    const kg::tensor next = next_field(u, before, sum_of_neighbours(u));
    before = u;
    u = next;
  }
  return kg::cast(kg::round(kg::stack(seen) * 90), kg::dtype::int32);
}

// A row of points as a path from left to right, 10 pixels each, down to the paper and back below.
std::string outline(const kg::tensor& row, int base) {
  std::string path = "M0 " + std::to_string(base - row.item<std::int32_t>(0)) + "l";
  const kg::tensor down = -kg::diff(row);
  for (const std::int32_t change : down.data<std::int32_t>()) path += "10 " + std::to_string(change) + " ";
  return path + "v40H0z";
}

}  // namespace

int main() {
  const kg::tensor all = heights();
  const std::int64_t rows = all.dims()[1], width = (all.dims()[2] - 1) * 10;
  std::ofstream svg("animation.svg");
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-20 0 " << width + 40 << " 270\">\n"
      << "<title>A drop falls on a membrane</title>\n"
      << "<style>path { fill: #10243c; stroke: #9fd0ff; stroke-linejoin: round }\n"
      // Who asks for less motion sees one frame.
      << ".still { display: none }\n"
      << "@media (prefers-reduced-motion: reduce) { .still { display: inline } .moving { display: none } }</style>\n"
      << "<rect x=\"-20\" width=\"100%\" height=\"100%\" fill=\"#10243c\"/>\n";
  for (std::int64_t row = 0; row < rows; ++row) {
    const int base = 40 + 10 * static_cast<int>(row);
    svg << "<path class=\"still\" d=\"" << outline(all(frames / 4, row), base) << "\"/><path class=\"moving\" d=\""
        << outline(all(0, row), base)
        << "\"><animate attributeName=\"d\" dur=\"4s\" repeatCount=\"indefinite\" values=\"";
    for (int frame = 0; frame < frames; ++frame) svg << (frame ? ";" : "") << outline(all(frame, row), base);
    svg << "\"/></path>\n";
  }
  svg << "</svg>\n";
  std::cout << rows << " rows of " << frames << " frames, "
            << (kg::max(kg::abs(all(-1))).item() < 3 ? "at rest in the end" : "still moving in the end") << "\n";
}
