// SPDX-License-Identifier: Apache-2.0
// Fused layers: the calls of their product, with bias and relu.
#include <cstdint>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {

geometries calls::fused(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  return row.operand_index("filter") >= 0 ? window(row, type, n) : matmul(row, type, n);
}

}  // namespace kgbench
