// SPDX-License-Identifier: Apache-2.0
// Models as their users see them: names of inputs and outputs become endpoints of the graph, and a plan is run.
module;
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

#include "modules/graph/plan.h"

namespace kerngrad::graph {

using namespace detail;

namespace {

template <class Items, class Name>
std::string listed(const Items& items, Name name_of) {
  std::string all;
  for (const auto& item : items) all += (all.empty() ? "" : ", ") + std::string(name_of(item));
  return all.empty() ? "none" : all;
}

}  // namespace

results::results(std::vector<std::string> keys, std::vector<tensor> values)
    : keys_(std::move(keys)), values_(std::move(values)) {}

const tensor& results::at(std::string_view key) const {
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == key) return values_[i];
  fail("results", "key \"" + std::string(key) + "\"",
       "one of " + listed(keys_, [](const std::string& k) { return k; }));
}

results::operator tensor() const {
  if (values_.size() != 1)
    fail("results", std::to_string(values_.size()) + " results as one tensor", "a model with one output",
         "take them by their keys");
  return values_[0];
}

// ------------------------------------------------------------------------------------------ names

namespace {

// "node" or "node:1".
std::optional<endpoint> endpoint_named(const model_state& m, std::string_view text) {
  if (const std::int32_t whole = node_named(m, text); whole >= 0) return endpoint{whole, 0};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  endpoint e{node_named(m, text.substr(0, colon)), 0};
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data() + colon + 1, end, e.output);
  if (e.node < 0 || failed != std::errc() || stopped != end || e.output < 0) return {};
  const std::optional<std::int32_t> there = result_count(m.graph->main.nodes[static_cast<std::size_t>(e.node)]);
  return e.output < there.value_or(1 << 20) ? std::optional(e) : std::nullopt;
}

// A number by which endpoints are sorted.
std::int64_t sort_key_of(endpoint e) { return std::int64_t{e.node} << 32 | e.output; }

std::string keys_of(std::span<const port> ports) {
  return listed(ports, [](const port& p) { return p.key; });
}

const model_state& checked(const std::shared_ptr<model_state>& state) {
  if (!state) fail("model", "an empty model", "a model that was loaded or recorded");
  return *state;
}

std::string text_of(const port& p) {
  std::string text = "[";
  for (std::size_t i = 0; i < p.dims.size(); ++i)
    text += (i ? ", " : "") + (p.dims[i] < 0 ? std::string("any") : std::to_string(p.dims[i]));
  return text + "]";
}

void check_input(const port& p, const tensor& x) {
  if (x.type() != p.type)
    fail("model", "input " + p.key + " of dtype " + std::string(name_of(x.type())), std::string(name_of(p.type)));
  if (!p.known_rank) return;
  const std::span<const std::int64_t> dims = x.dims().dims();
  const bool fits = std::ranges::equal(
      dims, p.dims, [](std::int64_t given, std::int64_t wanted) { return wanted < 0 || given == wanted; });
  if (!fits) fail("model", "input " + p.key + " of shape " + to_string(x.dims()), "shape " + text_of(p));
}

// The numbers of `count` things in the order of what they are sorted by, then of the numbers.
template <class Key>
std::vector<std::int32_t> sorted_by(std::size_t count, Key key_of) {
  std::vector<std::int32_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::int32_t>(i);
  std::ranges::sort(all, {}, [&](std::int32_t i) { return std::pair(key_of(static_cast<std::size_t>(i)), i); });
  return all;
}

// The last of the ports that have that key.
std::optional<endpoint> port_named(std::span<const port> ports, std::span<const endpoint> at,
                                   std::span<const std::int32_t> by_key, std::string_view key) {
  const auto key_of = [&](std::int32_t i) { return std::string_view(ports[static_cast<std::size_t>(i)].key); };
  const auto behind = std::ranges::upper_bound(by_key, key, {}, key_of);
  if (behind == by_key.begin() || key_of(behind[-1]) != key) return {};
  return at[static_cast<std::size_t>(behind[-1])];
}

struct given_inputs {
  plan_key key;
  std::vector<tensor> values;  // of key.fed
};

