// SPDX-License-Identifier: Apache-2.0
// Steps that choose and repeat. A loop of the old control flow (loops_impl.cc) becomes a While of the new one: a
// condition and a body over loop variables.
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

// Value of a condition, a tensor of one element: numbers are true unless they are 0.
bool truth(const node& at, const run_value& v) {
  if (!v.x.defined() || v.x.size() != 1)
    fail_at(at, v.x.defined() ? "a condition of shape " + to_string(v.x.dims()) : std::string("no condition"),
            "one element");
  if (v.x.type() == dtype::text) return !v.x.to_texts()[0].empty();
  return v.x.item() != 0;
}

std::vector<run_value> inputs_of(const step& s, const sequence& of, const run_frame& with, std::size_t from) {
  std::vector<run_value> values;
  for (std::size_t i = from; i < s.in.size(); ++i) values.push_back(value_at(of, with, s.in[i]));
  return values;
}

void give_all(const step& s, run_frame& with, std::vector<run_value> results) {
  const std::size_t wanted = results_wanted(s);
  if (results.size() < wanted)
    fail_at(*s.at, std::to_string(results.size()) + " results of its function", std::to_string(wanted));
  for (std::size_t i = 0; i < wanted; ++i) put(s, with, i, std::move(results[i]));
}

// Loop variables come first among the values; the others stay what they are.
void run_loop(const step& s, const sequence& of, run_frame& with) {
  std::vector<run_value> values = inputs_of(s, of, with, 0);
  const std::size_t turned = s.second->results.size();
  if (turned > values.size() || s.first->results.size() != 1)
    fail_at(*s.at, std::to_string(turned) + " results of the loop's body", std::to_string(values.size()));
  run_frame condition, body;
  condition.run = body.run = with.run;
  std::vector<run_value> arguments, next(turned);
  run_value holds;
  for (;;) {
    arguments = values;
    run_sequence(*s.first, arguments, {&holds, 1}, condition);
    if (!truth(*s.at, holds)) break;
    check_stop("model");
    if (--with.run->left.iterations < 0)
      fail_at(*s.at, "more iterations of loops than a run may have", "a loop that ends",
              "raise load_options::most_iterations");
    arguments.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < turned; ++i) values[i] = {};  // so that lists have no other owner
    run_sequence(*s.second, arguments, next, body);
    for (std::size_t i = 0; i < turned; ++i) {
      if (!next[i].there()) fail_at(*s.at, "no value of loop variable " + std::to_string(i), "one each turn");
      values[i] = std::move(next[i]);
      next[i] = {};
    }
  }
  give_all(s, with, std::move(values));
}

void run_merge(const step& s, const sequence& of, run_frame& with) {
  for (std::size_t i = 0; i < s.in.size(); ++i) {
    const run_value& v = value_at(of, with, s.in[i]);
    if (!v.there()) continue;
    put(s, with, 1, {tensor(static_cast<std::int32_t>(i)), {}});
    return put(s, with, 0, v);
  }
}

}  // namespace

void run_control(const step& s, const sequence& of, run_frame& with) {
  switch (s.kind) {
    case plan_step_kind::choose:
      return put(s, with, truth(*s.at, value_at(of, with, s.in[1])) ? 1 : 0, value_at(of, with, s.in[0]));
    case plan_step_kind::merge: return run_merge(s, of, with);
    case plan_step_kind::loop: return run_loop(s, of, with);
    case plan_step_kind::branch: {
      const bool holds = truth(*s.at, value_at(of, with, s.in[0]));
      return give_all(s, with, run_sequence(holds ? *s.first : *s.second, inputs_of(s, of, with, 1), *with.run));
    }
    case plan_step_kind::guard: {
      const run_value& v = value_at(of, with, s.in[0]);
      if (v.x.defined() && v.x.signature() != s.expected) throw other_shapes{};
      return put(s, with, 0, v);
    }
    default: fail_at(*s.at, "a step of no kind", "one that is known");
  }
}

// ------------------------------------------------------------------------------------------ planning them

void planner::emit_choice(std::int32_t i) {
  const node& n = at(i);
  if (n.inputs.size() != 2) fail_at(n, std::to_string(n.inputs.size()) + " inputs", "a value and a condition");
  const std::int32_t data = slot(n.inputs[0]), condition = slot(n.inputs[1]);
  if (condition >= 0) return add(step_for(i, plan_step_kind::choose), std::vector<endpoint>{{i, 0}, {i, 1}}, false);
  const bool holds = truth(n, seen(condition));
  name({i, holds ? 1 : 0}, data);
  name({i, holds ? 0 : 1}, constant({}));
  let_go(data);
}

void planner::emit_merge(std::int32_t i) {
  const node& n = at(i);
  std::vector<std::size_t> there;
  for (std::size_t k = 0; k < n.inputs.size(); ++k)
    if (!is_absent(slot(n.inputs[k]))) there.push_back(k);
  if (there.size() > 1) {
    add(step_for(i, plan_step_kind::merge), std::vector<endpoint>{{i, 0}, {i, 1}}, false);
    return guard({i, 0});
  }
  name({i, 0}, there.empty() ? constant({}) : slot(n.inputs[there[0]]));
  name({i, 1}, there.empty() ? constant({}) : constant({tensor(static_cast<std::int32_t>(there[0])), {}}));
  for (const endpoint& e : n.inputs) let_go(slot(e));
}

