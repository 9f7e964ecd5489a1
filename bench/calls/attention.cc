// SPDX-License-Identifier: Apache-2.0
// Attention of eight heads, 64 numbers each; the results have n elements in all.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {

geometries calls::attention(const kg::op_row& row, kg::dtype, std::int64_t n) {
  constexpr std::int64_t heads = 8, numbers = 64;
  const std::int64_t length = std::max<std::int64_t>(n / (heads * numbers), 1);
  const kg::shape matrices{heads, length, numbers};
  const auto call = [&](bool causal) {
    return call_of(row, {matrices, matrices, matrices}, {{"scale", 0.125}, {"causal", causal}});
  };
  // The row states the cost of the two products for 128 pairs and one number.
  const double work = static_cast<double>(heads * length * length * numbers) / 128;
  return {{"all", call(false), work, {}}, {"causal", call(true), work / 2, {}}};
}

}  // namespace kgbench