void take_input(const model_state& m, const named_operand& input, given_inputs& to) {
  const function_def& f = m.graph->main;
  if (input.tensors.size() != 1 || !input.tensors[0].defined())
    fail("model", std::to_string(input.tensors.size()) + " tensors as input " + input.name, "one tensor");
  std::optional<endpoint> at = input.name.empty() && f.inputs.size() == 1
                                   ? f.arguments[0]
                                   : port_named(f.inputs, f.arguments, m.inputs_by_key, input.name);
  if (!at) at = endpoint_named(m, input.name);
  if (!at) fail("model", "input \"" + input.name + "\"", "one of " + keys_of(f.inputs) + ", or a node of the graph");
  const auto key_of = [&](std::int32_t i) { return sort_key_of(f.arguments[static_cast<std::size_t>(i)]); };
  for (const std::int32_t i : std::ranges::equal_range(m.inputs_by_endpoint, sort_key_of(*at), {}, key_of))
    check_input(f.inputs[static_cast<std::size_t>(i)], input.tensors[0]);
  to.key.fed.push_back({*at, input.tensors[0].signature()});
  to.values.push_back(input.tensors[0]);
}

void refuse_twice(std::span<const named_operand> inputs, const given_inputs& all) {
  if (inputs.size() < 2) return;
  const auto key_of = [&](std::size_t i) { return sort_key_of(all.key.fed[i].at); };
  const std::vector<std::int32_t> order = sorted_by(inputs.size(), key_of);
  const auto same = [&](std::int32_t a, std::int32_t b) {
    return key_of(static_cast<std::size_t>(a)) == key_of(static_cast<std::size_t>(b));
  };
  if (const auto twice = std::ranges::adjacent_find(order, same); twice != order.end())
    fail("model", "input " + inputs[static_cast<std::size_t>(twice[1])].name + " twice", "every input once");
}

given_inputs resolve(const model_state& m, std::span<const named_operand> inputs, std::span<const std::string> wanted) {
  given_inputs all;
  for (const named_operand& input : inputs) take_input(m, input, all);
  refuse_twice(inputs, all);
  const function_def& f = m.graph->main;
  for (const std::string& text : wanted) {
    std::optional<endpoint> at = port_named(f.outputs, f.results, m.outputs_by_key, text);
    if (!at) at = endpoint_named(m, text);
    if (!at) fail("model", "output \"" + text + "\"", "one of " + keys_of(f.outputs) + ", or a node of the graph");
    all.key.wanted.push_back(*at);
  }
  if (wanted.empty()) all.key.wanted = f.results;
  all.key.variables = m.variables.load() != nullptr;
  return all;
}

}  // namespace

// ------------------------------------------------------------------------------------------ models

std::span<const port> model::inputs() const { return checked(state_).graph->main.inputs; }
std::span<const port> model::outputs() const { return checked(state_).graph->main.outputs; }

results model::operator()(std::span<const named_operand> inputs, std::span<const std::string> wanted) const {
  const model_state& m = checked(state_);
  const given_inputs given = resolve(m, inputs, wanted);
  const std::shared_ptr<const plan_state> plan = plan_for(m, given.key, given.values);
  std::vector<run_value> values(given.key.wanted.size());
  run_plan(m, *plan, given.values, values);
  std::vector<std::string> keys(wanted.begin(), wanted.end());
  if (wanted.empty())
    for (const port& p : m.graph->main.outputs) keys.push_back(p.key);
  std::vector<tensor> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].x.defined())
      fail("model", values[i].items ? "a list as output " + keys[i] : "no value of output " + keys[i], "a tensor",
           "the way that the graph took does not compute it");
    out.push_back(std::move(values[i].x));
  }
  return {std::move(keys), std::move(out)};
}

results model::operator()(std::span<const named_operand> inputs) const {
  return (*this)(inputs, std::span<const std::string>());
}
results model::operator()(std::initializer_list<named_operand> inputs) const {
  return (*this)(std::span(inputs.begin(), inputs.size()));
}
results model::operator()(std::initializer_list<named_operand> inputs,
                          std::initializer_list<std::string> wanted) const {
  return (*this)(std::span(inputs.begin(), inputs.size()), std::span(wanted.begin(), wanted.size()));
}

plan model::planned(std::span<const named_operand> inputs, std::span<const std::string> wanted) const {
  const model_state& m = checked(state_);
  const given_inputs given = resolve(m, inputs, wanted);
  plan made;
  made.state_ = plan_for(m, given.key, given.values);
  return made;
}
plan model::planned(std::initializer_list<named_operand> inputs) const {
  return planned(std::span(inputs.begin(), inputs.size()));
}

