// SPDX-License-Identifier: Apache-2.0
// Gradients of chains of ops against differences. Every op's own rule is checked in every_op.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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

TEST(gradients, of_products_take_memory_linear_in_their_elements) {
  constexpr std::int64_t n = 1 << 16;
  const kg::tensor x = kg::ones({n});
  const kg::memory_budget budget(64 * n * 8);
  const kg::tensor of_product = kg::grad([](const kg::tensor& v) { return kg::prod(v); })(x);
  EXPECT_EQ(kg::sum(of_product == 1).item(), n);
  const kg::tensor of_running = kg::grad([](const kg::tensor& v) { return kg::sum(kg::cumprod(v)); })(x);
  EXPECT_EQ(kg::sum(of_running == kg::arange(n, 0, -1)).item(), n);
}

TEST(gradients, of_products_are_right_where_products_of_some_leave_the_range_of_floats) {
  const kg::tensor x{1e-30f, 1e-30f, 1e30f, 1e30f};
  const std::vector<double> wanted = {1e30, 1e30, 1e-30, 1e-30};
  const std::vector<double> got = kg::grad([](const kg::tensor& v) { return kg::prod(v); })(x).to_doubles();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i] / wanted[i], 1, 1e-6) << i;
}

// Elements, and the gradients of their product and of the sum of their running products.
struct overflowing {
  std::vector<double> x, of_product, of_running;
};

TEST(gradients, of_products_are_no_nan_where_a_partial_product_overflows_next_to_a_zero) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const overflowing cases[] = {
      {{0, 1, 1e200, 1e200}, {infinity, 0, 0, 0}, {infinity, 0, 0, 0}},
      {{1, 0, 1e200, 1e200}, {0, infinity, 0, 0}, {1, infinity, 0, 0}},
      {{0, 0, 1e200, 1e200}, {0, 0, 0, 0}, {1, 0, 0, 0}},
      {{0, 1e200, 1e200, 0}, {0, 0, 0, 0}, {infinity, 0, 0, 0}},
      {{0, 1e-100, 1e200, 1e-100}, {1, 0, 0, 0}, {1e100 + 2, 0, 0, 0}},
  };
  const auto flipped = [](const std::vector<double>& v) { return std::vector<double>(v.rbegin(), v.rend()); };
  const auto product = kg::grad([](const kg::tensor& v) { return kg::prod(v); });
  const auto running = kg::grad([](const kg::tensor& v) { return kg::sum(kg::cumprod(v)); });
  const auto reversed = kg::grad([](const kg::tensor& v) { return kg::sum(kg::cumprod(v, 0, false, true)); });
  for (const overflowing& of : cases) {
    const kg::tensor x(of.x);
    EXPECT_EQ(product(x).to_doubles(), of.of_product) << x;
    EXPECT_EQ(running(x).to_doubles(), of.of_running) << x;
    EXPECT_EQ(reversed(kg::tensor(flipped(of.x))).to_doubles(), flipped(of.of_running)) << x;
    if (of.x[2] < 1e200) continue;
    std::vector<float> narrow;  // nine times as many overflow the double precision that float32 is computed in
    for (const double one : of.x)
      narrow.insert(narrow.end(), one > 1 ? 9 : 1, one > 1 ? 1e38F : static_cast<float>(one));
    const std::vector<double> got = product(kg::tensor(narrow)).to_doubles();
    EXPECT_EQ(std::ranges::count_if(got, [](double one) { return std::isnan(one); }), 0) << kg::tensor(narrow);
  }
}

TEST(gradients, of_running_products_pass_by_products_that_overflow_without_a_weight) {
  const kg::tensor x{1e200, 1e200, 1e200, 1e200};
  const kg::tensor got = kg::grad([](const kg::tensor& v) { return kg::cumprod(v)(0); })(x);
  EXPECT_EQ(got.to_doubles(), (std::vector<double>{1, 0, 0, 0}));
}

