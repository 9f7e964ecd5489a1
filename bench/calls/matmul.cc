// SPDX-License-Identifier: Apache-2.0
// Matrix products, alone and as a layer with bias and relu.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

// Square, the result has n elements.
geometries product(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t side = std::llround(std::sqrt(static_cast<double>(n)));
  const double multiply_adds = static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side);
  if (row.attr_index("activation") < 0) return {{"", call_of(row, {{side, side}, {side, side}}), multiply_adds, {}}};
  return {{"", call_of(row, {{side, side}, {side, side}, {side}}, {{"activation", "relu"}}), multiply_adds, {}}};
}

// A product of matrices, and a product that copies its operands.
geometries contraction(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const std::int64_t side = std::llround(std::sqrt(static_cast<double>(n)));
  const std::int64_t heads = 4, width = side / heads + 1;
  const auto call = [&](const char* equation, std::vector<kg::shape> dims) {
    kg::testkit::sample one;
    one.operands.emplace_back(row.operands[0].name, std::move(dims));
    one.attrs = {{"equation", equation}};
    return one;
  };
  const double multiply_adds = static_cast<double>(side) * static_cast<double>(side);
  return {{"matrices", call("ij,jk->ik", {{side, side}, {side, side}}), multiply_adds * static_cast<double>(side), {}},
          {"heads",
           call("qhd,khd->hqk", {{side, heads, width}, {side, heads, width}}),
           multiply_adds * static_cast<double>(heads * width),
           {}}};
}

}  // namespace

geometries calls::matmul(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.takes_list() ? contraction(row, type, n) : product(row, type, n);
}

}  // namespace kgbench
