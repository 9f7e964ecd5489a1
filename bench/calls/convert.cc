// SPDX-License-Identifier: Apache-2.0
// Conversions of n elements: to a dtype as wide, a wider and a narrower one.
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

// To a dtype as wide, a wider and a narrower one.
geometries cast(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  geometries all;
  for (kg::dtype to : {kg::dtype::float32, kg::dtype::int32, kg::dtype::float64, kg::dtype::uint8})
    if (to != type)
      all.push_back({"to:" + short_name(to), call_of(row, {{n}}, {{"dtype", to}}), static_cast<double>(n), {}});
  return all;
}

}  // namespace

geometries calls::convert(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.attr_index("dtype") >= 0 ? cast(row, type, n) : elementwise(row, type, n);
}

}  // namespace kgbench