TEST(gradients, of_products_keep_the_nan_of_zero_times_an_infinite_element) {
  const kg::tensor x{0., std::numeric_limits<double>::infinity(), 2.};
  const std::vector<double> got = kg::grad([](const kg::tensor& v) { return kg::prod(v); })(x).to_doubles();
  EXPECT_TRUE(std::isnan(got[2])) << got[2];
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

TEST(gradients, call_other_ops_with_the_attributes_of_the_op_that_they_differentiate) {
  kg::testkit::stream draw(7);
  const auto random = [&](const kg::shape& dims) {
    std::vector<double> values(static_cast<std::size_t>(dims.size()));
    for (double& v : values) v = 2 * draw.unit() - 1;
    return kg::tensor(values, dims);
  };
  using integers = std::vector<std::int64_t>;
  // No attribute has its default, so that a rule that forgets one gives another shape or other numbers.
  const struct {
    const char* op;
    std::vector<const char*> operands;
    std::vector<kg::shape> dims;
    std::vector<kg::named_attribute> attrs;
  } cases[] = {
      {"Conv2D",
       {"x", "filter"},
       {{1, 2, 7, 6}, {3, 2, 2, 3}},
       {{"strides", integers{2, 1}}, {"pad", 1}, {"dataFormat", "NCHW"}, {"dimRoundingMode", "ceil"}}},
      {"DepthwiseConv2dNative", {"x", "filter"}, {{1, 7, 6, 2}, {2, 2, 2, 2}}, {{"pad", "same"}, {"dilations", 2}}},
      {"AvgPool", {"x"}, {{1, 6, 5, 2}}, {{"filterSize", 3}, {"strides", 2}, {"pad", "same"}}},
      {"LRN", {"x"}, {{1, 2, 2, 5}}, {{"depthRadius", 1}, {"bias", 2.0}, {"alpha", 0.5}, {"beta", 0.75}}},
      {"StridedSlice",
       {"x"},
       {{4, 3, 5}},
       {{"begin", integers{3, 1, 1}},
        {"end", integers{0, 3, 4}},
        {"strides", integers{-2, 1, 2}},
        {"beginMask", 4},
        {"endMask", 1},
        {"shrinkAxisMask", 2}}},
      {"FusedConv2D",
       {"x", "filter", "bias"},
       {{1, 2, 5, 4}, {2, 2, 2, 3}, {3}},
       {{"strides", 2},
        {"pad", "same"},
        {"dataFormat", "NCHW"},
        {"activation", "leakyrelu"},
        {"leakyreluAlpha", -0.5}}},
  };
  for (const auto& c : cases) {
    const kg::testkit::results_of call = [&c](std::span<const kg::tensor> xs) {
      std::vector<kg::named_operand> in;
      for (std::size_t i = 0; i < xs.size(); ++i) in.push_back({c.operands[i], xs[i]});
      return kg::run_kernel_list(c.op, in, c.attrs);
    };
    std::vector<kg::tensor> xs;
    for (const kg::shape& dims : c.dims) xs.push_back(random(dims));
    const kg::testkit::report found = kg::testkit::check_function(c.op, call, xs);
    EXPECT_TRUE(found) << c.op << ": " << found;
  }
}

TEST(gradients, of_third_order_are_right) {
  const kg::testkit::results_of slope = [](std::span<const kg::tensor> xs) {
    return kg::tensor_list{kg::grad([](const kg::tensor& t) { return kg::exp(t) * kg::sin(t) + kg::tanh(t); })(xs[0])};
  };
  const kg::tensor x({0.3, -0.8, 1.1});
  const kg::testkit::report found = kg::testkit::check_function("slope", slope, {&x, 1});
  EXPECT_TRUE(found) << found;
}

TEST(gradients, of_running_extremes_go_to_the_first_of_equals_on_the_walk) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const kg::tensor dy({1., 2., 4., 8., 16., 32., 64.}), x({1., 3., 3., 2., 5., nan, 7.}), ties({2., 1., 1., 3.});
  const auto slopes = [](auto f, const kg::tensor& at, const kg::tensor& weights) {
    return kg::grad([&](const kg::tensor& t) { return kg::sum(f(t) * weights); })(at).to_doubles();
  };
  using list = std::vector<double>;
  EXPECT_EQ(slopes([](const kg::tensor& t) { return kg::cummax(t); }, x, dy), (list{1, 14, 0, 0, 16, 96, 0}));
  EXPECT_EQ(slopes([](const kg::tensor& t) { return kg::cummax(t, 0, true); }, x, dy), (list{2, 28, 0, 0, 32, 64, 0}));
  EXPECT_EQ(slopes([](const kg::tensor& t) { return kg::cummin(t, 0, false, true); }, ties, kg::slice(dy, {0}, {4})),
            (list{0, 0, 7, 8}));
  EXPECT_EQ(slopes([](const kg::tensor& t) { return kg::cummin(t, 0, true, true); }, ties, kg::slice(dy, {0}, {4})),
            (list{0, 0, 3, 4}));
}

TEST(gradients, of_exclusive_running_extremes_are_right_behind_the_start) {
  const kg::tensor x({{0.3, -0.8, 1.1, 0.2}, {0.9, 0.1, -0.4, 1.7}, {-0.5, 0.6, 0.4, -1.2}});
  for (const bool reverse : {false, true})
    for (const int axis : {0, 1}) {
      const kg::testkit::results_of extremes = [=](std::span<const kg::tensor> xs) {
        const kg::tensor most = kg::cummax(xs[0], axis, true, reverse), least = kg::cummin(xs[0], axis, true, reverse);
        // Without the first one on the walk, which is infinite.
        const std::int64_t first = reverse ? 0 : 1, rows = axis == 0 ? 2 : 3, columns = axis == 1 ? 3 : 4;
        const auto finite = [&](const kg::tensor& y) {
          const std::vector<std::int64_t> begin = {axis == 0 ? first : 0, axis == 1 ? first : 0},
                                          size = {rows, columns};
          return kg::slice(y, begin, size);
        };
        return kg::tensor_list{finite(most) * finite(least)};
      };
      const kg::testkit::report found = kg::testkit::check_function("extremes", extremes, {&x, 1});
      EXPECT_TRUE(found) << found;
    }
}

}  // namespace
