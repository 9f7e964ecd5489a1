// SPDX-License-Identifier: Apache-2.0
// The fused layers against their parts run one by one: bitwise identical results, of values and of gradients, on every
// target. Properties of every op are tested in every_op.cc.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.testkit;

namespace {

namespace views = ranges::views;

using kg::activation;

constexpr activation activations[] = {activation::linear,  activation::relu,      activation::relu6, activation::elu,
                                      activation::sigmoid, activation::leakyrelu, activation::prelu};

kg::tensor random(const kg::shape& dims, kg::dtype type, std::uint64_t seed) {
  kg::testkit::stream draw(seed);
  std::vector<double> values(static_cast<std::size_t>(dims.size()));
  for (double& v : values) v = 4 * draw.unit() - 2;
  return kg::testkit::from_doubles(values, dims, type);
}

bool same_bits(const kg::tensor& a, const kg::tensor& b) {
  return a.signature() == b.signature() &&
         std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * kg::size_of(a.type())) == 0;
}

struct layer {
  std::string op;
  std::vector<kg::shape> operands;  // of the product, the bias, and prelu's weights
  bool channels_first = false;
  bool transposed = false;
  double alpha = 0.2;
};

// The layer by its parts. A bias of rank 1 belongs to the channels, which are the last axis or axis 1.
kg::tensor parts(const layer& l, activation after, std::span<const kg::tensor> in) {
  kg::tensor sum;
  const kg::conv_options options{.pad = kg::same, .channels_first = l.channels_first};
  if (l.op == "_FusedMatMul") sum = kg::matmul(in[0], in[1], l.transposed, l.transposed);
  else if (l.op == "FusedConv2D") sum = kg::conv2d(in[0], in[1], options);
  else sum = kg::depthwise_conv2d(in[0], in[1], options);
  const auto aligned = [&](const kg::tensor& x) {
    return l.channels_first && x.rank() == 1 ? kg::reshape(x, {x.dims()[0], 1, 1}) : x;
  };
  sum = sum + aligned(in[2]);
  switch (after) {
    case activation::linear: return sum;
    case activation::relu: return kg::relu(sum);
    case activation::relu6: return kg::relu6(sum);
    case activation::elu: return kg::elu(sum);
    case activation::sigmoid: return kg::sigmoid(sum);
    case activation::leakyrelu: return kg::leaky_relu(sum, l.alpha);
    case activation::prelu: return kg::prelu(sum, aligned(in[3]));
  }
  return {};
}

kg::tensor fused(const layer& l, activation after, std::span<const kg::tensor> in) {
  const kg::tensor weights = in.size() > 3 ? in[3] : kg::tensor();
  if (l.op == "_FusedMatMul")
    return kg::fused_matmul(in[0], in[1],
                            {.bias = in[2],
                             .activation = after,
                             .prelu_weights = weights,
                             .leakyrelu_alpha = l.alpha,
                             .transpose_a = l.transposed,
                             .transpose_b = l.transposed});
  const kg::fused_conv_options options{.bias = in[2],
                                       .activation = after,
                                       .prelu_weights = weights,
                                       .leakyrelu_alpha = l.alpha,
                                       .pad = kg::same,
                                       .channels_first = l.channels_first};
  return l.op == "FusedConv2D" ? kg::fused_conv2d(in[0], in[1], options)
                               : kg::fused_depthwise_conv2d(in[0], in[1], options);
}

std::vector<kg::tensor> operands_of(const layer& l, activation after, kg::dtype type) {
  std::vector<kg::tensor> in;
  for (std::size_t i = 0; i < (after == activation::prelu ? 4 : 3); ++i)
    in.push_back(random(l.operands[i], type, 7 + i));
  return in;
}

