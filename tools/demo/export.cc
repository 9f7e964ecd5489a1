// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <vector>

#include "failure.h"
#include "network.h"
import kerngrad;
import kerngrad.graph;

namespace demo {

void network::export_to(const std::string& folder) const {
  std::vector<kg::variable> named;
  for (const layer& l : layers_) named.insert(named.end(), {l.weights, l.bias});
  const kg::named_operand images("images", kg::zeros({1, 28 * 28}));
  const auto f = [&](std::span<const kg::tensor> x) { return std::vector{scores(x[0], activation::composed)}; };
  const kg::graph::model recorded =
      kg::graph::record(f, {&images, 1}, {.outputs = {"scores"}, .named = std::move(named), .any_batch = true});
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw bad_input("--export " + folder + ": " + failed.message());
  kg::graph::save((std::filesystem::path(folder) / "model.json").string(), recorded);
}

}  // namespace demo
