// SPDX-License-Identifier: Apache-2.0
// Graphs of one node, written as the converter writes them.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/files.h"

import kerngrad.graph;

namespace kgtest {

using nlohmann::json;

/// Texts are written in base64 (RFC 4648).
std::string base64(std::string_view text);

// Attributes.
json flag(bool value);
json whole(std::int64_t value);
json number(double value);
json text(std::string_view value);
json type(std::string_view value);
json wholes(std::initializer_list<std::int64_t> values);
json texts(std::initializer_list<std::string_view> values);

std::string graph_type(kg::dtype type);

/// The graph model in a file of the folder.
kg::graph::model model_of(const json& nodes);

/// Placeholders x0, x1, ... for the inputs, and the node y.
kg::graph::model model_of_op(std::string_view op, const json& attrs, const std::vector<kg::tensor>& inputs);

/// The first results of a node of that op.
std::vector<kg::tensor> run_op(std::string_view op, const json& attrs, const std::vector<kg::tensor>& inputs,
                               std::size_t results = 1);

}  // namespace kgtest
