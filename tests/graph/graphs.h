// SPDX-License-Identifier: Apache-2.0
// Graphs of a few nodes, written as the converter writes them.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/graph/one_op.h"

namespace kgtest {

inline json node_of(std::string_view name, std::string_view op, std::initializer_list<std::string_view> inputs = {},
                    json attrs = json::object()) {
  return {
      {"name", name}, {"op", op}, {"input", std::vector<std::string>(inputs.begin(), inputs.end())}, {"attr", attrs}};
}
inline json input_of(std::string_view name, std::string_view dtype = "DT_FLOAT") {
  return node_of(name, "Placeholder", {}, {{"dtype", type(dtype)}});
}

/// Weights are written beside the graph, one after the other.
struct weight {
  std::string name;
  kg::tensor value;
};

/// The model of such nodes, weights and functions in a folder of its own.
inline kg::graph::model model_with(json nodes, const std::vector<weight>& weights, const json& functions = {}) {
  const folder there;
  json manifest = json::array();
  std::string bytes;
  for (const weight& w : weights) {
    const bool whole = w.value.type() == kg::dtype::int32;
    nodes.push_back(node_of(w.name, "Const", {}, {{"dtype", type(whole ? "DT_INT32" : "DT_FLOAT")}}));
    manifest.push_back({{"name", w.name},
                        {"shape", std::vector<std::int64_t>(w.value.dims().begin(), w.value.dims().end())},
                        {"dtype", whole ? "int32" : "float32"}});
    bytes.append(static_cast<const char*>(w.value.address()), static_cast<std::size_t>(w.value.size()) * 4);
  }
  std::ofstream(there / "weights.bin", std::ios::binary) << bytes;
  json topology{{"node", nodes}, {"versions", {{"producer", 1}}}};
  if (!functions.is_null()) topology["library"] = {{"function", functions}};
  json whole{{"format", "graph-model"}, {"modelTopology", topology}, {"weightsManifest", json::array()}};
  if (!weights.empty()) whole["weightsManifest"].push_back({{"paths", {"weights.bin"}}, {"weights", manifest}});
  const std::string path = there / "model.json";
  std::ofstream(path) << whole.dump();
  return kg::graph::load(path);
}

}  // namespace kgtest
