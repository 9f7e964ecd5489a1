// SPDX-License-Identifier: Apache-2.0
// Sorted rows, the ten largest elements of rows, searches in a sequence of 1000.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

// One row, rows, columns.
geometries sorted(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = matrix(n).dims();
  const double work = static_cast<double>(n);
  return {{"whole", call_of(row, {{n}}), work, {}},
          {"rows", call_of(row, {x}), static_cast<double>(x.size()), {}},
          {"columns", call_of(row, {x}, {{"axis", 0}}), static_cast<double>(x.size()), {}}};
}

// Ten of each row.
geometries largest(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape x = matrix(n).dims();
  return {{"", call_of(row, {x}, {{"k", std::min<std::int64_t>(10, x[1])}}), static_cast<double>(x.size()), {}}};
}

// In a sequence of 1000.
geometries searched(const kg::op_row& row, kg::dtype, std::int64_t n) {
  constexpr std::int64_t count = 1000;
  std::vector<float> ascending;
  for (std::int64_t i = 0; i < count; ++i)
    ascending.push_back(static_cast<float>(4 * i) / static_cast<float>(count) - 2);
  kg::testkit::sample call = call_of(row, {{count}, {n}});
  call.operands[0].values = kg::tensor(ascending, {count});
  return {{"", call, static_cast<double>(n), {}}};
}

}  // namespace

geometries calls::sort(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  static constexpr maker makers[] = {{"sortedSequence", searched}, {"k", largest}, {"descending", sorted}};
  return made_by(makers, row, type, n);
}

}  // namespace kgbench
