// SPDX-License-Identifier: Apache-2.0
// Rows of pairs that are sorted by their keys.
#include <cstdint>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {

geometries calls::rank(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = matrix(n).dims();
  return {{"", call_of(row, {dims, dims}), static_cast<double>(dims.size()), {}}};
}

}  // namespace kgbench
