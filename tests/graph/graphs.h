// SPDX-License-Identifier: Apache-2.0
// Graphs of a few nodes, written as the converter writes them.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
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
inline json whole_of(std::string_view name, std::int32_t value) {
  const json x{{"dtype", "DT_INT32"}, {"tensorShape", json::object()}, {"intVal", std::vector{value}}};
  return node_of(name, "Const", {}, {{"dtype", type("DT_INT32")}, {"value", {{"tensor", x}}}});
}

/// A function of the graph's library. Arguments are names and dtypes, results keys and places such as "sum:z:0".
using name_pairs = std::vector<std::pair<std::string, std::string>>;
inline json function_of(std::string_view name, const name_pairs& arguments, const name_pairs& results,
                        const std::vector<json>& nodes) {
  json in = json::array(), out = json::array(), ret = json::object();
  for (const auto& [argument, dtype] : arguments) in.push_back({{"name", argument}, {"type", dtype}});
  for (const auto& [key, place] : results) out.push_back({{"name", key}}), ret[key] = place;
  return {{"signature", {{"name", name}, {"inputArg", in}, {"outputArg", out}}}, {"nodeDef", nodes}, {"ret", ret}};
}
inline json calls(std::string_view function) { return {{"func", {{"name", function}}}}; }

/// Weights are written beside the graph, one after the other: float32 and int32.
struct weight {
  std::string name;
  kg::tensor value;
};

/// The model of such nodes, weights and functions.
inline kg::graph::model model_with(std::vector<json> nodes, const std::vector<weight>& weights = {},
                                   const std::vector<json>& functions = {}, const json& signature = {},
                                   const kg::graph::load_options& how = {}) {
  const folder there;
  json manifest = json::array();
  std::string bytes;
  for (const weight& w : weights) {
    const bool whole = w.value.type() == kg::dtype::int32;
    nodes.push_back(node_of(w.name, "Const", {}, {{"dtype", type(whole ? "DT_INT32" : "DT_FLOAT")}}));
    manifest.push_back({{"name", w.name},
                        {"shape", std::vector<std::int64_t>(w.value.dims().begin(), w.value.dims().end())},
                        {"dtype", whole ? "int32" : "float32"}});
    bytes.append(elements(w.value));
  }
  std::ofstream(there / "weights.bin", std::ios::binary) << bytes;
  const json topology{{"node", nodes}, {"library", {{"function", functions}}}, {"versions", {{"producer", 1}}}};
  json whole{{"format", "graph-model"}, {"modelTopology", topology}, {"weightsManifest", json::array()}};
  if (!signature.is_null()) whole["signature"] = signature;
  const std::vector<std::string> files{"weights.bin"};
  if (!weights.empty()) whole["weightsManifest"].push_back({{"paths", files}, {"weights", manifest}});
  const std::string path = there / "model.json";
  std::ofstream(path) << whole.dump();
  return kg::graph::load(path, how);
}

}  // namespace kgtest
