// SPDX-License-Identifier: Apache-2.0
// A line of a file of recordings: what a model was fed, and what came out.
#pragma once
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

import kerngrad;

namespace models {

using json = nlohmann::json;

/// The operands that a recording says: element i of a float is (((i + 1) * 2654435761) mod 2^32 >> 8) / 2^24, of an
/// integer 256 times that.
std::vector<kg::named_operand> feeds_of(const json& recording);
/// The names of its outputs.
std::vector<std::string> outputs_of(const json& recording);
/// Difference of a result from a recorded one; empty when it agrees: each sampled element is within
/// 5e-4 * max(1, the largest element).
std::string difference(const kg::tensor& got, const json& output);

}  // namespace models