const std::vector<layer>& small_layers() {
  static const std::vector<layer> all = {{"_FusedMatMul", {{5, 7}, {7, 19}, {19}, {19}}},
                                         {"_FusedMatMul", {{7, 5}, {3, 7}, {5, 1}, {}}, false, true, -0.5},
                                         {"_FusedMatMul", {{2, 1, 4, 3}, {3, 3, 5}, {3, 1, 5}, {2, 1, 1, 1}}},
                                         {"FusedConv2D", {{2, 5, 6, 3}, {3, 3, 3, 5}, {5}, {5}}},
                                         {"FusedConv2D", {{2, 3, 5, 6}, {3, 3, 3, 5}, {5}, {5}}, true, false, -0.5},
                                         {"FusedConv2D", {{2, 5, 6, 3}, {3, 2, 3, 4}, {2, 5, 6, 1}, {1, 6, 1}}},
                                         {"FusedConv2D", {{2, 5, 6, 6}, {3, 3, 3, 4}, {4}, {4}}},
                                         {"FusedConv2D", {{2, 5, 6, 4}, {3, 3, 1, 4}, {4}, {4}}},
                                         {"FusedDepthwiseConv2D", {{2, 6, 5, 3}, {3, 3, 3, 2}, {6}, {1, 1, 6}}},
                                         {"FusedDepthwiseConv2D", {{2, 3, 5, 6}, {3, 3, 3, 2}, {6, 1, 1}, {6}}, true}};
  return all;
}
// Results of more than one part, with odd remainders.
const std::vector<layer>& large_layers() {
  static const std::vector<layer> all = {{"_FusedMatMul", {{1601, 9}, {9, 263}, {263}, {263}}},
                                         {"_FusedMatMul", {{1100, 4}, {4, 520}, {}, {520}}},
                                         {"FusedConv2D", {{2, 67, 83, 5}, {3, 3, 5, 41}, {41}, {41}}},
                                         {"FusedConv2D", {{61, 9, 11, 6}, {3, 3, 6, 48}, {48}, {48}}},
                                         {"FusedConv2D", {{2, 5, 7, 33}, {3, 3, 33, 211}, {211}, {}}},
                                         {"FusedConv2D", {{1, 9, 13, 40}, {3, 3, 40, 170}, {170}, {170}}},
                                         {"FusedDepthwiseConv2D", {{2, 29, 31, 67}, {5, 3, 67, 1}, {67}, {67}}},
                                         {"FusedDepthwiseConv2D", {{67, 5, 7, 16}, {3, 3, 16, 2}, {32}, {32}}}};
  return all;
}

std::string label(const layer& l, activation after, kg::dtype type) {
  return l.op + " " + std::string(kg::name_of(type)) + " " + kg::to_string(l.operands[0]) + " " +
         std::string(kg::name_of(after));
}

void expect_bits_of_the_parts(const std::vector<layer>& layers) {
  constexpr kg::dtype types[] = {kg::dtype::float32, kg::dtype::float64};
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    for (const auto& [l, type, after] : views::cartesian_product(layers, types, activations)) {
      const std::vector<kg::tensor> in = operands_of(l, after, type);
      EXPECT_TRUE(same_bits(fused(l, after, in), parts(l, after, in))) << target.name << " " << label(l, after, type);
    }
  }
  kg::set_simd_target("");
}

TEST(a_fused_layer, has_the_bits_of_its_parts) { expect_bits_of_the_parts(small_layers()); }
TEST(a_fused_layer, has_the_bits_of_its_parts_when_its_result_is_finished_in_several) {
  expect_bits_of_the_parts(large_layers());
}

// Padding takes no part in such a sum: the convolution is computed again by the taps that lie inside, and finished
// again.
TEST(a_fused_layer, has_the_bits_of_its_parts_where_a_weight_is_infinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<layer> layers = {{"FusedConv2D", {{2, 5, 6, 3}, {3, 3, 3, 5}, {5}, {5}}},
                                     {"FusedConv2D", {{1, 12, 12, 8}, {3, 3, 8, 200}, {200}, {200}}}};
  for (const auto& [l, after] : views::cartesian_product(layers, activations)) {
    std::vector<kg::tensor> in = operands_of(l, after, kg::dtype::float32);
    std::vector<double> filter = in[1].to_doubles();
    filter[0] = infinity;
    in[1] = kg::testkit::from_doubles(filter, l.operands[1], kg::dtype::float32);
    EXPECT_TRUE(same_bits(fused(l, after, in), parts(l, after, in))) << label(l, after, kg::dtype::float32);
  }
}

// Gradients of elu and sigmoid are made of their operand, which a fused layer does not keep: there they are made of the
// result.
bool same_gradients(activation after, const kg::tensor& a, const kg::tensor& b) {
  const bool of_result = after == activation::elu || after == activation::sigmoid;
  return of_result ? kg::all_close(a, b, {.rtol = 1e-3, .atol = 1e-5}) : same_bits(a, b);
}

