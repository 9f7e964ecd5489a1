// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: by their definitions in double precision, next to PyTorch, and their gradients of two orders.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>

#include "tests/composed/torch_results.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_torch;
using kgtest::expect_values;
using kgtest::uniform;
using kgtest::wave;

std::vector<tensor> lstm_operands() {
  return {wave({3, 2, 4}, 1), wave({4, 12}, 2), wave({3, 12}, 3), wave({12}, 4), wave({2, 3}, 6), wave({2, 3}, 7)};
}
std::vector<tensor> gru_operands() {
  return {wave({3, 2, 4}, 1), wave({4, 9}, 2), wave({3, 9}, 3), wave({9}, 4), wave({2, 3}, 6), wave({9}, 5)};
}
kg::lstm_result lstm_of(std::span<const tensor> in) {
  return kg::lstm(in[0], in[1], in[2], {.bias = in[3], .h = in[4], .c = in[5]});
}
kg::gru_result gru_of(std::span<const tensor> in) {
  return kg::gru(in[0], in[1], in[2], {.bias = in[3], .recurrent_bias = in[5], .h = in[4]});
}

// The loss of layers_of_torch.py.
tensor lstm_loss(std::span<const tensor> in) {
  const auto [y, h, c] = lstm_of(in);
  return kg::sum(y * y) + kg::sum(h) + kg::sum(c) * 2;
}
tensor gru_loss(std::span<const tensor> in) {
  const auto [y, h] = gru_of(in);
  return kg::sum(y * y) + kg::sum(h);
}

TEST(lstm, has_the_values_and_gradients_of_torch) {
  const std::vector<tensor> in = lstm_operands();
  const auto [y, h, c] = lstm_of(in);
  std::vector<tensor> all = {y, h, c};
  const auto found = kg::value_and_grads_of(lstm_loss, in);
  all.insert(all.end(), found.grads.begin(), found.grads.end());
  expect_torch("layer(torch.lstm, 4)", all);
}

TEST(gru, has_the_values_and_gradients_of_torch) {
  const std::vector<tensor> in = gru_operands();
  const auto [y, h] = gru_of(in);
  std::vector<tensor> all = {y, h};
  const auto found = kg::value_and_grads_of(gru_loss, in);
  all.insert(all.end(), found.grads.begin(), found.grads.end());
  expect_torch("layer(torch.gru, 3)", all);
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

TEST(lstm, is_what_its_gates_say) {
  const std::vector<tensor> in = lstm_operands();
  const doubles x = in[0].to_doubles(), k = in[1].to_doubles(), r = in[2].to_doubles();
  doubles h(6), c(6), outputs;
  for (std::size_t step = 0; step < 3; ++step) {
    const doubles before = h;
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t unit = 0; unit < 3; ++unit) {
        double gate[4] = {};
        for (std::size_t g = 0; g < 4; ++g) {
          for (std::size_t i = 0; i < 4; ++i) gate[g] += x[(step * 2 + row) * 4 + i] * k[i * 12 + g * 3 + unit];
          for (std::size_t i = 0; i < 3; ++i) gate[g] += before[row * 3 + i] * r[i * 12 + g * 3 + unit];
        }
        double& memory = c[row * 3 + unit];
        memory = logistic(gate[1]) * memory + logistic(gate[0]) * std::tanh(gate[2]);
        h[row * 3 + unit] = logistic(gate[3]) * std::tanh(memory);
      }
    outputs.insert(outputs.end(), h.begin(), h.end());
  }
  const auto got = kg::lstm(in[0], in[1], in[2]);
  expect_values(got.y, {3, 2, 3}, outputs);
  expect_values(got.h, {2, 3}, h);
  expect_values(got.c, {2, 3}, c);
}

