// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels: every operand has n elements.
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

// All operands [n].
geometries flat(const kg::op_row& row, kg::dtype, std::int64_t n) {
  // Attributes as the kit gives them: those that a row wants have values that are none of its special cases.
  const std::vector<kg::testkit::sample> legal = kg::testkit::samples_of(row);
  std::vector<kg::named_attribute> attrs;
  if (!legal.empty()) attrs = legal.front().attrs;
  return {
      {"", call_of(row, std::vector<kg::shape>(row.operands.size(), kg::shape{n}), attrs), static_cast<double>(n), {}}};
}

// A list of three.
geometries flat_list(const kg::op_row& row, kg::dtype, std::int64_t n) {
  kg::testkit::sample call;
  call.operands.emplace_back(row.operands[0].name, std::vector<kg::shape>(3, kg::shape{n}));
  return {{"", call, 2.0 * static_cast<double>(n), {}}};
}

}  // namespace

geometries calls::elementwise(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.takes_list() ? flat_list(row, type, n) : flat(row, type, n);
}

}  // namespace kgbench
