// SPDX-License-Identifier: Apache-2.0
// Random valid networks, as graphs and as functions of the library's own.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/graph/graphs.h"

namespace kgtest {

/// A graph of one input `x`. The same computation exists as functions of tensors, too.
struct network {
  struct item {
    std::string name;
    std::vector<std::size_t> in;                                 // items
    std::function<kg::tensor(std::span<const kg::tensor>)> f{};  // none: the input, or a weight
  };
  std::vector<json> nodes{};
  std::vector<weight> weights{};
  std::vector<item> items{};  // the input first, each after those that it reads
  kg::tensor example{};
  bool has_kinks = false;  // rounding may decide which element a gradient goes to

  kg::graph::model model() const { return model_with(nodes, weights); }
  /// The names of the nodes that compute something, the last one last.
  std::vector<std::string> computed() const;
  /// The values of all items. `given` are those of the floating weights, in the order of `weights`.
  std::vector<kg::tensor> values(const kg::tensor& x, std::span<const kg::tensor> given) const;
};

network random_network(std::uint64_t seed);

}  // namespace kgtest
