// SPDX-License-Identifier: Apache-2.0
// Names of nodes for a file, whose weights are found by name in the graph and in all its functions.
module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

namespace kerngrad::graph::detail {

namespace {

// A use of a name. The graph's own come first: programs know them.
struct named_node {
  std::string_view name;
  std::size_t function;  // 0: the graph
  std::size_t node;
  tensor weight{};  // undefined: it has none
};

bool have_same_weight(const named_node& a, const named_node& b) {
  if (a.weight.defined() != b.weight.defined()) return false;
  if (!a.weight.defined()) return true;
  if (a.weight.signature() != b.weight.signature()) return false;
  if (a.weight.type() == dtype::text) return a.weight.to_texts() == b.weight.to_texts();
  const void *const one = a.weight.address(), *const other = b.weight.address();
  const std::size_t bytes = static_cast<std::size_t>(a.weight.size()) * size_of(a.weight.type());
  return one == other || bytes == 0 || std::memcmp(one, other, bytes) == 0;
}

tensor weight_in(const node& n) {
  const attribute* value = n.op == "Const" ? n.attr("value") : nullptr;
  return value ? value->value : tensor();
}

// All nodes by their names.
std::vector<named_node> nodes_of(const graph_def& graph) {
  std::vector<named_node> all;
  for (std::size_t i = 0; i < graph.main.nodes.size(); ++i) {
    const node& n = graph.main.nodes[i];
    all.push_back({n.name, 0, i, weight_in(n)});
  }
  for (const weight& w : graph.weights) all[static_cast<std::size_t>(w.at)].weight = value_of(w);
  for (std::size_t f = 0; f < graph.library.size(); ++f)
    for (std::size_t i = 0; i < graph.library[f].nodes.size(); ++i) {
      const node& n = graph.library[f].nodes[i];
      all.push_back({n.name, f + 1, i, weight_in(n)});
    }
  std::ranges::sort(all, [](const named_node& a, const named_node& b) {
    return std::pair(a.name, std::pair(a.function, a.node)) < std::pair(b.name, std::pair(b.function, b.node));
  });
  return all;
}

void rename(function_def& f, std::size_t at, const std::string& name) {
  f.nodes[at].name = name;
  for (std::size_t i = 0; i < f.arguments.size(); ++i)
    if (static_cast<std::size_t>(f.arguments[i].node) == at) f.inputs[i].key = f.inputs[i].node = name;
}

}  // namespace

void separate_names(graph_def& graph) {
  if (graph.library.empty()) return;
  const std::vector<named_node> all = nodes_of(graph);
  struct new_name {
    std::size_t function, node;
    std::string name;
  };
  std::vector<new_name> renamed;  // names are views of the nodes' until all are chosen
  for (auto first = all.begin(); first != all.end();) {
    const auto end = std::ranges::upper_bound(first, all.end(), first->name, {}, &named_node::name);
    std::size_t number = 0;
    for (auto other = first + 1; other != end; ++other) {
      if (have_same_weight(*first, *other)) continue;
      std::string name;
      do name = std::string(first->name) + "__" + std::to_string(++number);
      while (std::ranges::binary_search(all, std::string_view(name), {}, &named_node::name));
      renamed.push_back({other->function - 1, other->node, std::move(name)});
    }
    first = end;
  }
  for (const new_name& one : renamed) rename(graph.library[one.function], one.node, one.name);
}

}  // namespace kerngrad::graph::detail
