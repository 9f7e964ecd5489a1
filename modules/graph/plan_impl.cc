// SPDX-License-Identifier: Apache-2.0
// Plans: made once for the shapes of the inputs, kept with the model, read by any number of threads.
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

constexpr std::size_t most_plans = 16;  // of one model: the oldest are made again

// Drops the steps whose results nobody reads.
void drop_dead(sequence& s) {
  std::vector<bool> read(static_cast<std::size_t>(s.values), false);
  const auto mark = [&](std::int32_t v) {
    if (v >= 0) read[static_cast<std::size_t>(v)] = true;
  };
  for (const std::int32_t v : s.results) mark(v);
  std::vector<step> kept;
  for (std::size_t i = s.steps.size(); i-- > 0;) {
    step& now = s.steps[i];
    bool wanted = false;
    for (std::int32_t& v : now.out) {
      if (v >= 0 && !read[static_cast<std::size_t>(v)]) v = -1;
      wanted = wanted || v >= 0;
    }
    if (!wanted) continue;
    for (const std::int32_t v : now.in) mark(v);
    kept.push_back(std::move(now));
  }
  std::ranges::reverse(kept);
  s.steps = std::move(kept);
  for (std::int32_t& v : s.params)
    if (v >= 0 && !read[static_cast<std::size_t>(v)]) v = -1;
}

void find_last_readers(sequence& s) {
  std::vector<bool> read(static_cast<std::size_t>(s.values), false);
  for (const std::int32_t v : s.results)
    if (v >= 0) read[static_cast<std::size_t>(v)] = true;
  for (std::size_t i = s.steps.size(); i-- > 0;) {
    step& now = s.steps[i];
    now.last.clear();
    for (const std::int32_t v : now.in)
      if (v >= 0 && !read[static_cast<std::size_t>(v)]) {
        read[static_cast<std::size_t>(v)] = true;
        now.last.push_back(v);
      }
  }
}

// Values whose times do not overlap get one number.
void number_anew(sequence& s) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(s.values), -1), unused;
  std::int32_t count = 0;
  const auto give = [&](std::int32_t& v) {
    if (v < 0) return;
    std::int32_t& n = number[static_cast<std::size_t>(v)];
    if (unused.empty()) n = count++;
    else n = unused.back(), unused.pop_back();
    v = n;
  };
  const auto look_up = [&](std::int32_t& v) {
    if (v >= 0) v = number[static_cast<std::size_t>(v)];
  };
  for (std::int32_t& v : s.params) give(v);
  for (step& now : s.steps) {
    std::ranges::for_each(now.in, look_up);
    for (step::operand& operand : now.operands) std::ranges::for_each(operand.in, look_up);
    std::ranges::for_each(now.out, give);
    std::ranges::for_each(now.last, look_up);
    unused.insert(unused.end(), now.last.begin(), now.last.end());
  }
  std::ranges::for_each(s.results, look_up);
  s.values = count;
}

std::shared_ptr<const plan_state> make_plan(const model_state& m, plan_key key, std::span<const tensor> values,
                                            bool guards) {
  const no_grad pause;
  auto made = std::make_shared<plan_state>();
  std::vector<endpoint> params;
  std::vector<run_value> given;
  endpoint_table is_fed(0);
  for (std::size_t i = 0; i < key.fed.size(); ++i) {
    is_fed[key.fed[i].at] = 1;
    params.push_back(key.fed[i].at);
    given.push_back({stop_gradient(values[i]), {}});
  }
  if (key.variables) {
    const std::shared_ptr<const weight_variables> all = m.variables.load();
    for (std::size_t i = 0; i < all->nodes.size(); ++i) {
      const endpoint at{all->nodes[i], 0};
      if (is_fed.has(at)) continue;
      params.push_back(at);
      given.push_back({stop_gradient(all->variables[i].value()), {}});
      made->variables.push_back(all->variables[i]);
    }
  }
  run_state run{nullptr, m.graph->limits};
  planning shared(*m.graph, run);
  made->steps = make_sequence({&m, m.graph.get(), &m.graph->main, guards, &shared}, params, key.wanted, given);
  made->counted = std::move(shared.counted);
  made->key = std::move(key);
  made->graph = m.graph;
  cancel_transposes(made->steps);
  fuse_steps(made->steps);
  fuse_elements(made->steps);
  seal(made->steps);
  made->guarded = std::ranges::any_of(made->steps.steps, [](const step& s) { return s.kind == plan_step_kind::guard; });
  return made;
}

}  // namespace

