// SPDX-License-Identifier: Apache-2.0
// From wanted values of a graph to steps. Given values, the graph runs while it is planned: what follows from constants
// and from shapes becomes a constant, and calls are bound to the shapes that they met.
module;
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
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
#include "modules/graph/planner.h"

namespace kerngrad::graph::detail {

namespace {

constexpr int deepest = 64;           // functions in each other
constexpr int most_bodies = 100'000;  // planned: of functions that each call the next one twice there are 2^64

// Ops whose results are of sizes that elements decide, next to the rows that say so.
bool sizes_by_elements(std::string_view op) {
  return op == "Where" || op.starts_with("NonMaxSuppression") || op.starts_with("Unique") || op.starts_with("Sparse") ||
         op.starts_with("Ragged") || op.starts_with("String") || is_one_of(op, {"ListDiff", "DynamicPartition"});
}

// An attribute of a registered kernel's call; nothing for what only graphs have.
std::optional<attr_value> value_of(const attribute& a) {
  switch (a.holds) {
    case attribute::kind::boolean: return attr_value(a.flag);
    case attribute::kind::integer: return attr_value(a.integer);
    case attribute::kind::number: return attr_value(a.number);
    case attribute::kind::text: return attr_value(std::string_view(a.text));
    case attribute::kind::integers: return attr_value(a.integers);
    case attribute::kind::numbers: return attr_value(a.numbers);
    default: return {};
  }
}

}  // namespace

const tensor* planner::weight(std::int32_t i) const {
  if (how_.function != &how_.graph->main || !how_.model) return nullptr;
  const tensor& x = weights_of(*how_.model)[static_cast<std::size_t>(i)];
  return x.defined() ? &x : nullptr;
}

std::vector<endpoint> planner::needs_of(std::int32_t i) {
  const node& n = at(i);
  if (n.op == "NextIteration" || (n.op == "Merge" && std::ranges::any_of(n.inputs, [&](const endpoint& e) {
                                    return at(e.node).op == "NextIteration";
                                  })))
    fail_at(n, "a value of a loop that is wanted outside of it", "what its Exit gives");
  if (is_constant_op(n.op)) return {};
  if (n.op == "PlaceholderWithDefault") return {n.inputs.begin(), n.inputs.begin() + 1};
  if (n.op != "Exit") return n.inputs;
  std::vector<endpoint> outside;
  const loop_nodes& loop = loop_ended_by(i);
  for (const loop_nodes::turned& v : loop.variables) outside.push_back(at(v.enter).inputs.at(0));
  for (const std::int32_t enter : loop.invariants) outside.push_back(at(enter).inputs.at(0));
  return outside;
}

// Depth first, without recursion: graphs may be a million nodes deep.
std::vector<std::int32_t> planner::in_order(std::span<const endpoint> wanted) {
  struct visit {
    std::int32_t node, key;
    std::vector<endpoint> needs;
    std::size_t next = 0;
  };
  endpoint_table state(0);  // 1: being visited, 2: done; of a loop's first Merge for all of its Exits
  std::vector<std::int32_t> order;
  std::vector<visit> open;
  const auto ask = [&](endpoint e) {
    ++readers_[e];
    if (!slots_.has(e) && roots_ && roots_->has(e)) root(e);
    if (slots_.has(e)) return;
    const std::int32_t key = at(e.node).op == "Exit" ? loop_ended_by(e.node).variables[0].merge : e.node;
    std::int32_t& s = state[{key, 0}];
    if (s == 1) fail_at(at(e.node), "a cycle of nodes", "an order in which they can run");
    if (s != 0) return;
    s = 1;
    open.push_back({e.node, key, needs_of(e.node)});
  };
  for (const endpoint& e : wanted) {
    ask(e);
    while (!open.empty()) {
      visit& top = open.back();
      if (top.next < top.needs.size()) {
        ask(top.needs[top.next++]);
        continue;
      }
      state[{top.key, 0}] = 2;
      order.push_back(top.node);
      open.pop_back();
    }
  }
  return order;
}

void planner::name(endpoint e, std::int32_t v) {
  slots_[e] = v;
  expect(v, readers_.at(e));
}

std::int32_t planner::slot(endpoint e) const {
  if (!slots_.has(e)) fail_at(at(e.node), "result " + std::to_string(e.output), "one that the node has");
  return slots_.at(e);
}

std::int32_t planner::root(endpoint e) {
  if (slots_.has(e)) return slots_.at(e);
  const std::int32_t v = value(true);
  to_.made.params.push_back(v);
  to_.frame.values.resize(to_.fixed.size());
  roots_read_.push_back(e);
  return slots_[e] = v;
}

step planner::step_for(std::int32_t i, plan_step_kind kind) const {
  step s;
  s.kind = kind, s.at = &at(i);
  for (const endpoint& e : at(i).inputs) s.in.push_back(slot(e));
  return s;
}

// ------------------------------------------------------------------------------------------ calls

bool planner::folds(const step& s) const {
  if (!s.mapping || s.mapping->draws) return false;
  if (s.kind != plan_step_kind::call && s.kind != plan_step_kind::late_call && s.kind != plan_step_kind::function)
    return false;
  if (std::ranges::all_of(s.in, [](std::int32_t v) { return v < 0; })) return true;
  return traced_ && s.mapping->of_shapes && std::ranges::all_of(s.in, [&](std::int32_t v) { return is_fixed(v); });
}

bool planner::gives_fixed(const step& s) const {
  if (!traced_ || !s.mapping || s.kind == plan_step_kind::registered || sizes_by_elements(s.at->op)) return false;
  if (!std::ranges::all_of(s.in, [&](std::int32_t v) { return is_fixed(v); })) return false;
  if (!s.by_shapes) return false;
  const op_row* row = s.kernel.empty() ? nullptr : row_named(s.kernel);
  if (!row) return true;
  for (const step::operand& operand : s.operands) {
    const int index = row->operand_index(operand.name);
    const bool read = index >= 0 && row->operands[static_cast<std::size_t>(index)].part == role::read;
    if (read && std::ranges::any_of(operand.in, [](std::int32_t v) { return v >= 0; })) return false;
  }
  return !row->bounded;
}

// Turns a call that is bound late into a bound one, where what it depends on is known for good.
void planner::bind_now(step& s) {
  std::vector<tensor> in;
  for (const std::int32_t v : s.in) {
    tensor x = seen(v).x;
    if (!x.defined() || !is_fixed(v)) return;
    in.push_back(std::move(x));
  }
  if (s.by_shapes) s = bound_step(s, in);
}

// A kernel of the registry under the graph's name: operands in the order of its row, or numbered.
void planner::make_registered(step& s, const op_mapping* m) const {
  const node& n = *s.at;
  const op_row* row = row_named(n.op);
  if (!row && !get_kernel(n.op))
    fail(n.op, "node " + n.name + " of an op that nothing runs",
         "an op of docs/graph.md" + (m && !m->reason.empty() ? ": " + std::string(m->reason) : std::string()),
         "register a kernel of that name");
  if (row && !row->takes_list() && s.in.size() > row->operands.size())
    fail_at(n, std::to_string(s.in.size()) + " inputs", "at most " + std::to_string(row->operands.size()));
  s.kernel = n.op;
  for (std::size_t k = 0; k < s.in.size(); ++k) {
    if (row && row->operand_at(k).list && !s.operands.empty() && s.operands.back().list) {
      s.operands.back().in.push_back(s.in[k]);
      continue;
    }
    const std::string name = row ? std::string(row->operand_at(k).name) : std::to_string(k);
    s.operands.push_back({!row && s.in.size() == 1 ? std::string() : name, {s.in[k]}, row && row->operand_at(k).list});
  }
  for (const attribute& a : n.attrs)
    if (const std::optional<attr_value> v = value_of(a); v && !a.name.starts_with("_")) s.attrs.push_back({a.name, *v});
}

void planner::emit_work(std::int32_t i) {
  const node& n = at(i);
  step s = step_for(i, plan_step_kind::registered);
  const op_mapping* m = mapping_of(n.op);
  const runs_by by = m ? how_of(*m, n) : runs_by::nothing;
  if (is_items_op(n.op)) {
    s.kind = plan_step_kind::items;
  } else if (by == runs_by::row || by == runs_by::function) {
    s.mapping = m;
    s.kind = by == runs_by::row ? plan_step_kind::late_call : plan_step_kind::function;
    s.by_shapes = std::ranges::all_of(read_inputs(*m, n),
                                      [&](std::int32_t read) { return s.in[static_cast<std::size_t>(read)] < 0; });
    try {
      if (by == runs_by::row) bind_now(s);
    } catch (const error& e) {
      fail_again_at(n, e);
    }
  } else {
    make_registered(s, by == runs_by::nothing ? m : nullptr);
  }
  const bool fixed = gives_fixed(s);
  add_node(std::move(s), i, fixed);
}

std::vector<endpoint> planner::results_of(std::int32_t i) const {
  std::vector<endpoint> all;
  for (const std::int32_t output : readers_.outputs(i)) all.push_back({i, output});
  return all;
}

void planner::add_node(step s, std::int32_t i, bool fixed) {
  const std::vector<endpoint> results = results_of(i);
  if (static_cast<std::size_t>(results.back().output) + 1 != results.size())
    for (const endpoint& e : results) s.outputs.push_back(e.output);
  add(std::move(s), results, fixed);
}

void planner::note(std::int32_t v) {
  const tensor& x = to_.frame.values[static_cast<std::size_t>(v)].x;
  to_.made.seen.resize(static_cast<std::size_t>(v));
  to_.made.seen.push_back(x.defined() ? std::optional(x.signature()) : std::nullopt);
}

namespace {

// The memory of a step that stays in a plan.
std::int64_t bytes_of(const step& s) {
  constexpr std::size_t of_attribute = sizeof(named_attribute) + sizeof(attribute_ref);
  constexpr std::size_t of_operand = sizeof(step::operand) + sizeof(operand_ref);
  return static_cast<std::int64_t>(sizeof(step) + s.attrs.size() * of_attribute + s.operands.size() * of_operand +
                                   (s.in.size() + s.out.size()) * 2 * sizeof(std::int32_t));
}

}  // namespace

// The memory of a constant that a step gave; none where it is that of an operand, as of a Reshape.
std::int64_t planner::bytes_of_constant(const step& s, const tensor& x) const {
  constexpr std::size_t few = 4;  // ops that give views have no more operands
  if (!x.defined()) return 0;
  const auto has_its_elements = [&](std::int32_t v) { return seen(v).x.defined() && x.shares_with(seen(v).x); };
  if (s.in.size() <= few && std::ranges::any_of(s.in, has_its_elements)) return 0;
  return x.size() * static_cast<std::int64_t>(size_of(x.type()));
}

// The results of folded steps stay with the plan.
void planner::run_while_planning(const step& s, bool folded) {
  std::optional<memory_budget> limit;
  if (folded && how_.graph->limits.bytes != unlimited)
    limit.emplace(how_.shared->left, "raise load_options::most_bytes");
  if (traced_ || folded) run_step(s, to_.made, to_.frame);
}

void planner::add(step s, std::span<const endpoint> results, bool fixed) {
  const bool folded = folds(s);
  for (std::size_t k = 0; k < results.size(); ++k) s.out.push_back(value(fixed));
  to_.frame.values.resize(to_.fixed.size());
  s.given.assign(s.attrs.begin(), s.attrs.end());
  how_.shared->take_for_steps(bytes_of(s));
  run_while_planning(s, folded);
  for (std::size_t k = 0; k < results.size(); ++k) note(s.out[k]);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const bool given = results[k].node < 0 || (slots_.has(results[k]) && s.kind != plan_step_kind::guard);
    if (given) continue;  // there is no such node, or its value is an input
    run_value& v = to_.frame.values[static_cast<std::size_t>(s.out[k])];
    if (folded) how_.shared->take(bytes_of_constant(s, v.x));
    name(results[k], folded ? constant(std::exchange(v, {})) : s.out[k]);
  }
  for (const std::int32_t v : s.in) let_go(v);
  if (!folded) to_.made.steps.push_back(std::move(s));
}

