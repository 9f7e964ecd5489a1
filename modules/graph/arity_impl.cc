// SPDX-License-Identifier: Apache-2.0
// Arities of nodes: how many inputs they have, and which results of theirs are read. The planner and the executor read
// inputs by their indices and rely on this.
module;
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/io/json.h"
module kerngrad.graph;

#include "modules/graph/files.h"

namespace kerngrad::graph::detail {

namespace {

std::string name_of(const node& n) { return "node " + in_quotes(n.name); }

std::string inputs_of(const op_arity& arity) {
  const std::string least = std::to_string(arity.least);
  if (arity.most == op_arity::any) return "at least " + least;
  return arity.least == arity.most ? least : least + " to " + std::to_string(arity.most);
}

std::optional<std::int32_t> result_count(const node& n, const op_arity& arity) {
  if (arity.results == op_arity::as_inputs) return static_cast<std::int32_t>(n.inputs.size());
  return arity.results == op_arity::any ? std::nullopt : std::optional(arity.results);
}

class arity_check {
 public:
  arity_check(const origin& file, const function_def& f) : file_(file), f_(f) {
    arities_.reserve(f.nodes.size());
    for (const node& n : f.nodes) arities_.push_back(arity_of(n.op));
  }
  void run() const {
    for (std::size_t i = 0; i < f_.nodes.size(); ++i) {
      const node& n = f_.nodes[i];
      check_inputs(n, arities_[i]);
      for (const endpoint& e : n.inputs) check_result(e, [&] { return name_of(n) + " with an input"; });
    }
    for (const endpoint& e : f_.arguments) check_result(e, [] { return std::string("an input"); });
    for (const endpoint& e : f_.results) check_result(e, [] { return std::string("an output"); });
  }

 private:
  void check_inputs(const node& n, const op_arity& arity) const {
    const auto count = static_cast<std::int64_t>(n.inputs.size());
    if (count < arity.least || (arity.most != op_arity::any && count > arity.most))
      file_.refuse("has " + name_of(n) + " of op " + in_quotes(n.op) + " with " + std::to_string(count) + " inputs",
                   inputs_of(arity));
  }
  // `reader` says who reads the result.
  template <class Reader>
  void check_result(endpoint e, Reader reader) const {
    const auto at = static_cast<std::size_t>(e.node);
    const std::optional<std::int32_t> count = result_count(f_.nodes[at], arities_[at]);
    if (count && e.output >= *count)
      file_.refuse("has " + reader() + " that is result " + std::to_string(e.output) + " of " + name_of(f_.nodes[at]) +
                       " of op " + in_quotes(f_.nodes[at].op),
                   "one of its " + std::to_string(*count) + " results, counted from 0");
  }

  const origin& file_;
  const function_def& f_;
  std::vector<op_arity> arities_;  // of the nodes
};

}  // namespace

std::optional<std::int32_t> result_count(const node& at) { return result_count(at, arity_of(at.op)); }

void check_arities(const origin& file, const graph_def& graph) {
  arity_check(file, graph.main).run();
  for (const function_def& f : graph.library) arity_check(file, f).run();
}

}  // namespace kerngrad::graph::detail
