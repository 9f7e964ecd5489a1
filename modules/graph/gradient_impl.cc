// SPDX-License-Identifier: Apache-2.0
// Weights as variables. From the first call on the model reads them, and nothing is folded that depends on them.
module;
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

#include "modules/graph/plan.h"

namespace kerngrad::graph {

using namespace detail;

std::vector<variable> model::variables() const {
  if (!state_) fail("model", "an empty model", "a model that was loaded or recorded");
  std::shared_ptr<const weight_variables> now = state_->variables.load();
  if (!now) {
    auto made = std::make_shared<weight_variables>();
    const std::span<const tensor> weights = weights_of(*state_);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const tensor& x = weights[i];
      if (!x.defined() || !floating.has(x.type())) continue;
      made->nodes.push_back(static_cast<std::int32_t>(i));
      made->variables.emplace_back(x, state_->graph->main.nodes[i].name);
    }
    const std::shared_ptr<const weight_variables> mine = std::move(made);
    if (state_->variables.compare_exchange_strong(now, mine)) now = mine;
  }
  return now->variables;
}

namespace detail {

graph_def graph_of(const model& m) {
  const std::shared_ptr<model_state>& state = model_access::state(m);
  if (!state) fail("model", "an empty model", "a model that was loaded or recorded");
  graph_def now = *state->graph;
  for (weight& w : now.weights) w = {w.at, weights_of(*state)[static_cast<std::size_t>(w.at)]};
  const std::shared_ptr<const weight_variables> all = state->variables.load();
  if (!all) return now;
  for (weight& w : now.weights)
    for (std::size_t i = 0; i < all->nodes.size(); ++i)
      if (all->nodes[i] == w.at) w.stored = stop_gradient(all->variables[i].value());
  return now;
}

}  // namespace detail

}  // namespace kerngrad::graph