// Records the shape that later steps assume.
void planner::guard(endpoint e) {
  const std::int32_t v = slot(e);
  if (!traced_ || !how_.guards || v < 0 || !seen(v).x.defined()) return;
  step s;
  s.kind = plan_step_kind::guard, s.at = &at(e.node), s.in = {v}, s.expected = seen(v).x.signature();
  add(std::move(s), {&e, 1}, true);
}

// ------------------------------------------------------------------------------------------ what is no call

bool planner::is_absent(std::int32_t v) const { return v < 0 && !seen(v).there(); }

void planner::alias(std::int32_t i, std::size_t input) {
  const std::int32_t v = slot(at(i).inputs[input]);
  name({i, static_cast<std::int32_t>(input)}, v);
  let_go(v);
}

void planner::emit_constant(std::int32_t i) {
  const tensor* x = weight(i);
  const tensor own = x ? *x : constant_of(at(i));
  if (!own.defined()) fail_at(at(i), "no value of it", "one among the weights or in the node");
  name({i, 0}, constant({own, {}}));
}

void planner::emit(std::int32_t i) {
  check_stop("model");
  const node& n = at(i);
  if (slots_.has({i, 0}) || n.op == "NoOp") return;
  if (is_constant_op(n.op)) return emit_constant(i);
  if (n.op == "Placeholder") fail_at(n, "no value for it", "one among the inputs");
  if (n.op == "Exit") return emit_loop(i);
  if (n.op == "Merge") return emit_merge(i);
  if (n.op != "PlaceholderWithDefault" &&
      std::ranges::any_of(n.inputs, [&](const endpoint& e) { return is_absent(slot(e)); })) {
    for (const endpoint& e : results_of(i)) name(e, constant({}));
    return;
  }
  if (n.op == "Switch") return emit_choice(i);
  if (is_identity_op(n.op) || n.op == "Enter") {
    for (std::size_t k = 0; k < (n.op == "IdentityN" ? n.inputs.size() : 1); ++k) alias(i, k);
    return;
  }
  if (n.op == "StopGradient") {
    const std::int32_t v = slot(n.inputs.at(0));
    return v < 0 ? alias(i, 0) : add_node(step_for(i, plan_step_kind::stop), i, is_fixed(v));
  }
  if (is_call_op(n.op) || is_branch_op(n.op) || is_while_op(n.op)) return emit_functions(i);
  emit_work(i);
}

