// SPDX-License-Identifier: Apache-2.0
// Loops of the old control flow: Enter, Merge, LoopCond, Switch, NextIteration and Exit of one frame are one loop. All
// loops of a function are found in a few passes over its nodes, however many there are.
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

[[noreturn]] void refuse_loop(const node& at, std::string_view why) {
  fail_at(at, "a loop in which " + std::string(why),
          "Enter, Merge, LoopCond, Switch, NextIteration and Exit as TensorFlow's while_loop makes them");
}

std::string_view frame_of(const node& enter) {
  const attribute* name = enter.attr("frame_name");
  return name ? std::string_view(name->text) : std::string_view();
}

const node& node_at(const function_def& f, std::int32_t i) { return f.nodes[static_cast<std::size_t>(i)]; }

// The Enter that an Exit's Merge begins with.
std::int32_t enter_of(const function_def& f, std::int32_t exit) {
  const node& end = node_at(f, exit);
  if (end.inputs.empty()) refuse_loop(end, "Exit has no input");
  const node& chosen = node_at(f, end.inputs[0].node);
  if (chosen.op != "Switch" || chosen.inputs.size() != 2) refuse_loop(end, "Exit does not follow a Switch");
  const node& merged = node_at(f, chosen.inputs[0].node);
  for (const endpoint& input : merged.inputs)
    if (merged.op == "Merge" && node_at(f, input.node).op == "Enter") return input.node;
  refuse_loop(end, "no Merge of an Enter begins the variable");
}

// A variable of one of the loops.
struct variable_position {
  std::int32_t loop = -1;
  std::size_t variable = 0;
};

// Fills the loops in, of which the frames are known.
class loop_finder {
 public:
  loop_finder(const function_def& f, std::vector<loop_nodes>& loops, std::vector<std::int32_t> loop_of_enter)
      : f_(f), loops_(loops), loop_of_enter_(std::move(loop_of_enter)), variables_(f.nodes.size()) {}
  void run() {
    for_nodes("Merge", [&](std::int32_t i) { take_merge(i); });
    for_nodes("Switch", [&](std::int32_t i) { take_switch(i); });
    for_nodes("Exit", [&](std::int32_t i) {
      const node& at = node_at(f_, i);
      if (turned* v = at.inputs.empty() ? nullptr : variable_at(at.inputs[0].node, "Switch")) v->exit = i;
    });
    for_nodes("Enter", [&](std::int32_t i) {
      const std::int32_t loop = loop_of_enter_[static_cast<std::size_t>(i)];
      if (!begins_variable_[static_cast<std::size_t>(i)])
        loops_[static_cast<std::size_t>(loop)].invariants.push_back(i);
    });
  }

 private:
  using turned = loop_nodes::turned;
  template <class F>
  void for_nodes(std::string_view op, F take) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(f_.nodes.size()); ++i)
      if (node_at(f_, i).op == op) take(i);
  }
  // The variable that a Merge or a Switch belongs to; null for one of no loop.
  turned* variable_at(std::int32_t i, std::string_view op) {
    const variable_position at = variables_[static_cast<std::size_t>(i)];
    if (at.loop < 0 || node_at(f_, i).op != op) return nullptr;
    return &loops_[static_cast<std::size_t>(at.loop)].variables[at.variable];
  }
  void take_merge(std::int32_t i) {
    const node& at = node_at(f_, i);
    if (at.inputs.size() != 2) return;
    for (std::size_t k = 0; k < 2; ++k) {
      const std::int32_t enter = at.inputs[k].node, next = at.inputs[1 - k].node;
      const std::int32_t loop = loop_of_enter_[static_cast<std::size_t>(enter)];
      if (loop < 0 || node_at(f_, next).op != "NextIteration") continue;
      std::vector<turned>& variables = loops_[static_cast<std::size_t>(loop)].variables;
      variables_[static_cast<std::size_t>(i)] = {loop, variables.size()};
      variables.push_back({enter, i, next, -1, {}});
      begins_variable_[static_cast<std::size_t>(enter)] = true;
    }
  }
  void take_switch(std::int32_t i) {
    const node& at = node_at(f_, i);
    if (at.inputs.size() != 2 || node_at(f_, at.inputs[1].node).op != "LoopCond") return;
    turned* v = variable_at(at.inputs[0].node, "Merge");
    if (!v) return;
    const variable_position position = variables_[static_cast<std::size_t>(at.inputs[0].node)];
    variables_[static_cast<std::size_t>(i)] = position;
    v->switches.push_back(i);
    loops_[static_cast<std::size_t>(position.loop)].condition = at.inputs[1];
  }

  const function_def& f_;
  std::vector<loop_nodes>& loops_;
  std::vector<std::int32_t> loop_of_enter_;   // -1: another node
  std::vector<variable_position> variables_;  // of Merges and Switches
  std::vector<bool> begins_variable_ = std::vector<bool>(f_.nodes.size(), false);
};

}  // namespace

loop_table::loop_table(const function_def& f) : f_(f) {
  for (std::size_t i = 0; i < f.nodes.size(); ++i)
    if (f.nodes[i].op == "Enter") by_frame_.emplace_back(frame_of(f.nodes[i]), static_cast<std::int32_t>(i));
  std::ranges::sort(by_frame_);
  std::vector<std::int32_t> loop_of_enter(f.nodes.size(), -1);
  for (std::size_t i = 0; i < by_frame_.size(); ++i) {
    if (i == 0 || by_frame_[i].first != by_frame_[i - 1].first) loops_.emplace_back();
    loop_of_enter[static_cast<std::size_t>(by_frame_[i].second)] = static_cast<std::int32_t>(loops_.size() - 1);
  }
  std::vector<std::pair<std::string_view, std::int32_t>> frames;
  for (const auto& [frame, enter] : by_frame_)
    if (frames.empty() || frames.back().first != frame)
      frames.emplace_back(frame, loop_of_enter[static_cast<std::size_t>(enter)]);
  by_frame_ = std::move(frames);
  loop_finder(f, loops_, std::move(loop_of_enter)).run();
}

const loop_nodes& loop_table::ended_by(std::int32_t exit) const {
  const std::string_view frame = frame_of(node_at(f_, enter_of(f_, exit)));
  const auto found = std::ranges::lower_bound(by_frame_, frame, {}, &std::pair<std::string_view, std::int32_t>::first);
  const loop_nodes& loop = loops_[static_cast<std::size_t>(found->second)];
  if (loop.condition.node < 0 || node_at(f_, loop.condition.node).inputs.empty())
    refuse_loop(node_at(f_, exit), "no LoopCond ends it");
  return loop;
}

}  // namespace kerngrad::graph::detail
