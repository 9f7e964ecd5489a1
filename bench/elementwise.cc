// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels and conversions: every operand has n elements.
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/geometry.h"

namespace kgbench {

geometries flat(const kg::op_row& row, kg::dtype, std::int64_t n) {
  // Attributes as the kit gives them: those that a row wants have values that are none of its special cases.
  const std::vector<kg::testkit::sample> legal = kg::testkit::samples_of(row);
  std::vector<kg::named_attribute> attrs;
  if (!legal.empty()) attrs = legal.front().attrs;
  return {
      {"", call_of(row, std::vector<kg::shape>(row.operands.size(), kg::shape{n}), attrs), static_cast<double>(n), {}}};
}

geometries flat_list(const kg::op_row& row, kg::dtype, std::int64_t n) {
  kg::testkit::sample call;
  call.operands.emplace_back(row.operands[0].name, std::vector<kg::shape>(3, kg::shape{n}));
  return {{"", call, 2.0 * static_cast<double>(n), {}}};
}

geometries cast(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  geometries all;
  for (kg::dtype to : {kg::dtype::float32, kg::dtype::int32, kg::dtype::float64, kg::dtype::uint8})
    if (to != type)
      all.push_back({"to:" + short_name(to), call_of(row, {{n}}, {{"dtype", to}}), static_cast<double>(n), {}});
  return all;
}

}  // namespace kgbench
