// SPDX-License-Identifier: Apache-2.0
// The three ways to call an op: typed, on spans, by name. Also a gradient, a fused function and indices.
#include <gtest/gtest.h>

#include <span>
#include <vector>

import kerngrad;

namespace {

TEST(three_ways_to_call, give_the_results_of_the_definition) {
  const kg::tensor x = kg::ones({1, 4, 4, 2}), w = kg::ones({3, 3, 2, 1});
  const std::vector<float> a{1, 2}, b{10, 20};
  std::vector<float> sum(2);
  const std::span<const float> a_span(a), b_span(b);
  const std::span<float> out_span(sum);

  auto y = kg::conv2d(x, w, {.strides = 2, .pad = kg::same});          // typed: resolved at compile time
  kg::kernel<"Add">(a_span, b_span, out_span);                         // raw: spans in, spans out, nothing else
  auto z = kg::run_kernel("LeakyRelu", {{"x", x}}, {{"alpha", 0.1}});  // by name: custom ops, data-driven graphs

  auto g = kg::grad([](const kg::tensor& t) { return kg::sum(kg::exp(t) * t); })(x);  // nests to any order
  auto s = kg::fuse([](auto a, auto b) { return kg::exp(-a) * b + 1; })(x, x);  // one pass over memory, differentiable
  auto e = x(0, kg::all, kg::range(3, kg::end, -2), -1);                        // NumPy's indices

  // Sums of 3x3 windows on 4x4 ones, padded below and to the right: 9, 6, 6 and 4 places, two channels each.
  EXPECT_EQ(y.to_doubles(), (std::vector<double>{18, 12, 12, 8}));
  EXPECT_EQ(sum, (std::vector<float>{11, 22}));
  EXPECT_EQ(z.to_doubles(), x.to_doubles());
  EXPECT_EQ(g.dims(), x.dims());
  for (const double value : s.to_doubles()) EXPECT_NEAR(value, 1 + 0.36787944117144233, 1e-6);
  EXPECT_EQ(e.dims(), (kg::shape{4, 2}));
  for (const double slope : g.to_doubles()) EXPECT_NEAR(slope, 2 * 2.718281828459045, 1e-5);
}

}  // namespace
