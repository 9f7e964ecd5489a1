// SPDX-License-Identifier: Apache-2.0
// Graph models from files.
module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/io/json.h"
module kerngrad.graph;

import kerngrad.io;

#include "modules/graph/files.h"

namespace kerngrad::graph {

using namespace detail;

namespace {

void check_format(const origin& file, const json& document) {
  const json* format = member(document, "format");
  if (!format || *format == "graph-model") return;
  file.refuse("is of format " + in_quotes(format->is_string() ? std::string(format->text()) : format->shown()),
              "\"graph-model\"",
              *format == "layers-model" ? "tensorflowjs_converter --output_format=tfjs_graph_model makes one" : "");
}

model model_in(const origin& file, const io::mapped_bytes& text, const load_options& how) {
  auto graph = std::make_shared<graph_def>();
  const json_document read = parsed(file, {reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()});
  const json& document = read.root();
  check_format(file, document);
  const json* topology = member(document, "modelTopology");
  if (!topology) file.refuse("has no \"modelTopology\"", "a graph model's JSON");
  std::int64_t bytes_left = how.most_bytes;
  *graph = topology_in(file, *topology, how, bytes_left);
  graph->limits = {how.most_bytes, how.most_iterations};
  read_ports(file, document, graph->main);
  check_arities(file, *graph);
  read_weights(file, document, *graph, bytes_left);
  return make_model(std::move(graph));
}

bool was_replaced(const std::string& path, const io::mapped_bytes& text) {
  try {
    return io::map_file(path, "load").id != text.id;
  } catch (const error&) {
    return false;  // the first error says more
  }
}

}  // namespace

model load(const std::string& path, const load_options& how) {
  constexpr int most_attempts = 100;  // another process may save in a loop
  const origin file{path};
  for (int attempt = 1;; ++attempt) {
    const io::mapped_bytes text = io::map_file(path, "load");
    try {
      return model_in(file, text, how);
    } catch (const error&) {
      // A save that came in between removes the weight files of the model that it replaces.
      if (attempt == most_attempts || !was_replaced(path, text)) throw;
    }
  }
}

namespace detail {

const attribute* node::attr(std::string_view wanted) const {
  for (const attribute& a : attrs)
    if (a.name == wanted) return &a;
  return nullptr;
}

const function_def* graph_def::function_named(std::string_view name) const {
  const auto name_of = [&](std::int32_t i) { return std::string_view(library[static_cast<std::size_t>(i)].name); };
  const auto found = std::ranges::lower_bound(by_name, name, {}, name_of);
  if (found == by_name.end() || name_of(*found) != name) return nullptr;
  return &library[static_cast<std::size_t>(*found)];
}

}  // namespace detail

}  // namespace kerngrad::graph