plan_request planner::inside(const function_def& f) const {
  plan_request how = how_;
  how.function = &f;
  if (++how.depth > deepest)
    fail("graph", "functions and loops in each other " + std::to_string(how.depth) + " deep in " + f.name,
         "at most " + std::to_string(deepest), "write a recursion as a loop");
  if (++how.shared->bodies > most_bodies)
    fail("graph", "more than " + std::to_string(most_bodies) + " calls of functions, one of them " + f.name,
         "a graph that is planned by fewer", "call a function in a loop");
  return how;
}

std::shared_ptr<const sequence> planner::part(const function_def& f, std::vector<std::vector<endpoint>>& params,
                                              std::span<const endpoint> wanted, std::span<const run_value> constants,
                                              std::vector<endpoint>* read) const {
  const plan_request how = inside(f);
  growing to(how.shared->run);
  planner made(how, false, to);
  made.make(params, wanted, constants, read ? roots_ : nullptr);
  seal(to.made);
  for (const endpoint& e : made.roots_read_) params.push_back({e}), read->push_back(e);
  return std::make_shared<sequence>(std::move(to.made));
}

std::vector<std::int32_t> planner::add_function(std::span<const std::int32_t> arguments,
                                                std::span<const endpoint> wanted) {
  for (std::size_t k = 0; k < arguments.size(); ++k) slots_[f_.arguments[k]] = arguments[k];
  const std::vector<std::int32_t> order = in_order(wanted);
  for (std::size_t k = 0; k < arguments.size(); ++k) expect(arguments[k], readers_.at(f_.arguments[k]));
  for (const std::int32_t i : order) emit(i);
  std::vector<std::int32_t> results;
  for (const endpoint& e : wanted) results.push_back(slot(e));
  return results;
}

