// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/cookbook: images, signals, files.
#include <iostream>
#include <numbers>

import kerngrad;
import kerngrad.io;

namespace {

// ------------------------------------------------------------------------------------------------ images

void from_bytes_to_floats_and_back() {
  const kg::tensor bytes = kg::cast(kg::reshape(kg::arange(0, 240, 20), {2, 2, 3}), kg::dtype::uint8);
  const kg::tensor image = kg::cast(bytes, kg::dtype::float32) / 255;
  const kg::tensor again = kg::cast(kg::round(kg::clip(image, 0, 1) * 255), kg::dtype::uint8);
  std::cout << kg::name_of(image.type()) << ", " << kg::all(again == bytes).item() << "\n";
}

void resizing_and_cropping() {
  const kg::tensor image = kg::reshape(kg::arange(16), {4, 4, 1});
  const kg::tensor crop = image(kg::range(1, 3), kg::range(1, 3));
  const kg::tensor larger = kg::resize_bilinear(crop(kg::newaxis), {3, 3}, {.align_corners = true});
  std::cout << kg::squeeze(crop) << "\n" << kg::squeeze(larger) << "\n";
}

void a_blur() {
  const kg::tensor image = kg::reshape(kg::eye(3), {1, 3, 3, 1});
  const kg::tensor box = kg::full({3, 3, 1, 1}, 1.0 / 9);
  std::cout << kg::squeeze(kg::conv2d(image, box, {.pad = kg::same}) * 9) << "\n";
}

// ------------------------------------------------------------------------------------------------ signals

void the_strongest_frequency() {
  const kg::tensor time = kg::arange(64) / 64;
  const kg::tensor signal = kg::sin(time * (2 * std::numbers::pi * 5)) + 0.5;
  const kg::tensor power = kg::square(kg::complex_abs(kg::rfft(signal)));
  std::cout << power.dims()[0] << " bins, the strongest is " << kg::argmax(power.at(0).set(0)).item() << "\n";
}

void a_moving_average() {
  const kg::tensor x({1.f, 2.f, 6.f, 2.f, 1.f});
  std::cout << kg::mean(kg::frame(x, 3, 1), -1) << "\n";
}

void a_filter_by_convolution() {
  const kg::tensor x = kg::reshape(kg::tensor({0.f, 0.f, 1.f, 1.f, 1.f}), {5, 1});
  const kg::tensor difference = kg::reshape(kg::tensor({-1.f, 1.f}), {2, 1, 1});
  std::cout << kg::squeeze(kg::conv1d(x, difference)) << "\n";
}

void frequencies_over_time() {
  const kg::tensor chirp = kg::sin(kg::square(kg::arange(256) / 16));
  const kg::tensor bands = kg::complex_abs(kg::stft(chirp, 64, 32));
  std::cout << kg::to_string(bands.dims()) << "\n" << kg::argmax(bands, 1) << "\n";
}

// ------------------------------------------------------------------------------------------------ files

void arrays_for_numpy() {
  kg::io::save("both.npz", {{"x", kg::arange(3)}, {"y", kg::tensor({1, 2})}}, {.compressed = true});
  const kg::io::named_tensors both = kg::io::load("both.npz");
  for (const auto& [name, value] : both) std::cout << name << " " << kg::to_string(value.dims()) << "\n";
}

void a_table_with_a_missing_value() {
  kg::io::save_csv("table.csv", {{"time", "height"}, kg::tensor{{0.0, 1.5}, {0.5, 2.0}}});
  const kg::io::table read = kg::io::load_csv("table.csv");
  const kg::tensor height = read.values(kg::all, 1);
  std::cout << read.columns[1] << ": " << kg::mean(height(!kg::is_nan(height))).item() << "\n";
}

void a_picture() {
  const kg::tensor shade = kg::reshape(kg::linspace(0, 255, 4), {2, 2});
  kg::io::save("shade.png", kg::cast(shade, kg::dtype::uint8));
  std::cout << kg::squeeze(kg::io::load("shade.png")) << "\n";
}

}  // namespace

int main() {
  from_bytes_to_floats_and_back();
  resizing_and_cropping();
  a_blur();
  the_strongest_frequency();
  a_moving_average();
  a_filter_by_convolution();
  frequencies_over_time();
  arrays_for_numpy();
  a_table_with_a_missing_value();
  a_picture();
}
