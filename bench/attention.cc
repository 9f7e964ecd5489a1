// SPDX-License-Identifier: Apache-2.0
// Attention of eight heads, 64 numbers each; the results have n elements in all.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/geometry.h"

namespace kgbench {

geometries attention(const kg::op_row& row, kg::dtype, std::int64_t n) {
  constexpr std::int64_t heads = 8, numbers = 64;
  const std::int64_t length = std::max<std::int64_t>(n / (heads * numbers), 1);
  const kg::shape matrices{heads, length, numbers}, rows{heads, length};
  const bool backward = row.operand_index("dy") >= 0;
  const std::vector<kg::shape> forward = {matrices, matrices, matrices},
                               all = {matrices, matrices, matrices, rows, rows, matrices};
  const double pairs = static_cast<double>(heads * length * length), products = backward ? 5 : 2;
  const auto call = [&](bool causal) {
    return call_of(row, backward ? all : forward, {{"scale", 0.125}, {"causal", causal}});
  };
  const double multiply_adds = pairs * products * static_cast<double>(numbers);
  return {{"all", call(false), multiply_adds / row.cost, {}}, {"causal", call(true), multiply_adds / row.cost / 2, {}}};
}

}  // namespace kgbench
