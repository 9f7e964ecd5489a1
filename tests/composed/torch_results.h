// SPDX-License-Identifier: Apache-2.0
// Operands of layers_of_torch.py, and its results next to those here.
#pragma once
#include <string>
#include <vector>

#include "tests/composed/layers_of_torch.h"
#include "tests/composed/support.h"

namespace kgtest {

// wave of layers_of_torch.py.
inline kg::tensor wave(const kg::shape& dims, double k) {
  const kg::tensor all = kg::arange(0, static_cast<double>(dims.size()), 1, kg::dtype::float64);
  return kg::reshape(kg::sin(all * 0.7 + k), dims);
}

// The elements of all results, one after the other.
inline void expect_torch(const std::string& expression, const std::vector<kg::tensor>& got, double within = 1e-10) {
  SCOPED_TRACE(expression);
  doubles all;
  for (const kg::tensor& part : got) {
    const doubles values = part.to_doubles();
    all.insert(all.end(), values.begin(), values.end());
  }
  const doubles& wanted = layers_of_torch.at(expression);
  ASSERT_EQ(all.size(), wanted.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], wanted[i], within) << "element " << i;
}

}  // namespace kgtest
