// SPDX-License-Identifier: Apache-2.0
// The program of docs/gallery/spectrogram.md: which frequencies a signal has, over time.
#include <iostream>
#include <numbers>

import kerngrad;
import kerngrad.io;

int main() {
  kg::generator rng(3);
  const kg::tensor time = kg::arange(0, 8000, 1, kg::dtype::float64) / 8000;
  const kg::tensor chirp = kg::sin((200 * time + 800 * time * time) * (2 * std::numbers::pi));
  const kg::tensor tone = kg::sin(time * (2 * std::numbers::pi * 3000)) * 0.3;
  const kg::tensor signal = kg::cast(chirp + tone, kg::dtype::float32) + rng.normal({8000}, 0, 0.05);

  const kg::tensor power = kg::square(kg::complex_abs(kg::stft(signal, 256, 64)));
  const kg::tensor decibels = kg::log10(power / kg::max(power) + 1e-6) * 10;
  const kg::tensor brightness = kg::reverse(kg::transpose(decibels), 0) / 60 + 1;
  kg::io::save("spectrogram.png", kg::cast(kg::clip(brightness, 0, 1) * 255, kg::dtype::uint8));
  std::cout << kg::to_string(kg::tensor(kg::io::load("spectrogram.png")).dims()) << "\n";

  const kg::tensor loudest = kg::argmax(power, 1);
  std::cout << loudest(0).item() * 31.25 << ", " << loudest(60).item() * 31.25 << ", " << loudest(-1).item() * 31.25
            << " Hz\n";
}
