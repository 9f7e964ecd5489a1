// SPDX-License-Identifier: Apache-2.0
// Plans as they are seen: counted and drawn.
module;
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

#include "modules/graph/plan.h"

namespace kerngrad::graph {

using namespace detail;

namespace {

// In quotes for Graphviz.
std::string quoted(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + '"';
}

std::string_view kind_of(const step& s) { return s.kernel.empty() ? std::string_view(s.at->op) : s.kernel; }

}  // namespace

int plan::steps() const { return state_ ? static_cast<int>(state_->steps.steps.size()) : 0; }

std::string plan::to_dot() const {
  std::string text = "digraph plan {\n  node [shape=box];\n";
  if (!state_) return text + "}\n";
  const sequence& s = state_->steps;
  // Numbers of values are used again: each edge comes from the last step that gave the value.
  std::vector<std::string> from(static_cast<std::size_t>(s.values));
  for (std::size_t i = 0; i < s.params.size(); ++i) {
    if (s.params[i] < 0) continue;
    const std::string name = "in" + std::to_string(i);
    const std::size_t fed = state_->key.fed.size();
    text += "  " + name + " [shape=ellipse, label=" +
            quoted(i < fed ? state_->graph->main.nodes[static_cast<std::size_t>(state_->key.fed[i].at.node)].name
                           : state_->variables[i - fed].name()) +
            "];\n";
    from[static_cast<std::size_t>(s.params[i])] = name;
  }
  for (std::size_t i = 0; i < s.steps.size(); ++i) {
    const step& now = s.steps[i];
    const std::string name = "s" + std::to_string(i);
    text += "  " + name + " [label=" + quoted(std::string(kind_of(now)) + "\n" + now.at->name) + "];\n";
    for (const std::int32_t v : now.in)
      if (v >= 0) text += "  " + from[static_cast<std::size_t>(v)] + " -> " + name + ";\n";
    for (const std::int32_t v : now.out)
      if (v >= 0) from[static_cast<std::size_t>(v)] = name;
  }
  for (std::size_t i = 0; i < s.results.size(); ++i) {
    const std::string name = "out" + std::to_string(i);
    text += "  " + name + " [shape=ellipse];\n";
    if (s.results[i] >= 0) text += "  " + from[static_cast<std::size_t>(s.results[i])] + " -> " + name + ";\n";
  }
  return text + "}\n";
}

}  // namespace kerngrad::graph
