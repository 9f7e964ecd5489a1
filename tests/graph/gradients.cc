// SPDX-License-Identifier: Apache-2.0
// Gradients through models: those of the same functions written with the library's own.
#include "tests/graph/graphs.h"
#include "tests/graph/own_models.h"

namespace {

using namespace kgtest;
using kg::tensor;
using kg::graph::model;

constexpr kg::close_options near{.rtol = 1e-5, .atol = 1e-6};

model dense_layer() {
  return model_with({input_of("x"), node_of("product", "MatMul", {"x", "w"}),
                     node_of("biased", "BiasAdd", {"product", "b"}), node_of("y", "Sigmoid", {"biased"})},
                    {{"w", hashed({3, 4}, 1)}, {"b", hashed({4}, 2)}});
}
tensor dense(const tensor& x, const tensor& w, const tensor& b) { return kg::sigmoid(kg::matmul(x, w) + b); }

TEST(gradients, with_respect_to_inputs_are_those_of_the_function) {
  const model m = dense_layer();
  const tensor x = hashed({5, 3}, 3);
  const auto by_model = [&](const tensor& t) { return kg::sum(kg::square(tensor(m({{"x", t}})))); };
  const auto by_hand = [&](const tensor& t) {
    return kg::sum(kg::square(dense(t, hashed({3, 4}, 1), hashed({4}, 2))));
  };
  EXPECT_TRUE(kg::all_close(kg::grad(by_model)(x), kg::grad(by_hand)(x), near));
  EXPECT_TRUE(kg::all_close(kg::grad(by_model)(x * 2), kg::grad(by_hand)(x * 2), near)) << "the plan that was kept";
}

TEST(gradients, flow_through_intermediate_nodes_that_are_given) {
  const model m = dense_layer();
  const tensor x = hashed({2, 4}, 4);
  const auto by_model = [&](const tensor& t) { return kg::sum(tensor(m({{"biased", t}}))); };
  EXPECT_TRUE(
      kg::all_close(kg::grad(by_model)(x), kg::grad([](const tensor& t) { return kg::sum(kg::sigmoid(t)); })(x), near));
}

TEST(gradients, with_respect_to_variables_are_those_of_the_function) {
  const model m = dense_layer();
  const tensor x = hashed({5, 3}, 3);
  static_cast<void>(m({{"x", x}}));  // a plan with the weights as constants is there already
  const std::vector<kg::variable> weights = m.variables();
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(weights[0].name(), "w");
  EXPECT_EQ(weights[1].name(), "b");
  const kg::variable w(hashed({3, 4}, 1), "w"), b(hashed({4}, 2), "b"), own[] = {w, b};
  const kg::variable_gradients got = kg::variable_grads([&] { return kg::sum(tensor(m({{"x", x}}))); }, weights);
  const kg::variable_gradients wanted = kg::variable_grads([&] { return kg::sum(dense(x, w, b)); }, own);
  EXPECT_TRUE(kg::all_close(got.value, wanted.value, near));
  ASSERT_EQ(got.grads.size(), 2u);
  for (const kg::variable_gradient& g : got.grads)
    for (const kg::variable_gradient& h : wanted.grads)
      if (g.of.name() == h.of.name()) EXPECT_TRUE(kg::all_close(g.grad, h.grad, near)) << g.of.name();
}

TEST(variables_of_a_model, are_what_it_computes_with) {
  const model m = dense_layer(), copy = m;
  const tensor x = hashed({5, 3}, 3), w = hashed({3, 4}, 8);
  static_cast<void>(m({{"x", x}}));
  m.variables()[0].assign(w);
  EXPECT_TRUE(kg::all_close(m({{"x", x}}), dense(x, w, hashed({4}, 2)), near));
  copy.variables()[1].assign(kg::zeros({4}));
  EXPECT_TRUE(kg::all_close(m({{"x", x}}), dense(x, w, kg::zeros({4})), near));
}

// x to the power of n by a loop, and then, by a condition, its square or itself.
TEST(gradients, take_the_way_that_was_taken) {
  const std::string whole_type = "DT_INT32", float_type = "DT_FLOAT";
  const name_pairs arguments{{"i", whole_type}, {"p", float_type}, {"x", float_type}};
  const json goes_on = function_of("goes_on", arguments, {{"r", "t:z:0"}},
                                   {whole_of("none", 0), node_of("t", "Greater", {"i", "none:output:0"})});
  const json body = function_of(
      "body", arguments, {{"i_next", "less:z:0"}, {"p_next", "more:z:0"}, {"x_next", "x"}},
      {whole_of("one", 1), node_of("less", "Sub", {"i", "one:output:0"}), node_of("more", "Mul", {"p", "x"})});
  const json squared = function_of("squared", {{"v", float_type}}, {{"r", "t:y:0"}}, {node_of("t", "Square", {"v"})}),
             itself = function_of("itself", {{"v", float_type}}, {{"r", "v"}}, {});
  const model m = model_with(
      {input_of("x"), input_of("n", whole_type), input_of("q", "DT_BOOL"), node_of("first", "OnesLike", {"x"}),
       node_of("loop", "While", {"n", "first", "x"}, {{"cond", calls("goes_on")}, {"body", calls("body")}}),
       node_of("y", "If", {"q", "loop:1"}, {{"then_branch", calls("squared")}, {"else_branch", calls("itself")}})},
      {}, {goes_on, body, squared, itself});
  const tensor x({1.5f, -0.5f});
  for (const int n : {3, 1, 2})
    for (const bool q : {false, true}) {
      const auto by_model = [&](const tensor& t) {
        return kg::sum(tensor(m({{"x", t}, {"n", tensor(n)}, {"q", tensor(q)}}, {"y"})));
      };
      const auto by_hand = [&](const tensor& t) {
        tensor p = t;
        for (int i = 1; i < (q ? 2 * n : n); ++i) p = p * t;
        return kg::sum(p);
      };
      EXPECT_TRUE(kg::all_close(kg::grad(by_model)(x), kg::grad(by_hand)(x), near)) << n << q;
    }
}

}  // namespace