TEST(a_fused_layer, has_the_gradients_of_its_parts_in_all_operands_bit_by_bit) {
  const auto& layers = small_layers();
  for (const auto& [l, after] : views::cartesian_product(layers, activations)) {
    const std::vector<kg::tensor> in = operands_of(l, after, kg::dtype::float32);
    const kg::tensor dy = random(parts(l, after, in).dims(), kg::dtype::float32, 3);
    const auto of = [&](auto f) {
      return kg::value_and_grads_of([&](std::span<const kg::tensor> xs) { return f(l, after, xs); }, in, dy).grads;
    };
    const std::vector<kg::tensor> got = of(fused), wanted = of(parts);
    for (std::size_t i = 0; i < in.size(); ++i)
      EXPECT_TRUE(same_gradients(after, got[i], wanted[i])) << label(l, after, kg::dtype::float32) << " operand " << i;
  }
}

// Sums of exactly 0 and 6, and with both signs, through a product with the identity.
TEST(a_fused_layer, has_the_gradient_conventions_of_its_activation_at_kinks) {
  const kg::tensor x({0.f, 6.f, -0.f, 5.f, 7.f, -1.f}, {6, 1}), one({1.f}, {1, 1}), slopes({-0.5f}, {1});
  constexpr double alphas[] = {0.2, 0.0, -0.5};
  for (const auto& [after, alpha] : views::cartesian_product(activations, alphas)) {
    const layer l{"_FusedMatMul", {}, false, false, alpha};
    std::vector<kg::tensor> in = {x, one, kg::tensor({0.f}, {1})};
    if (after == activation::prelu) in.push_back(slopes);
    const auto slope_of = [&](auto f) {
      return kg::value_and_grads_of([&](std::span<const kg::tensor> xs) { return f(l, after, xs); }, in,
                                    kg::ones({6, 1}))
          .grads;
    };
    const std::vector<kg::tensor> got = slope_of(fused), wanted = slope_of(parts);
    for (std::size_t i = 0; i < in.size(); ++i)
      EXPECT_TRUE(same_gradients(after, got[i], wanted[i])) << kg::name_of(after) << " " << alpha << " operand " << i;
  }
}

TEST(a_fused_layer, lets_special_values_through_as_its_parts_do) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const kg::tensor x({0.f, -0.f, infinity, -infinity, nan, 1e-42f, -1e-42f, 3e38f, -3e38f, 100.f, -100.f}, {11, 1});
  const kg::tensor one({1.f}, {1, 1});
  constexpr float shifts[] = {-0.f, 0.f, -2.f, infinity, 3e38f};
  for (const auto& [shift, after] : views::cartesian_product(shifts, activations)) {
    std::vector<kg::tensor> in = {x, one, kg::tensor({shift}, {1})};
    if (after == activation::prelu) in.push_back(kg::tensor({0.25f}, {1}));
    const layer l{"_FusedMatMul", {}};
    EXPECT_TRUE(same_bits(fused(l, after, in), parts(l, after, in))) << kg::name_of(after) << " " << shift;
  }
}

// Relu's gradient comes from the result; prelu's asks for the sum, which is computed again, once for all operands.
TEST(a_fused_layer, computes_its_product_again_only_for_activations_that_need_the_sum_and_then_once) {
  const layer& l = small_layers()[0];
  for (activation after : activations) {
    const std::vector<kg::tensor> in = operands_of(l, after, kg::dtype::float32);
    int calls = 0, slopes = 0;
    const kg::hook_handle counted = kg::add_hooks({.end =
                                                       [&](const kg::kernel_event& e) {
                                                         calls += e.op == l.op;
                                                         slopes += e.op == "ReluGrad";
                                                       },
                                                   .this_thread_only = true});
    kg::value_and_grads_of([&](std::span<const kg::tensor> xs) { return fused(l, after, xs); }, in,
                           kg::ones(parts(l, after, in).dims()));
    EXPECT_EQ(calls, after == activation::prelu || after == activation::relu6 ? 2 : 1) << kg::name_of(after);
    EXPECT_EQ(slopes, after == activation::relu ? 1 : 0) << kg::name_of(after);
  }
}