TEST(recurrent_layers, go_backward_and_take_batches_first) {
  const std::vector<tensor> in = lstm_operands(), other = gru_operands();
  const tensor turned = kg::transpose(in[0], {1, 0, 2}), reversed = kg::reverse(in[0], 0);
  const auto plain = kg::lstm(in[0], in[1], in[2]), first = kg::lstm(turned, in[1], in[2], {.batch_first = true});
  EXPECT_EQ(kg::transpose(first.y, {1, 0, 2}).to_doubles(), plain.y.to_doubles());
  EXPECT_EQ(first.c.to_doubles(), plain.c.to_doubles());
  const auto back = kg::lstm(reversed, in[1], in[2], {.reverse = true});
  EXPECT_EQ(kg::reverse(back.y, 0).to_doubles(), plain.y.to_doubles());
  const auto gru = kg::gru(in[0], other[1], other[2]);
  const auto both =
      kg::gru(kg::transpose(reversed, {1, 0, 2}), other[1], other[2], {.batch_first = true, .reverse = true});
  EXPECT_EQ(kg::reverse(kg::transpose(both.y, {1, 0, 2}), 0).to_doubles(), gru.y.to_doubles());
  EXPECT_EQ(both.h.to_doubles(), gru.h.to_doubles());
}

TEST(recurrent_layers, of_no_step_return_the_first_state) {
  const tensor x = kg::zeros({0, 2, 4}, dtype::float64);
  const std::vector<tensor> in = lstm_operands(), other = gru_operands();
  const auto lstm = kg::lstm(x, in[1], in[2], {.h = in[4], .c = in[5]});
  EXPECT_EQ(lstm.y.dims(), (kg::shape{0, 2, 3}));
  EXPECT_EQ(lstm.c.to_doubles(), in[5].to_doubles());
  const auto gru = kg::gru(kg::zeros({2, 0, 4}, dtype::float64), other[1], other[2], {.batch_first = true});
  EXPECT_EQ(gru.y.dims(), (kg::shape{2, 0, 3}));
  expect_values(gru.h, {2, 3}, doubles(6));
}

TEST(recurrent_layers, of_no_batch_have_results_and_gradients_of_their_shapes) {
  for (const bool batch_first : {false, true}) {
    const kg::shape rows = batch_first ? kg::shape{0, 3, 4} : kg::shape{3, 0, 4};
    const kg::shape outputs = batch_first ? kg::shape{0, 3, 3} : kg::shape{3, 0, 3};
    const std::vector<tensor> lstm = lstm_operands(), gru = gru_operands();
    const auto [y, h, c] = kg::lstm(kg::zeros(rows, dtype::float64), lstm[1], lstm[2], {.batch_first = batch_first});
    EXPECT_EQ(y.dims(), outputs);
    EXPECT_EQ(h.dims(), (kg::shape{0, 3}));
    EXPECT_EQ(c.dims(), (kg::shape{0, 3}));
    const auto of_gru = kg::gru(kg::zeros(rows, dtype::float64), gru[1], gru[2], {.batch_first = batch_first});
    EXPECT_EQ(of_gru.y.dims(), outputs);
    EXPECT_EQ(of_gru.h.dims(), (kg::shape{0, 3}));
    const auto check = [&](auto loss, const std::vector<tensor>& operands) {
      const auto [dx, dk, dr] = kg::grads(loss)(kg::zeros(rows, dtype::float64), operands[1], operands[2]);
      EXPECT_EQ(dx.dims(), rows);
      expect_values(dk, operands[1].dims(), doubles(static_cast<std::size_t>(dk.size())));
      expect_values(dr, operands[2].dims(), doubles(static_cast<std::size_t>(dr.size())));
    };
    check([=](const tensor& x, const tensor& k,
              const tensor& r) { return kg::sum(kg::lstm(x, k, r, {.batch_first = batch_first}).y); },
          lstm);
    check([=](const tensor& x, const tensor& k,
              const tensor& r) { return kg::sum(kg::gru(x, k, r, {.batch_first = batch_first}).y); },
          gru);
  }
}

