// SPDX-License-Identifier: Apache-2.0
// Times of a graph model's nodes, compared with the machine's limits.
// To be included after `import kerngrad.graph;`.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace tool {

/// The profile of the run of the least total time.
std::vector<kg::graph::node_time> best_profile(const kg::graph::model& m, std::span<const kg::named_operand> in,
                                               int repeat);
/// Times by op, the longest total first, then the nodes that took longest; next to them the part of the machine's roof
/// that was reached, where the row of what ran says how much there is to do. Measures the roofs: two seconds or so.
std::string profile_page(const std::vector<kg::graph::node_time>& times, int threads);

}  // namespace tool
