// SPDX-License-Identifier: Apache-2.0
// Graphs of one node, written as the converter writes them.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/files.h"

import kerngrad.graph;

namespace kgtest {

using nlohmann::json;

/// Texts are written in base64 (RFC 4648).
inline std::string base64(std::string_view text) {
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

// Attributes.
inline json flag(bool value) { return {{"b", value}}; }
inline json whole(std::int64_t value) { return {{"i", std::to_string(value)}}; }
inline json number(double value) { return {{"f", value}}; }
inline json text(std::string_view value) { return {{"s", base64(value)}}; }
inline json type(std::string_view value) { return {{"type", value}}; }
inline json wholes(std::initializer_list<std::int64_t> values) {
  json list = json::array();
  for (const std::int64_t value : values) list.push_back(std::to_string(value));
  return {{"list", {{"i", list}}}};
}
inline json texts(std::initializer_list<std::string_view> values) {
  json list = json::array();
  for (const std::string_view value : values) list.push_back(base64(value));
  return {{"list", {{"s", list}}}};
}

inline std::string graph_type(kg::dtype type) {
  switch (type) {
    case kg::dtype::int32: return "DT_INT32";
    case kg::dtype::boolean: return "DT_BOOL";
    case kg::dtype::text: return "DT_STRING";
    case kg::dtype::complex64: return "DT_COMPLEX64";
    default: return "DT_FLOAT";
  }
}

/// The graph model in a file of the folder.
inline kg::graph::model model_of(const json& nodes) {
  const folder there;
  const std::string path = there / "model.json";
  const json whole_model{{"format", "graph-model"},
                         {"modelTopology", {{"node", nodes}, {"versions", {{"producer", 1}}}}},
                         {"weightsManifest", json::array()}};
  std::ofstream(path) << whole_model.dump();
  return kg::graph::load(path);
}

/// Placeholders x0, x1, ... for the inputs, and the node y.
inline kg::graph::model model_of_op(std::string_view op, const json& attrs, const std::vector<kg::tensor>& inputs) {
  json nodes = json::array(), names = json::array();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "x" + std::to_string(i);
    nodes.push_back({{"name", name}, {"op", "Placeholder"}, {"attr", {{"dtype", type(graph_type(inputs[i].type()))}}}});
    names.push_back(name);
  }
  nodes.push_back({{"name", "y"}, {"op", op}, {"input", names}, {"attr", attrs}});
  return model_of(nodes);
}

/// The first results of a node of that op.
inline std::vector<kg::tensor> run_op(std::string_view op, const json& attrs, const std::vector<kg::tensor>& inputs,
                                      std::size_t results = 1) {
  const kg::graph::model m = model_of_op(op, attrs, inputs);
  std::vector<kg::named_operand> operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) operands.emplace_back("x" + std::to_string(i), inputs[i]);
  std::vector<std::string> wanted;
  for (std::size_t k = 0; k < results; ++k) wanted.push_back("y:" + std::to_string(k));
  const kg::graph::results all = m(operands, wanted);
  return {all.begin(), all.end()};
}

}  // namespace kgtest
