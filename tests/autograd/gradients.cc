// SPDX-License-Identifier: Apache-2.0
// Gradients of chains of ops against differences. Every op's own rule is checked in every_op.cc.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

import kerngrad;
import kerngrad.testkit;

namespace {

TEST(gradients, are_right_where_a_product_has_zeros) {
  constexpr const char* ops[] = {"Prod", "Cumprod"};
  const std::vector<double> lists[] = {{2, 0, 3, -1}, {0, 2, 0, 3}};
  for (const auto& [op, values] : ranges::views::cartesian_product(ops, lists)) {
    const kg::testkit::results_of product = [op = op](std::span<const kg::tensor> xs) {
      const std::vector<kg::named_operand> in = {{"x", xs[0]}};
      return kg::run_kernel_list(op, in);
    };
    const kg::tensor x(values);
    const kg::testkit::report found = kg::testkit::check_function(op, product, {&x, 1});
    EXPECT_TRUE(found) << found;
  }
}

TEST(gradients, go_through_a_network_with_a_comparison_and_a_cast_on_the_path) {
  const kg::testkit::results_of network = [](std::span<const kg::tensor> xs) {
    const kg::tensor h = kg::gelu(kg::conv2d(xs[0], xs[1], {.strides = 2, .pad = kg::same}));
    const kg::tensor pooled =
        kg::max_pool(h * kg::cast(h > 0.1, kg::dtype::float64) + kg::where(h < 0, h, h * 2), 2, {.strides = 1});
    return kg::tensor_list{kg::softmax(kg::matmul(kg::reshape(pooled, {2, -1}), xs[2]))};
  };
  kg::testkit::stream draw(5);
  const auto random = [&](const kg::shape& dims) {
    std::vector<double> values(static_cast<std::size_t>(dims.size()));
    for (double& v : values) v = 2 * draw.unit() - 1;
    return kg::tensor(values, dims);
  };
  const std::vector<kg::tensor> xs = {random({2, 6, 6, 2}), random({3, 3, 2, 2}), random({8, 3})};
  // Steps that stay on one side of the comparisons and of the largest elements.
  const kg::testkit::report found = kg::testkit::check_function("network", network, xs, {1e-4, 1e-6});
  EXPECT_TRUE(found) << found;
}

TEST(gradients, of_third_order_are_right) {
  const kg::testkit::results_of slope = [](std::span<const kg::tensor> xs) {
    return kg::tensor_list{kg::grad([](const kg::tensor& t) { return kg::exp(t) * kg::sin(t) + kg::tanh(t); })(xs[0])};
  };
  const kg::tensor x({0.3, -0.8, 1.1});
  const kg::testkit::report found = kg::testkit::check_function("slope", slope, {&x, 1});
  EXPECT_TRUE(found) << found;
}

}  // namespace
