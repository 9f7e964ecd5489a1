// SPDX-License-Identifier: Apache-2.0
// Reductions, scans and the softmax family.
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/geometry.h"

namespace kgbench {

geometries reduction(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = matrix(n).dims();
  const std::string axis(row.attrs[0].name);
  const double work = static_cast<double>(dims.size());
  return {{"all", call_of(row, {{dims.size()}}, {{axis, 0}}), work, {}},
          {"rows", call_of(row, {dims}, {{axis, 1}}), work, {}},
          {"columns", call_of(row, {dims}, {{axis, 0}}), work, {}}};
}

geometries rows(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = matrix(n).dims();
  const std::vector<kg::shape> operands(row.operands.size(), dims);
  std::vector<kg::named_attribute> attrs;
  if (!row.attrs.empty()) attrs = {{std::string(row.attrs[0].name), 1}};
  return {{"", call_of(row, operands, attrs), static_cast<double>(dims.size()), {}}};
}

geometries scanned(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = matrix(n).dims();
  const auto along = [&](const char* variant, const kg::shape& shape, std::int64_t axis) {
    return geometry{
        variant, call_of(row, {shape}, {{std::string(row.attrs[0].name), axis}}), static_cast<double>(dims.size()), {}};
  };
  return {along("", dims, 1), along("all", {dims.size()}, 0), along("columns", dims, 0)};
}

}  // namespace kgbench
