// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/restore.md: a blurred and noisy picture, and what can be had back of it.
#include <iostream>

import kerngrad;
import kerngrad.io;

namespace {

constexpr int size = 128;

// A picture to begin with: a ball in the light over tiles.
kg::tensor scene() {
  const kg::tensor x = kg::linspace(-1, 1, size), y = kg::expand_dims(kg::linspace(-1, 1, size), 1);
  const kg::tensor tiles = kg::cast((kg::sin(x * 10) * kg::sin(y * 10) > 0), kg::dtype::float32);
  const kg::tensor height = kg::sqrt(kg::relu(0.4 - x * x - y * y));
  const kg::tensor light = kg::relu(height * 1.2 - x * 0.6 - y * 0.7) * 0.9 + 0.1;
  const auto channel = [&](double ball, double dark, double bright) {
    return kg::where(height > 0, light * ball, tiles * (bright - dark) + dark);
  };
  return kg::stack({channel(1.0, 0.15, 0.9), channel(0.45, 0.25, 0.85), channel(0.2, 0.35, 0.7)}, -1);
}

// A Gaussian bell over each channel of [1, height, width, 3], along rows and then along columns.
kg::tensor blurred(const kg::tensor& pictures) {
  const kg::tensor bell = kg::exp(kg::square(kg::linspace(-4, 4, 9)) / (-2 * 1.6 * 1.6));
  const kg::tensor weights = kg::repeat(kg::reshape(bell / kg::sum(bell), {1, 9, 1, 1}), 3, 2);
  const kg::tensor wide = kg::pad(pictures, {0, 0, 4, 4, 4, 4, 0, 0}, kg::pad_mode::edge);
  return kg::depthwise_conv2d(kg::depthwise_conv2d(wide, weights), kg::transpose(weights, {1, 0, 2, 3}));
}

void save(const char* path, const kg::tensor& picture) {
  kg::io::save(path, kg::cast(kg::round(kg::clip(picture, 0, 1) * 255), kg::dtype::uint8));
}

}  // namespace

int main() {
  kg::generator rng(2);
  const kg::tensor truth = scene();
  save("photo.png", blurred(truth(kg::newaxis))(0) + rng.normal({size, size, 3}, 0, 0.04));

  const kg::tensor photo = kg::cast(kg::tensor(kg::io::load("photo.png")), kg::dtype::float32) / 255;
  const kg::variable restored(photo(kg::newaxis));
  // Finds the image that looks like the photo when it is blurred, and has no more jumps than it needs.
  const auto misfit = [&] { return kg::mean(kg::square(blurred(restored) - photo)); };
  const auto jumps = [&](int axis) {  // next to nothing for even areas, little for an edge, much for noise
    const kg::tensor step = kg::diff(restored.value(), 1, axis);
    return kg::mean(kg::sqrt(step * step + 1e-4));
  };
  kg::adam optimizer(0.02);
  for (int i = 0; i < 200; ++i) optimizer.minimize([&] { return misfit() + (jumps(1) + jumps(2)) * 0.006; });

  save("restore.png", kg::concat({photo, restored.value()(0)}, 1));
  const auto error = [&](const kg::tensor& picture) { return kg::mean(kg::square(picture - truth)).item(); };
  std::cout << "the squared error is " << (error(restored.value()(0)) < error(photo) / 3 ? "less" : "more")
            << " than a third of what it was\n";
}
