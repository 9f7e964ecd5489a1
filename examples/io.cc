// SPDX-License-Identifier: Apache-2.0
// The examples of docs/io.md: tensors, tables, pictures and sounds in files, and a resumed training.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

import kerngrad;
import kerngrad.io;

namespace {

void arrays() {
  const kg::tensor x = kg::reshape(kg::linspace(0, 1, 6), {2, 3}), y({1, 2, 3});
  kg::io::save("x.npy", x);
  kg::io::save("both.npz", {{"x", x}, {"y", y}}, {.compressed = true});
  kg::io::save("both.safetensors", {{"x", x}, {"y", y}});

  const kg::tensor same = kg::io::load("x.npy");
  const kg::io::named_tensors both = kg::io::load("both.npz");
  for (const auto& [name, value] : both) std::cout << name << ": " << value << "\n";
  std::cout << kg::sum(both.at("x") - same).item() << "\n";

  const kg::tensor only_y = kg::io::load("both.safetensors", {"y"});
  for (const kg::io::skipped_entry& entry : both.skipped()) std::cout << entry.name << " " << entry.reason << "\n";
  std::cout << only_y << "\n";
}

void tables() {
  kg::io::save_csv("t.csv", {{"time", "height"}, kg::tensor({0.0, 1.5, 0.1, 1.25}, {2, 2})});
  const kg::io::table found = kg::io::load_csv("t.csv");
  std::cout << found.columns[1] << ": " << found.values << "\n";
}

void pictures() {
  const kg::tensor ramp = kg::reshape(kg::linspace(0, 255, 256), {1, 256, 1});
  kg::io::save("ramp.png", kg::cast(kg::tile(ramp, {16, 1, 3}), kg::dtype::uint8));
  const kg::tensor pixels = kg::io::load("ramp.png");
  std::cout << kg::to_string(pixels.dims()) << "\n";
}

void sounds() {
  kg::io::save_wav("tone.wav", {kg::sin(kg::arange(8000) * 0.3454), 8000}, kg::io::wav_samples::pcm24);
  const kg::io::audio tone = kg::io::load_wav("tone.wav");
  std::cout << tone.samples.dims()[0] / tone.rate << " second\n";
}

// Five steps, or what is left of them after a break.
double train(bool from_file) {
  const std::vector<kg::variable> all{kg::variable(kg::tensor({3.f, -2.f}), "w")};
  kg::adam by(0.1);
  if (from_file) kg::io::restore(kg::io::load("run.safetensors"), all, by);
  while (by.steps() < 5) {
    by.minimize([&] { return kg::sum(kg::square(all[0].value())); });
    if (by.steps() == 2) kg::io::save("run.safetensors", kg::io::state_of(all, by));
  }
  return kg::sum(all[0].value()).item();
}

}  // namespace

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("kerngrad-example-" + std::to_string(std::random_device{}()));
  std::filesystem::create_directory(folder);
  std::filesystem::current_path(folder);
  arrays();
  tables();
  pictures();
  sounds();
  const bool alike = train(false) == train(true);
  try {
    kg::io::load("no such file.npy");
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
  return alike ? EXIT_SUCCESS : EXIT_FAILURE;
}
