// SPDX-License-Identifier: Apache-2.0
// Reductions of everything, of rows and of columns. Scans along the last axis, the only one and the first one.
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

geometries reduction(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = matrix(n).dims();
  const std::string axis(row.attrs[0].name);
  const double work = static_cast<double>(dims.size());
  return {{"all", call_of(row, {{dims.size()}}, {{axis, 0}}), work, {}},
          {"rows", call_of(row, {dims}, {{axis, 1}}), work, {}},
          {"columns", call_of(row, {dims}, {{axis, 0}}), work, {}}};
}

geometries scanned(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = matrix(n).dims();
  const auto along = [&](const char* variant, const kg::shape& shape, std::int64_t axis) {
    return geometry{
        variant, call_of(row, {shape}, {{std::string(row.attrs[0].name), axis}}), static_cast<double>(dims.size()), {}};
  };
  return {along("", dims, 1), along("all", {dims.size()}, 0), along("columns", dims, 0)};
}

}  // namespace

geometries calls::reduce(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.attr_index("exclusive") >= 0 ? scanned(row, type, n) : reduction(row, type, n);
}

}  // namespace kgbench
