// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the composed functions: values to compare with, operands, gradients against differences.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.testkit;

namespace kgtest {

using doubles = std::vector<double>;

/// Shape and elements; NaN is as good as NaN.
inline void expect_values(const kg::tensor& got, const kg::shape& dims, const doubles& wanted, double within = 1e-12) {
  ASSERT_EQ(got.dims(), dims);
  const doubles values = got.to_doubles();
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == wanted[i] || (std::isnan(values[i]) && std::isnan(wanted[i]))) continue;
    EXPECT_NEAR(values[i], wanted[i], within) << "element " << i;
  }
}

/// float64 values in [low, high).
inline kg::tensor uniform(const kg::shape& dims, int seed, double low = -1, double high = 1) {
  return kg::random_uniform(dims, low, high, seed, kg::dtype::float64);
}

/// Gradients of both orders of a function with one result.
inline void check_gradients(const std::string& name, const std::function<kg::tensor(std::span<const kg::tensor>)>& f,
                            const std::vector<kg::tensor>& xs) {
  const kg::testkit::results_of results = [&](std::span<const kg::tensor> in) { return kg::tensor_list{f(in)}; };
  const kg::testkit::report found = kg::testkit::check_function(name, results, xs);
  EXPECT_TRUE(found) << found;
}

/// The call is rejected by the function of that name in kg, with all the words.
template <class F>
void expect_refused(const std::string& name, F call, std::initializer_list<std::string_view> words) {
  const std::string text = refusal(call);
  EXPECT_TRUE(text.starts_with("[kg::" + name + "] got ")) << text;
  EXPECT_TRUE(says(text, words)) << text;
}

}  // namespace kgtest