TEST(recurrent_layers, run_their_products_on_the_chosen_backend_with_the_same_bits) {
  const std::vector<tensor> lstm = lstm_operands(), gru = gru_operands();
  const auto results = [&] {
    const auto first = kg::value_and_grads_of(lstm_loss, lstm), second = kg::value_and_grads_of(gru_loss, gru);
    doubles all = {first.value.item(), second.value.item()};
    for (const auto* grads : {&first.grads, &second.grads})
      for (const tensor& grad : *grads) std::ranges::copy(grad.to_doubles(), std::back_inserter(all));
    return all;
  };
  const doubles plain = results();
  std::map<std::string, int> calls;  // by op and backend
  const kg::hook_handle watch = kg::add_hooks({.end = [&](const kg::kernel_event& event) {
    ++calls[std::string(event.op) + " on " + std::string(event.backend)];
  }});
  EXPECT_EQ(results(), plain);
  // Each layer has the product of the inputs, and three steps forward and back.
  EXPECT_GE(calls["BatchMatMul on simd"], 2 * (1 + 3 + 3));
  EXPECT_GE(calls["Sigmoid on simd"], 2 * 3);
  EXPECT_GE(calls["Tanh on simd"], 2 * 3);
  calls.clear();
  const kg::backend_scope reference(kg::backend::reference);
  const doubles there = results();
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(there[i], plain[i], 1e-12) << i;
  EXPECT_GE(calls["BatchMatMul on reference"], 2 * (3 + 3));
  EXPECT_EQ(calls["BatchMatMul on simd"], 0);
}

TEST(recurrent_layers, of_half_precision_are_computed_in_float32) {
  const std::vector<tensor> in = lstm_operands();
  const auto cast_to = [&](dtype type) {
    std::vector<tensor> all;
    for (const tensor& each : in) all.push_back(kg::cast(kg::cast(each, dtype::float16), type));
    return all;
  };
  const auto half = lstm_of(cast_to(dtype::float16)), wide = lstm_of(cast_to(dtype::float32));
  EXPECT_EQ(half.y.type(), dtype::float16);
  EXPECT_EQ(half.y.to_doubles(), kg::cast(wide.y, dtype::float16).to_doubles());
}

TEST(recurrent_layers, are_differentiable_twice) {
  const std::vector<tensor> lstm = {uniform({2, 1, 2}, 1), uniform({2, 8}, 2), uniform({2, 8}, 3),
                                    uniform({8}, 4),       uniform({1, 2}, 5), uniform({1, 2}, 6)};
  check_gradients(
      "lstm",
      [](auto in) {
        const auto [y, h, c] = lstm_of(in);
        return kg::sum(kg::square(y)) + kg::sum(h * c);
      },
      lstm);
  const std::vector<tensor> gru = {uniform({2, 1, 2}, 1), uniform({2, 6}, 2), uniform({2, 6}, 3),
                                   uniform({6}, 4),       uniform({1, 2}, 5), uniform({6}, 6)};
  check_gradients(
      "gru",
      [](auto in) {
        const auto [y, h] = gru_of(in);
        return kg::sum(kg::square(y)) + kg::sum(h);
      },
      gru);
  const auto last = [&](const tensor& x) { return kg::sum(kg::lstm(x, lstm[1], lstm[2]).h); };
  EXPECT_EQ(kg::grad(last)(lstm[0]).dims(), (kg::shape{2, 1, 2}));
}

TEST(recurrent_layers, refuse_parts_that_do_not_fit) {
  const tensor x = kg::zeros({3, 2, 4});
  const auto lstm = [&](const kg::shape& kernel, const kg::shape& recurrent, const kg::lstm_options& options = {}) {
    return [=] { return kg::lstm(x, kg::zeros(kernel), kg::zeros(recurrent), options).y; };
  };
  expect_refused("lstm", lstm({4, 12}, {3, 11}), {"operand recurrent", "4 * units"});
  expect_refused("lstm", lstm({5, 12}, {3, 12}), {"operand kernel", "[4, 12]"});
  expect_refused("lstm", lstm({4, 12}, {3, 12}, {.bias = kg::zeros({9})}), {"operand bias", "[12]"});
  expect_refused("lstm", lstm({4, 12}, {3, 12}, {.c = kg::zeros({3, 2})}), {"operand c", "[2, 3]"});
  expect_refused("lstm", [&] { return kg::lstm(kg::zeros({3, 4}), x, x).y; }, {"operand x", "rank"});
  expect_refused("gru", [&] { return kg::gru(x, kg::zeros({4, 12}), kg::zeros({3, 12})).y; }, {"3 * units"});
  expect_refused("gru",
                 [&] { return kg::gru(x, kg::zeros({4, 9}), kg::zeros({3, 9}), {.recurrent_bias = kg::zeros({8})}).y; },
                 {"operand recurrent_bias"});
}

}  // namespace