std::vector<std::int32_t> endpoint_table::outputs(std::int32_t node) const {
  std::vector<std::int32_t> all{0};
  std::int32_t next = slots_[slot_for({node, -1})];
  if (next >= 0) next = entries_[static_cast<std::size_t>(next)].chained;
  for (; next >= 0; next = entries_[static_cast<std::size_t>(next)].chained)
    all.push_back(entries_[static_cast<std::size_t>(next)].at.output);
  std::ranges::sort(all);
  return all;
}

void planning::take(std::int64_t bytes) {
  if (bytes > left)
    fail("graph", "a plan whose steps and constants take more than load_options::most_bytes", "a smaller graph",
         "raise load_options::most_bytes");
  left -= bytes;
}

void planning::take_for_steps(std::int64_t bytes) {
  constexpr std::int64_t at_once = 1 << 16;
  take(bytes);
  taken_ += bytes;
  if (taken_ - counted.bytes() >= at_once) counted.resize(taken_);
}

const loop_table& planning::loops_of(const graph_def& graph, const function_def& f) {
  const bool is_main = &f == &graph.main;
  std::unique_ptr<const loop_table>& found =
      loops[is_main ? 0 : static_cast<std::size_t>(&f - graph.library.data()) + 1];
  if (!found) found = std::make_unique<const loop_table>(f);
  return *found;
}

void seal(sequence& s) {
  drop_dead(s);
  find_last_readers(s);
  number_anew(s);
  s.seen = {};
  std::int32_t late = 0;
  for (step& now : s.steps) {
    now.given.assign(now.attrs.begin(), now.attrs.end());
    if (now.kind == plan_step_kind::late_call && now.by_shapes) now.late = late++;
  }
}

std::shared_ptr<const plan_state> plan_for(const model_state& m, const plan_key& key, std::span<const tensor> values) {
  std::shared_ptr<const plan_list> now = m.plans.load();
  if (now)
    for (const std::shared_ptr<const plan_state>& plan : now->plans)
      if (plan->key == key) return plan;
  std::shared_ptr<const plan_state> made = make_plan(m, key, values, true);
  std::shared_ptr<const plan_list> next;
  do {
    auto list = std::make_shared<plan_list>();
    list->plans.push_back(made);
    if (now)
      for (const std::shared_ptr<const plan_state>& plan : now->plans)
        if (list->plans.size() < most_plans && !(plan->key == key)) list->plans.push_back(plan);
    next = std::move(list);
  } while (!m.plans.compare_exchange_strong(now, next));
  return made;
}

std::shared_ptr<const plan_state> plan_without_guards(const model_state& m, const plan_state& of,
                                                      std::span<const tensor> values) {
  if (std::shared_ptr<const plan_state> kept = of.without_guards.load()) return kept;
  std::shared_ptr<const plan_state> made = make_plan(m, of.key, values, false);
  of.without_guards.store(made);
  return made;
}

void run_plan(const model_state& m, const plan_state& p, std::span<const tensor> values, std::span<run_value> results,
              std::vector<node_time>* times) {
  std::unique_ptr<run_frame> frame(p.spare.exchange(nullptr));
  if (!frame) frame = std::make_unique<run_frame>();
  run_state run{times, m.graph->limits};
  frame->run = &run;
  frame->arguments.clear();
  for (const tensor& x : values) frame->arguments.push_back({x, {}});
  for (const variable& v : p.variables) frame->arguments.push_back({v.value(), {}});
  try {
    run_sequence(p.steps, frame->arguments, results, *frame);
  } catch (const other_shapes&) {
    if (times) times->clear();
    return run_plan(m, *plan_without_guards(m, p, values), values, results, times);
  }
  frame->arguments.clear();
  delete p.spare.exchange(frame.release());
}

}  // namespace kerngrad::graph::detail
