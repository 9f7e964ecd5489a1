// SPDX-License-Identifier: Apache-2.0
// The incomplete beta function of n operands, with parameters up to 10.
#include <cstdint>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

geometries incomplete_betas(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  kg::testkit::stream draw(5);
  kg::testkit::sample call = call_of(row, {{n}, {n}, {n}});
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (double& v : values) v = (k < 2 ? 10 : 1) * draw.unit() + 1e-3 * (k < 2);
    call.operands[k].values = kg::testkit::from_doubles(values, {n}, type);
  }
  return {{"", call, static_cast<double>(n), {}}};
}

}  // namespace

geometries calls::special(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.operands.size() == 3 ? incomplete_betas(row, type, n) : elementwise(row, type, n);
}

}  // namespace kgbench
