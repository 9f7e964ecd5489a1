// SPDX-License-Identifier: Apache-2.0
// Graph models with an installed library: a function recorded, saved, loaded and run.
#include <filesystem>
#include <string>
import kerngrad;
import kerngrad.graph;

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "kerngrad-installed-graph";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "model.json").string();
  const kg::tensor x({1.f, -2.f});
  kg::graph::save(file, kg::graph::record([](const kg::tensor& t) { return kg::relu(t) * 3; }, x));
  const kg::graph::model m = kg::graph::load(file);
  const double sum = kg::sum(kg::tensor(m({{m.inputs()[0].key, x}}))).item();
  std::filesystem::remove_all(folder);
  return sum == 3 ? 0 : 1;
}
