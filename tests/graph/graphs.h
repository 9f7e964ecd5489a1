// SPDX-License-Identifier: Apache-2.0
// Graphs of a few nodes, written as the converter writes them.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/graph/one_op.h"

namespace kgtest {

json node_of(std::string_view name, std::string_view op, std::initializer_list<std::string_view> inputs = {},
             json attrs = json::object());
json input_of(std::string_view name, std::string_view dtype = "DT_FLOAT");
json whole_of(std::string_view name, std::int32_t value);

/// A function of the graph's library. Arguments are names and dtypes, results keys and places such as "sum:z:0".
using name_pairs = std::vector<std::pair<std::string, std::string>>;
json function_of(std::string_view name, const name_pairs& arguments, const name_pairs& results,
                 const std::vector<json>& nodes);
json calls(std::string_view function);

/// Weights are written next to the graph, one after the other: float32 and int32.
struct weight {
  std::string name;
  kg::tensor value;
};

/// The model of such nodes, weights and functions.
kg::graph::model model_with(std::vector<json> nodes, const std::vector<weight>& weights = {},
                            const std::vector<json>& functions = {}, const json& signature = {},
                            const kg::graph::load_options& how = {});

}  // namespace kgtest
