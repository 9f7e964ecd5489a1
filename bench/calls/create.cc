// SPDX-License-Identifier: Apache-2.0
// Kernels that make elements out of numbers.
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

geometries filled(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return {{"", call_of(row, {}, {{"shape", kg::shape{n}}, {"value", 1}}), 0, {}}};
}

geometries filled_like(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return {{"", call_of(row, {{n}}), 0, {std::string(row.operands[0].name)}}};
}

geometries ranged(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return {{"", call_of(row, {}, {{"start", 0}, {"stop", n}}), 0, {}}};
}

geometries spaced(const kg::op_row& row, kg::dtype, std::int64_t n) {
  return {{"", call_of(row, {}, {{"start", -1.0}, {"stop", 1.0}, {"num", n}}), 0, {}}};
}

geometries drawn(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  std::vector<kg::named_attribute> attrs = {{"shape", kg::shape{n}}};
  if (row.attr_index("high") >= 0 && kg::integral.has(type)) attrs.push_back({"high", 1000});  // [0, 1) has one integer
  return {{"", call_of(row, {}, attrs), 0, {}}};
}

// 10 and 1000 outcomes.
geometries drawn_outcomes(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::int64_t outcomes : {10, 1000})
    all.push_back({"outcomes:" + std::to_string(outcomes),
                   call_of(row, {{1, outcomes}}, {{"numSamples", n}}),
                   static_cast<double>(n),
                   {}});
  return all;
}

}  // namespace

geometries calls::create(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  static constexpr maker makers[] = {
      {"x", filled_like}, {"value", filled}, {"num", spaced}, {"start", ranged}, {"numSamples", drawn_outcomes},
      {"seed", drawn}};
  return made_by(makers, row, type, n);
}

}  // namespace kgbench