std::vector<node_time> model::profile(std::span<const named_operand> inputs,
                                      std::span<const std::string> wanted) const {
  const model_state& m = checked(state_);
  const given_inputs given = resolve(m, inputs, wanted);
  std::vector<run_value> values(given.key.wanted.size());
  std::vector<node_time> times;
  run_plan(m, *plan_for(m, given.key, given.values), given.values, values, &times);
  return times;
}
std::vector<node_time> model::profile(std::initializer_list<named_operand> inputs,
                                      std::initializer_list<std::string> wanted) const {
  return profile(std::span(inputs.begin(), inputs.size()), std::span(wanted.begin(), wanted.size()));
}

std::vector<std::string> model::nodes() const {
  const function_def& f = checked(state_).graph->main;
  std::vector<std::string> names;
  for (const std::int32_t i : order_of(f)) names.push_back(f.nodes[static_cast<std::size_t>(i)].name);
  return names;
}

std::vector<needed_op> model::needs() const {
  std::vector<std::string_view> ops;
  const auto collect = [&](const function_def& f) {
    for (const node& n : f.nodes) ops.push_back(n.op);
  };
  const graph_def& graph = *checked(state_).graph;
  collect(graph.main);
  for (const function_def& f : graph.library) collect(f);
  std::ranges::sort(ops);
  std::vector<needed_op> all;
  for (const std::string_view op : ops) {
    if (all.empty() || all.back().name != op) all.push_back(need_of(op));
    ++all.back().nodes;
  }
  return all;
}

model model_access::make(std::shared_ptr<detail::model_state> state) {
  model m;
  m.state_ = std::move(state);
  return m;
}

namespace detail {

std::int32_t node_named(const model_state& m, std::string_view name) {
  const auto name_of = [&](std::int32_t i) {
    return std::string_view(m.graph->main.nodes[static_cast<std::size_t>(i)].name);
  };
  const auto found = std::ranges::lower_bound(m.by_name, name, {}, name_of);
  return found != m.by_name.end() && name_of(*found) == name ? *found : -1;
}

tensor constant_of(const node& at) {
  const attribute* value = at.attr("value");
  return value && value->holds == attribute::kind::tensor ? value->value : tensor();
}

std::span<const tensor> weights_of(const model_state& m) {
  std::shared_ptr<const std::vector<tensor>> now = m.weights.load();
  if (!now) {
    auto made = std::make_shared<std::vector<tensor>>(m.graph->main.nodes.size());
    for (const weight& w : m.graph->weights) (*made)[static_cast<std::size_t>(w.at)] = value_of(w);
    const std::shared_ptr<const std::vector<tensor>> mine = std::move(made);
    if (m.weights.compare_exchange_strong(now, mine)) now = mine;
  }
  return *now;  // which the model keeps
}

model make_model(std::shared_ptr<const graph_def> graph) {
  auto state = std::make_shared<model_state>();
  const function_def& f = graph->main;
  state->by_name = sorted_by(f.nodes.size(), [&](std::size_t i) { return std::string_view(f.nodes[i].name); });
  state->inputs_by_key = sorted_by(f.inputs.size(), [&](std::size_t i) { return std::string_view(f.inputs[i].key); });
  state->inputs_by_endpoint = sorted_by(f.inputs.size(), [&](std::size_t i) { return sort_key_of(f.arguments[i]); });
  state->outputs_by_key =
      sorted_by(f.outputs.size(), [&](std::size_t i) { return std::string_view(f.outputs[i].key); });
  state->graph = std::move(graph);
  return model_access::make(std::move(state));
}

// Depth first over inputs; a loop is entered at its Merge, which runs before what it gets from the turn before.
std::vector<std::int32_t> order_of(const function_def& f) {
  std::vector<char> seen(f.nodes.size(), 0);
  std::vector<std::int32_t> order;
  std::vector<std::pair<std::int32_t, std::size_t>> open;
  const auto visit = [&](std::int32_t i) {
    if (std::exchange(seen[static_cast<std::size_t>(i)], 1) == 0) open.emplace_back(i, 0);
  };
  for (std::int32_t first = 0; first < static_cast<std::int32_t>(f.nodes.size()); ++first) {
    visit(first);
    while (!open.empty()) {
      auto& [i, next] = open.back();
      const node& n = f.nodes[static_cast<std::size_t>(i)];
      const std::size_t inputs = n.inputs.size();
      if (next == inputs + n.controls.size()) {
        order.push_back(i);
        open.pop_back();
        continue;
      }
      const std::int32_t from = next < inputs ? n.inputs[next].node : n.controls[next - inputs];
      ++next;
      if (f.nodes[static_cast<std::size_t>(from)].op != "NextIteration") visit(from);
    }
  }
  return order;
}

}  // namespace detail

}  // namespace kerngrad::graph
