// SPDX-License-Identifier: Apache-2.0
// Nodes with attributes, and what they give.
#pragma once
#include "tests/graph/one_op.h"

namespace kgtest {

using list = std::vector<kg::tensor>;

struct op_case {
  std::string_view op;
  json attrs;
  list inputs, wanted;
};

inline const json none = json::object();
inline kg::tensor ints(std::initializer_list<std::int32_t> values) { return kg::tensor(values); }
inline kg::tensor ints(std::initializer_list<std::int32_t> values, const kg::shape& dims) {
  return kg::tensor(values, dims);
}
inline kg::tensor whole_number(std::int32_t value) { return kg::tensor(value); }

/// Ops that convolve, pool, normalise, and products with what follows them.
std::vector<op_case> layer_cases();
/// Ops that move, reduce, make and choose elements.
std::vector<op_case> element_cases();

}  // namespace kgtest
