// SPDX-License-Identifier: Apache-2.0
// Products that take along what follows them give what the nodes give one after the other.
#include <cmath>

#include "tests/graph/graphs.h"
#include "tests/graph/own_models.h"

namespace {

using namespace kgtest;
using kg::tensor;
using kg::graph::model;

constexpr kg::close_options near{.rtol = 1e-5, .atol = 1e-5};

// The result of the last node, when it is wanted alone and when all nodes are.
void expect_joined(const char* what, const model& m, const tensor& x, const tensor& wanted) {
  const kg::named_operand in{"x", x};
  std::vector<std::string> computed;
  for (const std::string& name : m.nodes())
    if (!name.starts_with("w") && name != "x") computed.push_back(name);
  for (const std::vector<std::string>& names : {std::vector<std::string>{"y"}, computed}) {
    const tensor y = m({&in, 1}, names).at("y");
    ASSERT_EQ(y.signature(), wanted.signature()) << what << ", " << names.size() << " wanted";
    EXPECT_TRUE(kg::all_close(y, wanted, near)) << what << ", " << names.size() << " wanted";
  }
}

const json conv_attrs{{"strides", wholes({1, 1, 1, 1})}, {"padding", text("SAME")}, {"data_format", text("NHWC")}};

// The least network in which a constant moved while it was read.
TEST(joined_steps, hold_constants_while_others_are_added) {
  const tensor x = hashed({1, 5, 4, 2}, 1), w = hashed({3, 3, 2, 4}, 2), b = hashed({4}, 3), scale = hashed({4}, 4);
  const model m = model_with(
      {input_of("x"), node_of("conv", "Conv2D", {"x", "w0"}, conv_attrs), node_of("biased", "BiasAdd", {"conv", "w1"}),
       node_of("scaled", "Mul", {"biased", "w2"}), node_of("y", "Tanh", {"scaled"})},
      {{"w0", w}, {"w1", b}, {"w2", scale}});
  expect_joined("a scale", m, x, kg::tanh((kg::conv2d(x, w, {.pad = kg::same}) + b) * scale));
}

// Channels of a transposed matrix are its rows, of a square one, too.
TEST(joined_steps, scale_the_channels_of_a_transposed_matrix) {
  for (const std::int64_t to : {4, 3}) {
    const tensor x = hashed({5, 4}, 1), w = hashed({to, 4}, 2), scale = hashed({to}, 3);
    const model m = model_with({input_of("x"), node_of("product", "MatMul", {"x", "w0"}, {{"transpose_b", flag(true)}}),
                                node_of("y", "Mul", {"product", "w1"})},
                               {{"w0", w}, {"w1", scale}});
    expect_joined("a transposed matrix", m, x, kg::matmul(x, w, false, true) * scale);
  }
}

TEST(joined_steps, leave_out_constants_that_give_the_result_more_axes) {
  const tensor x = hashed({2, 3}, 1), w = hashed({3, 4}, 2);
  for (const kg::shape& dims : {kg::shape{1, 1, 4}, kg::shape{1, 1, 1}})
    for (const std::string op : {"AddV2", "Maximum"}) {
      const tensor c = op == "Maximum" ? kg::zeros(dims) : hashed(dims, 3);
      if (op == "Maximum" && dims.size() != 1) continue;
      const model m =
          model_with({input_of("x"), node_of("product", "MatMul", {"x", "w0"}), node_of("y", op, {"product", "w1"})},
                     {{"w0", w}, {"w1", c}});
      const tensor product = kg::matmul(x, w);
      expect_joined(op.c_str(), m, x, op == "Maximum" ? kg::maximum(product, c) : product + c);
    }
}

// 0 / 0 is NaN, all else divided by 0 infinite: weights times infinity would be NaN where a weight is 0.
TEST(joined_steps, leave_out_factors_that_are_not_finite) {
  const tensor x({1.f, 2.f}, {1, 2}), w({0.f, 1.f, 1.f, 1.f}, {2, 2}), c({0.f, 2.f});
  const model m =
      model_with({input_of("x"), node_of("product", "MatMul", {"x", "w0"}), node_of("y", "RealDiv", {"product", "w1"})},
                 {{"w0", w}, {"w1", c}});
  const std::vector<double> y = tensor(m({{"x", x}}, {"y"})[0]).to_doubles();
  EXPECT_TRUE(std::isinf(y[0]));
  EXPECT_EQ(y[1], 1.5);
}

}  // namespace
