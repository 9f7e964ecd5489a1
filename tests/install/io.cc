// SPDX-License-Identifier: Apache-2.0
// Files with an installed library: a picture and an archive, by what reads them.
#include <cstddef>
#include <filesystem>
#include <string>
import kerngrad;
import kerngrad.io;

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::string archive = folder / "kerngrad-installed.npz", picture = folder / "kerngrad-installed.png";
  const kg::tensor x({1.f, 2.f}), pixels = kg::cast(kg::ones({2, 2, 3}), kg::dtype::uint8);
  kg::io::save(archive, {{"x", x}}, {.compressed = true});
  kg::io::save(picture, pixels);
  const bool alike =
      kg::sum(kg::io::load(archive).at("x")).item() == 3 && kg::tensor(kg::io::load(picture)).size() == 12;
  std::filesystem::remove(archive);
  std::filesystem::remove(picture);
  return alike ? 0 : 1;
}