void planner::make(std::span<const std::vector<endpoint>> params, std::span<const endpoint> wanted,
                   std::span<const run_value> values, const endpoint_table* roots) {
  roots_ = roots;
  for (std::size_t k = 0; k < params.size(); ++k) {
    const bool is_constant = !traced_ && k < values.size() && values[k].there();
    const std::int32_t v = is_constant ? constant(values[k]) : value(true);
    to_.made.params.push_back(is_constant ? -1 : v);
    to_.frame.values.resize(to_.fixed.size());
    if (traced_) {
      to_.frame.values[static_cast<std::size_t>(v)] = values[k];
      note(v);
    }
    for (const endpoint& e : params[k]) slots_[e] = v;
  }
  const std::vector<std::int32_t> order = in_order(wanted);
  // Parameters stay until the end: loops read them besides.
  for (const std::vector<endpoint>& param : params)
    for (const endpoint& e : param) expect(slots_.at(e), readers_.at(e) + 1);
  for (const endpoint& e : roots_read_) expect(slots_.at(e), readers_.at(e) + 1);
  for (const std::int32_t i : order) emit(i);
  for (const endpoint& e : wanted) to_.made.results.push_back(slot(e));
}

sequence make_sequence(const plan_request& how, std::span<const endpoint> params, std::span<const endpoint> wanted,
                       std::span<const run_value> values) {
  std::vector<std::vector<endpoint>> given;
  endpoint_table roots(0);
  for (const endpoint& e : params) given.push_back({e}), roots[e] = 1;
  growing to(how.shared->run);
  planner(how, true, to).make(given, wanted, values, &roots);
  return std::move(to.made);
}

}  // namespace kerngrad::graph::detail
