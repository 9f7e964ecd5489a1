// SPDX-License-Identifier: Apache-2.0
// Loops of the old control flow: nodes as TensorFlow's while_loop makes them. A loop has a name, that of its frame.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tests/graph/graphs.h"

namespace kgtest {

/// An Enter that brings a value into a loop; `is_constant`: it stays the same in each turn.
inline json enter(std::string_view name, std::string_view from, bool is_constant = false,
                  std::string_view loop = "turns") {
  return node_of(name, "Enter", {from}, {{"frame_name", text(loop)}, {"is_constant", flag(is_constant)}});
}

/// A loop variable: NAME in the loop's condition, NAME_now in its body, NAME_exit behind it; it begins as `first` and
/// becomes `next`. The node LOOP_goes_on is the loop's LoopCond.
inline void add_variable(std::vector<json>& nodes, const std::string& name, std::string_view first,
                         std::string_view next, const std::string& loop = "turns") {
  nodes.push_back(enter(name + "_enter", first, false, loop));
  nodes.push_back(node_of(name, "Merge", {name + "_enter", name + "_next"}));
  nodes.push_back(node_of(name + "_switch", "Switch", {name, loop + "_goes_on"}));
  nodes.push_back(node_of(name + "_now", "Identity", {name + "_switch:1"}));
  nodes.push_back(node_of(name + "_next", "NextIteration", {next}));
  nodes.push_back(node_of(name + "_exit", "Exit", {name + "_switch"}));
}

/// i from 0 to n, an input; the constants zero and one.
inline std::vector<json> counting() {
  std::vector<json> nodes{input_of("n", "DT_INT32"),
                          whole_of("zero", 0),
                          whole_of("one", 1),
                          enter("one_inside", "one", true),
                          enter("n_inside", "n", true),
                          node_of("less", "LessEqual", {"i", "n_inside"}),
                          node_of("turns_goes_on", "LoopCond", {"less"}),
                          node_of("i_more", "AddV2", {"i_now", "one_inside"})};
  add_variable(nodes, "i", "zero", "i_more");
  return nodes;
}

}  // namespace kgtest