TEST(a_fused_layer, without_bias_keeps_the_sign_of_a_zero) {
  const kg::tensor y = kg::fused_conv2d(kg::tensor({-0.f}, {1, 1, 1, 1}), kg::tensor({1.f}, {1, 1, 1, 1}),
                                        {.activation = activation::leakyrelu});
  const kg::tensor alone = kg::conv2d(kg::tensor({-0.f}, {1, 1, 1, 1}), kg::tensor({1.f}, {1, 1, 1, 1}));
  EXPECT_TRUE(same_bits(y, alone));
}

TEST(a_fused_layer, is_called_by_name_with_the_attributes_of_the_typed_call) {
  const kg::tensor x = random({1, 5, 5, 2}, kg::dtype::float32, 1), w = random({3, 3, 2, 4}, kg::dtype::float32, 2);
  const kg::tensor slopes = random({4}, kg::dtype::float32, 3);
  const kg::tensor named = kg::run_kernel(
      "FusedConv2D", {{"x", x}, {"filter", w}, {"preluActivationWeights", slopes}},
      {{"strides", {2, 2}}, {"pad", "same"}, {"dilations", {1, 1}}, {"dataFormat", "NHWC"}, {"activation", "prelu"}});
  EXPECT_TRUE(same_bits(
      named, kg::fused_conv2d(
                 x, w, {.activation = activation::prelu, .prelu_weights = slopes, .strides = 2, .pad = kg::same})));
}

// relu6 takes its gradient from the sum, which is computed again, with a bias if there is one.
TEST(a_fused_layer, called_by_name_without_its_last_operands_has_the_gradient_of_the_typed_call) {
  const kg::tensor a = random({2, 3}, kg::dtype::float32, 1), b = random({3, 4}, kg::dtype::float32, 2);
  // In second order, with all that calls after the layer keep: none of it is the layer's bias.
  const auto of = [&](auto layer_of) {
    const auto slope = kg::grad([&](const kg::tensor& x) { return kg::sum(kg::square(layer_of(x))); });
    return kg::grad([&](const kg::tensor& x) { return kg::sum(kg::square(slope(x))); })(a);
  };
  const kg::tensor named = of([&](const kg::tensor& x) {
    return kg::run_kernel("_FusedMatMul", {{"a", x}, {"b", b}}, {{"activation", "relu6"}});
  });
  const kg::tensor typed =
      of([&](const kg::tensor& x) { return kg::fused_matmul(x, b, {.activation = activation::relu6}); });
  EXPECT_TRUE(same_bits(named, typed));
}

TEST(a_fused_layer, refuses_what_does_not_fit_and_says_why) {
  const kg::tensor a = kg::zeros({2, 3}), b = kg::zeros({3, 4}), five = kg::zeros({5}), four = kg::zeros({4});
  const auto expect = [](const std::string& text, std::initializer_list<const char*> all) {
    for (const char* part : all) EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(kgtest::refusal([&] { return kg::fused_matmul(a, b, {.bias = five}); }),
         {"[kg::fused_matmul]", "bias", "[5]", "broadcasts", "[2, 4]"});
  expect(kgtest::refusal([&] { return kg::fused_matmul(a, b, {.bias = kg::zeros({2, 2, 4})}); }),
         {"bias", "[2, 2, 4]"});
  expect(kgtest::refusal([&] { return kg::fused_matmul(a, b, {.activation = activation::prelu}); }),
         {"prelu without preluActivationWeights"});
  expect(
      kgtest::refusal([&] { return kg::fused_matmul(a, b, {.activation = activation::relu, .prelu_weights = four}); }),
      {"preluActivationWeights with activation relu", "leave them out"});
  expect(
      kgtest::refusal([&] { return kg::run_kernel("_FusedMatMul", {{"a", a}, {"b", b}}, {{"activation", "tanh"}}); }),
      {"activation", "tanh", "linear|relu|relu6|elu|sigmoid|leakyrelu|prelu"});
  expect(kgtest::refusal([&] {
           return kg::fused_conv2d(kg::zeros({1, 2, 4, 4}), kg::zeros({1, 1, 2, 3}),
                                   {.bias = four, .channels_first = true});
         }),
         {"[kg::fused_conv2d]", "bias", "[4]", "[1, 3, 4, 4]"});
}

}  // namespace
