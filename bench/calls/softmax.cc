// SPDX-License-Identifier: Apache-2.0
// The softmax family, along the last axis.
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {

geometries calls::softmax(const kg::op_row& row, kg::dtype, std::int64_t n) {
  const kg::shape dims = matrix(n).dims();
  const std::vector<kg::shape> operands(row.operands.size(), dims);
  std::vector<kg::named_attribute> attrs;
  if (!row.attrs.empty()) attrs = {{std::string(row.attrs[0].name), 1}};
  return {{"", call_of(row, operands, attrs), static_cast<double>(dims.size()), {}}};
}

}  // namespace kgbench
