// SPDX-License-Identifier: Apache-2.0
#include "tests/graph/graphs.h"

namespace kgtest {

std::string base64(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) result += i + j > text.size() ? '=' : letters[bits >> (18 - 6 * j) & 63];
  }
  return result;
}

json flag(bool value) { return {{"b", value}}; }

json whole(std::int64_t value) { return {{"i", std::to_string(value)}}; }

json number(double value) { return {{"f", value}}; }

json text(std::string_view value) { return {{"s", base64(value)}}; }

json type(std::string_view value) { return {{"type", value}}; }

json wholes(std::initializer_list<std::int64_t> values) {
  json list = json::array();
  for (const std::int64_t value : values) list.push_back(std::to_string(value));
  return {{"list", {{"i", list}}}};
}

json texts(std::initializer_list<std::string_view> values) {
  json list = json::array();
  for (const std::string_view value : values) list.push_back(base64(value));
  return {{"list", {{"s", list}}}};
}

std::string graph_type(kg::dtype type) {
  switch (type) {
    case kg::dtype::int32: return "DT_INT32";
    case kg::dtype::boolean: return "DT_BOOL";
    case kg::dtype::text: return "DT_STRING";
    case kg::dtype::complex64: return "DT_COMPLEX64";
    default: return "DT_FLOAT";
  }
}

kg::graph::model model_of(const json& nodes) {
  const folder there;
  const std::string path = there / "model.json";
  const json whole_model{{"format", "graph-model"},
                         {"modelTopology", {{"node", nodes}, {"versions", {{"producer", 1}}}}},
                         {"weightsManifest", json::array()}};
  std::ofstream(path) << whole_model.dump();
  return kg::graph::load(path);
}

kg::graph::model model_of_op(std::string_view op, const json& attrs, const std::vector<kg::tensor>& inputs) {
  json nodes = json::array(), names = json::array();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    nodes.push_back({{"name", name}, {"op", "Placeholder"}, {"attr", {{"dtype", type(graph_type(inputs[i].type()))}}}});
    names.push_back(name);
  }
  nodes.push_back({{"name", "y"}, {"op", op}, {"input", names}, {"attr", attrs}});
  return model_of(nodes);
}

std::vector<kg::tensor> run_op(std::string_view op, const json& attrs, const std::vector<kg::tensor>& inputs,
                               std::size_t results) {
  const kg::graph::model m = model_of_op(op, attrs, inputs);
  std::vector<kg::named_operand> operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) operands.emplace_back("x" + std::to_string(i), inputs[i]);
  std::vector<std::string> wanted;
  for (std::size_t k = 0; k < results; ++k) wanted.push_back("y:" + std::to_string(k));
  const kg::graph::results all = m(operands, wanted);
  return {all.begin(), all.end()};
}

json node_of(std::string_view name, std::string_view op, std::initializer_list<std::string_view> inputs, json attrs) {
  return {
      {"name", name}, {"op", op}, {"input", std::vector<std::string>(inputs.begin(), inputs.end())}, {"attr", attrs}};
}

json input_of(std::string_view name, std::string_view dtype) {
  return node_of(name, "Placeholder", {}, {{"dtype", type(dtype)}});
}

json whole_of(std::string_view name, std::int32_t value) {
  const json x{{"dtype", "DT_INT32"}, {"tensorShape", json::object()}, {"intVal", std::vector{value}}};
  return node_of(name, "Const", {}, {{"dtype", type("DT_INT32")}, {"value", {{"tensor", x}}}});
}

json function_of(std::string_view name, const name_pairs& arguments, const name_pairs& results,
                 const std::vector<json>& nodes) {
  json in = json::array(), out = json::array(), ret = json::object();
  for (const auto& [argument, dtype] : arguments) in.push_back({{"name", argument}, {"type", dtype}});
  for (const auto& [key, place] : results) out.push_back({{"name", key}}), ret[key] = place;
  return {{"signature", {{"name", name}, {"inputArg", in}, {"outputArg", out}}}, {"nodeDef", nodes}, {"ret", ret}};
}

json calls(std::string_view function) { return {{"func", {{"name", function}}}}; }

kg::graph::model model_with(std::vector<json> nodes, const std::vector<weight>& weights,
                            const std::vector<json>& functions, const json& signature,
                            const kg::graph::load_options& how) {
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
