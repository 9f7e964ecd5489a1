// SPDX-License-Identifier: Apache-2.0
// Steps run one after the other. A step whose operand is not there, because a Switch went the other way, gives nothing.
module;
#include <algorithm>
#include <atomic>
#include <chrono>
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

namespace kerngrad::graph::detail {

void fail_at(const node& at, std::string_view got, std::string_view wanted, std::string_view advice) {
  throw error(at.op, std::string(got) + " at node " + at.name, wanted, advice);
}

void fail_again_at(const node& at, const error& e) {
  if (dynamic_cast<const stopped*>(&e)) throw;
  const std::string named = "node " + at.name;
  if (e.got().find(named) != std::string::npos) throw;
  const bool is_function = e.op().starts_with("kg::");  // one that the op is made of
  throw error(is_function ? std::string_view(at.op) : e.op(), e.got() + " at " + named, e.wanted(), e.advice());
}

const run_value& value_at(const sequence& s, const run_frame& with, std::int32_t at) {
  return at < 0 ? s.constants[at] : with.values[static_cast<std::size_t>(at)];
}

const tensor& tensor_at(const step& s, const sequence& of, const run_frame& with, std::size_t input) {
  if (input >= s.in.size())
    fail_at(*s.at, std::to_string(s.in.size()) + " inputs", "at least " + std::to_string(input + 1));
  const run_value& v = value_at(of, with, s.in[input]);
  if (!v.x.defined()) fail_at(*s.at, "a list as input " + std::to_string(input), "a tensor");
  return v.x;
}

std::int64_t integer_at(const step& s, const sequence& of, const run_frame& with, std::size_t input) {
  const tensor& x = tensor_at(s, of, with, input);
  if (x.size() != 1)
    fail_at(*s.at, "input " + std::to_string(input) + " of shape " + to_string(x.dims()), "one integer");
  return static_cast<std::int64_t>(x.item());
}

void put(const step& s, run_frame& with, std::size_t output, run_value value) {
  std::size_t k = output;
  if (!s.outputs.empty()) {
    const auto found = std::ranges::lower_bound(s.outputs, static_cast<std::int32_t>(output));
    if (found == s.outputs.end() || *found != static_cast<std::int32_t>(output)) return;
    k = static_cast<std::size_t>(found - s.outputs.begin());
  }
  if (k < s.out.size() && s.out[k] >= 0) with.values[static_cast<std::size_t>(s.out[k])] = std::move(value);
}

std::size_t results_wanted(const step& s) {
  return s.outputs.empty() ? s.out.size() : static_cast<std::size_t>(s.outputs.back()) + 1;
}

namespace {

bool all_there(const step& s, const sequence& of, const run_frame& with) {
  return std::ranges::all_of(s.in, [&](std::int32_t at) { return value_at(of, with, at).there(); });
}

void put_all(const step& s, run_frame& with, tensor_list results) {
  const std::size_t wanted = results_wanted(s);
  if (static_cast<std::size_t>(results.size()) < wanted)
    fail_at(*s.at, std::to_string(results.size()) + " results", std::to_string(wanted),
            "the graph reads more of them than there are");
  for (std::size_t i = 0; i < wanted; ++i) put(s, with, i, {std::move(results[static_cast<int>(i)]), {}});
}

// Operands of a call as references; lists are copied to lie together.
std::span<const operand_ref> gather(const step& s, const sequence& of, run_frame& with) {
  with.operands.clear();
  with.list.clear();
  std::size_t listed = 0;
  for (const step::operand& operand : s.operands)
    if (operand.list) listed += operand.in.size();
  with.list.reserve(listed);
  for (const step::operand& operand : s.operands) {
    if (operand.list) {
      const std::size_t first = with.list.size();
      for (const std::int32_t i : operand.in) with.list.push_back(value_at(of, with, i).x);
      with.operands.emplace_back(operand.name, std::span<const tensor>(with.list).subspan(first, operand.in.size()));
    } else {
      for (const std::int32_t i : operand.in) {
        const tensor& x = value_at(of, with, i).x;
        if (!x.defined()) fail_at(*s.at, "a list as operand " + operand.name, "a tensor");
        with.operands.emplace_back(operand.name, x);
      }
    }
  }
  return with.operands;
}

std::span<const tensor> input_tensors(const step& s, const sequence& of, run_frame& with) {
  with.inputs.clear();
  for (std::size_t i = 0; i < s.in.size(); ++i) with.inputs.push_back(tensor_at(s, of, with, i));
  return with.inputs;
}

void run_call(const step& s, const sequence& of, run_frame& with) {
  put_all(s, with, run_kernel_list(s.kernel, gather(s, of, with), s.given));
}

void run_fused(const step& s, const sequence& of, run_frame& with) {
  with.together.clear();
  for (std::size_t i = 0; i < s.in.size(); ++i) with.together.push_back(&tensor_at(s, of, with, i));
  put(s, with, 0, {s.together(with.together), {}});
}

// Loops meet the same shapes in most of their turns.
const step& bound_for(const step& s, const sequence& of, run_frame& with) {
  const std::span<const tensor> in = input_tensors(s, of, with);
  const auto index = static_cast<std::size_t>(s.late + 1);
  if (with.bound.size() <= index) with.bound.resize(index + 1);
  late_binding& kept = with.bound[index];
  const auto signature_of = [](const tensor& x) { return x.signature(); };
  if (s.late >= 0 && kept.bound.at && std::ranges::equal(kept.in, in, {}, {}, signature_of)) return kept.bound;
  kept.bound = bound_step(s, in);
  kept.in.clear();
  for (const tensor& x : in) kept.in.push_back(x.signature());
  return kept.bound;
}

void run_kind(const step& s, const sequence& of, run_frame& with) {
  switch (s.kind) {
    case plan_step_kind::call:
    case plan_step_kind::registered: return run_call(s, of, with);
    case plan_step_kind::fused: return run_fused(s, of, with);
    case plan_step_kind::late_call: return run_call(bound_for(s, of, with), of, with);
    case plan_step_kind::function: return put_all(s, with, run_function(*s.mapping, *s.at, input_tensors(s, of, with)));
    case plan_step_kind::stop: return put(s, with, 0, {stop_gradient(tensor_at(s, of, with, 0)), {}});
    case plan_step_kind::items: return run_items(s, of, with);
    default: return run_control(s, of, with);
  }
}

}  // namespace

step bound_step(const step& s, std::span<const tensor> in) {
  bound_call call = bind(*s.mapping, *s.at, in);
  step made = s;
  made.kind = plan_step_kind::call;
  made.kernel = call.kernel;
  made.attrs = std::move(call.attrs);
  made.given.assign(made.attrs.begin(), made.attrs.end());
  for (const bound_call::operand& operand : call.operands) {
    step::operand one{std::string(operand.name), {}, operand.list};
    for (const std::int32_t i : operand.inputs) one.in.push_back(s.in[static_cast<std::size_t>(i)]);
    made.operands.push_back(std::move(one));
  }
  return made;
}

void run_step(const step& s, const sequence& of, run_frame& with) {
  if (s.kind != plan_step_kind::merge && !all_there(s, of, with)) return;
  try {
    run_kind(s, of, with);
  } catch (const error& e) {
    fail_again_at(*s.at, e);
  }
}

namespace {

std::string_view runner_of(const step& s) {
  switch (s.kind) {
    case plan_step_kind::call: return s.kernel;
    case plan_step_kind::late_call: return s.mapping->row;
    case plan_step_kind::fused: return "fused";
    case plan_step_kind::function: return "composed";
    case plan_step_kind::registered: return "registry";
    default: return "graph";
  }
}

// Operands that a step reads, by those of its call.
std::vector<node_time::operand> operands_read(const step& s, const sequence& of, run_frame& with) {
  std::vector<node_time::operand> all;
  const auto note = [&](std::string_view name, std::int32_t v) {
    if (const tensor& x = value_at(of, with, v).x; x.defined()) all.push_back({std::string(name), x.signature()});
  };
  const bool is_late = s.kind == plan_step_kind::late_call && all_there(s, of, with);
  const step& call = is_late ? bound_for(s, of, with) : s;
  if (call.kind == plan_step_kind::call) {
    for (const step::operand& operand : call.operands)
      for (const std::int32_t v : operand.in) note(operand.name, v);
  } else {
    for (const std::int32_t v : s.in) note({}, v);
  }
  return all;
}

void run_timed(const step& s, const sequence& of, run_frame& with) {
  const auto before = std::chrono::steady_clock::now();
  run_step(s, of, with);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
  node_time time{s.at->name, s.at->op, std::string(runner_of(s)), took.count(), {}, operands_read(s, of, with)};
  for (const std::int32_t v : s.out)
    if (v >= 0 && with.values[static_cast<std::size_t>(v)].x.defined())
      time.results.push_back(with.values[static_cast<std::size_t>(v)].x.signature());
  with.run->times->push_back(std::move(time));
}

}  // namespace

void run_sequence(const sequence& s, std::span<run_value> arguments, std::span<run_value> results, run_frame& with) {
  with.values.resize(static_cast<std::size_t>(s.values));
  for (std::size_t i = 0; i < s.params.size(); ++i)
    if (s.params[i] >= 0) with.values[static_cast<std::size_t>(s.params[i])] = std::move(arguments[i]);
  for (const step& next : s.steps) {
    check_stop("model");
    with.run->times ? run_timed(next, s, with) : run_step(next, s, with);
    for (const std::int32_t done : next.last) with.values[static_cast<std::size_t>(done)] = {};
  }
  for (std::size_t i = 0; i < s.results.size(); ++i) results[i] = value_at(s, with, s.results[i]);
  with.operands.clear(), with.list.clear(), with.inputs.clear();
  for (run_value& v : with.values) v = {};
}

std::vector<run_value> run_sequence(const sequence& s, std::vector<run_value> arguments, run_state& run) {
  run_frame frame;
  frame.run = &run;
  std::vector<run_value> results(s.results.size());
  run_sequence(s, arguments, results, frame);
  return results;
}

}  // namespace kerngrad::graph::detail