void planner::emit_loop(std::int32_t exit) {
  const loop_nodes& loop = loop_ended_by(exit);
  step s;
  s.kind = plan_step_kind::loop, s.at = &at(exit);
  std::vector<std::vector<endpoint>> params;
  std::vector<run_value> values;
  std::vector<endpoint> next, results;
  for (const loop_nodes::turned& v : loop.variables) {
    s.in.push_back(slot(at(v.enter).inputs[0]));
    params.push_back({{v.merge, 0}, {v.enter, 0}});
    for (const std::int32_t chosen : v.switches) params.back().push_back({chosen, 1});
    values.emplace_back();
    next.push_back(at(v.next).inputs.at(0));
    results.push_back({v.exit, 0});
  }
  const auto pass = [&](endpoint inside, std::int32_t v) {
    s.in.push_back(v);
    params.push_back({inside});
    values.push_back(v < 0 ? seen(v) : run_value{});
  };
  for (const std::int32_t enter : loop.invariants) pass({enter, 0}, slot(at(enter).inputs[0]));
  const node& condition = at(loop.condition.node);
  std::vector<endpoint> read;
  s.first = part(f_, params, {condition.inputs.data(), 1}, values, &read);
  s.second = part(f_, params, next, values, &read);
  for (const endpoint& e : read) s.in.push_back(root(e)), expect(s.in.back(), 1);
  add(std::move(s), results, false);
  for (const endpoint& e : results)
    if (e.node >= 0) guard(e);
}

namespace {

void check_arguments(const node& n, const function_def& f, std::size_t given) {
  if (f.arguments.size() != given)
    fail_at(n, std::to_string(given) + " arguments of " + f.name, std::to_string(f.arguments.size()));
}

}  // namespace

const function_def& planner::function_of(const node& who, std::string_view attr) const {
  const attribute* name = who.attr(attr);
  const function_def* f = name ? how_.graph->function_named(name->text) : nullptr;
  if (!f)
    fail_at(who, name ? "function " + name->text + ", which the graph does not have" : "no " + std::string(attr),
            "a function of the graph's library");
  return *f;
}

// The steps of a function where it is called: what is known of its arguments is known in it, and what follows from
// constants is one.
void planner::emit_in_place(std::int32_t i, std::string_view attr, std::size_t first) {
  const node& n = at(i);
  const function_def& f = function_of(n, attr);
  check_arguments(n, f, n.inputs.size() - first);
  std::vector<std::int32_t> arguments;
  for (std::size_t k = first; k < n.inputs.size(); ++k) arguments.push_back(slot(n.inputs[k]));
  std::vector<endpoint> read, wanted;
  for (const endpoint& e : results_of(i)) {
    if (readers_.at(e) == 0 || slots_.has(e)) continue;
    if (static_cast<std::size_t>(e.output) >= f.results.size())
      fail_at(n, std::to_string(f.results.size()) + " results of " + f.name, std::to_string(e.output + 1));
    read.push_back(e);
    wanted.push_back(f.results[static_cast<std::size_t>(e.output)]);
  }
  const plan_request how = inside(f);
  const std::vector<std::int32_t> results = planner(how, traced_, to_).add_function(arguments, wanted);
  for (std::size_t k = 0; k < read.size(); ++k) name(read[k], results[k]), let_go(results[k]);
  for (const endpoint& e : n.inputs) let_go(slot(e));
}

void planner::emit_functions(std::int32_t i) {
  const node& n = at(i);
  if (is_call_op(n.op)) return emit_in_place(i, "f", 0);
  if (n.inputs.empty()) fail_at(n, "no inputs", "a condition or loop variables");
  if (is_branch_op(n.op) && slot(n.inputs[0]) < 0)
    return emit_in_place(i, truth(n, seen(slot(n.inputs[0]))) ? "then_branch" : "else_branch", 1);
  const auto body = [&](std::string_view attr) {
    const function_def& f = function_of(n, attr);
    std::vector<std::vector<endpoint>> params;
    for (const endpoint& e : f.arguments) params.push_back({e});
    check_arguments(n, f, n.inputs.size() - (is_branch_op(n.op) ? 1 : 0));
    return part(f, params, f.results, {}, nullptr);
  };
  step s = step_for(i, is_branch_op(n.op) ? plan_step_kind::branch : plan_step_kind::loop);
  s.first = body(s.kind == plan_step_kind::branch ? "then_branch" : "cond");
  s.second = body(s.kind == plan_step_kind::branch ? "else_branch" : "body");
  add_node(std::move(s), i, false);
  for (const endpoint& e : results_of(i)) guard(e);
}

}  // namespace kerngrad::graph::detail
