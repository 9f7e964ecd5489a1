// SPDX-License-Identifier: Apache-2.0
// Gradients through models: those of the same functions written with the library's own.
#include <cmath>

#include "tests/graph/loops.h"
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

// sum over i <= n of i * x^i in a loop of nodes: 1 + 4 x + 9 x^2 + ... behind one x.
TEST(gradients, flow_through_loops_of_nodes) {
  std::vector<json> nodes = counting();
  for (const json& node :
       {input_of("x"), enter("x_inside", "x", true), node_of("ones", "OnesLike", {"x"}),
        node_of("none", "ZerosLike", {"x"}), node_of("p_more", "Mul", {"p_now", "x_inside"}),
        node_of("as_float", "Cast", {"i_now"}, {{"SrcT", type("DT_INT32")}, {"DstT", type("DT_FLOAT")}}),
        node_of("term", "Mul", {"as_float", "p_now"}), node_of("sum_more", "AddV2", {"sum_now", "term"})})
    nodes.push_back(node);
  add_variable(nodes, "p", "ones", "p_more");
  add_variable(nodes, "sum", "none", "sum_more");
  const model m = model_with(nodes);
  const tensor x({0.5f, -0.75f, 1.25f});
  for (const int n : {0, 3, 5, 3}) {
    const auto by_model = [&](const tensor& t) {
      return kg::sum(tensor(m({{"n", tensor(n)}, {"x", t}}, {"sum_exit"})));
    };
    std::vector<float> wanted;
    for (const double v : x.to_doubles()) {
      double slope = 0;
      for (int i = 1; i <= n; ++i) slope += i * i * std::pow(v, i - 1);
      wanted.push_back(static_cast<float>(slope));
    }
    EXPECT_TRUE(kg::all_close(kg::grad(by_model)(x), tensor(wanted), near)) << n;
  }
}

// w is a weight that the loop reads: x * w^n.
TEST(gradients, with_respect_to_variables_flow_through_loops_of_nodes) {
  std::vector<json> nodes = counting();
  for (const json& node :
       {input_of("x"), enter("w_inside", "w", true), node_of("p_more", "Mul", {"p_now", "w_inside"})})
    nodes.push_back(node);
  add_variable(nodes, "p", "x", "p_more");
  const model m = model_with(nodes, {{"w", tensor({2.f, -1.5f})}});
  const tensor x({3.f, 0.5f});
  const std::vector<kg::variable> weights = m.variables();
  for (const int n : {2, 0}) {  // n + 1 turns
    const kg::variable_gradients got =
        kg::variable_grads([&] { return kg::sum(tensor(m({{"n", tensor(n)}, {"x", x}}, {"p_exit"}))); }, weights);
    const tensor w({2.f, -1.5f});
    ASSERT_EQ(got.grads.size(), 1u);
    EXPECT_TRUE(kg::all_close(got.grads[0].grad, x * (n + 1) * kg::pow(w, static_cast<float>(n)), near)) << n;
  }
}

// Slices of x go into an array and a list, are scaled by their places, and come back: the slope is that of a product.
TEST(gradients, flow_through_tensor_arrays_and_lists) {
  const json typed{{"dtype", type("DT_FLOAT")}}, element{{"element_dtype", type("DT_FLOAT")}};
  const std::vector<json> array{node_of("array", "TensorArrayV3", {"two"}, typed),
                                node_of("all", "TensorArrayScatterV3", {"array", "places", "x", "array:1"}),
                                node_of("first", "TensorArrayReadV3", {"array", "zero", "all"}),
                                node_of("square", "Square", {"first"}),
                                node_of("flow", "TensorArrayWriteV3", {"array", "zero", "square", "all"}),
                                node_of("y", "TensorArrayGatherV3", {"array", "places", "flow"})};
  const std::vector<json> list{node_of("list", "TensorListFromTensor", {"x", "any"}, element),
                               node_of("first", "TensorListGetItem", {"list", "zero", "any"}, element),
                               node_of("square", "Square", {"first"}),
                               node_of("set", "TensorListSetItem", {"list", "zero", "square"}, element),
                               node_of("y", "TensorListStack", {"set", "any"}, element)};
  const tensor x = hashed({2, 3}, 1), scale = hashed({2, 3}, 2);
  const auto by_hand = [&](const tensor& t) {
    return kg::sum(kg::concat({kg::square(t(kg::range(0, 1))), t(kg::range(1, 2))}) * scale);
  };
  for (const std::vector<json>& way : {array, list}) {
    std::vector<json> nodes{input_of("x"), whole_of("zero", 0), whole_of("two", 2), whole_of("any", -1)};
    nodes.insert(nodes.end(), way.begin(), way.end());
    const model m = model_with(nodes, {{"places", tensor({0, 1})}});
    const auto by_model = [&](const tensor& t) { return kg::sum(tensor(m({{"x", t}}, {"y"})) * scale); };
    EXPECT_TRUE(kg::all_close(kg::grad(by_model)(x), kg::grad(by_hand)(x), near)) << way[0]["name"];
  }
}

// An array that a loop writes: y[i] = x^(i + 1), and the slope of its sum.
TEST(gradients, flow_through_arrays_that_loops_write) {
  std::vector<json> nodes = counting();
  for (const json& node : {input_of("x"), node_of("count", "AddV2", {"n", "one"}),
                           node_of("array", "TensorArrayV3", {"count"}, {{"dtype", type("DT_FLOAT")}}),
                           enter("array_inside", "array", true), enter("x_inside", "x", true),
                           node_of("p_more", "Mul", {"p_now", "x_inside"}),
                           node_of("flow_more", "TensorArrayWriteV3", {"array_inside", "i_now", "p_now", "flow_now"}),
                           node_of("indices", "Range", {"zero", "count", "one"}),
                           node_of("y", "TensorArrayGatherV3", {"array", "indices", "flow_exit"})})
    nodes.push_back(node);
  add_variable(nodes, "p", "x", "p_more");
  add_variable(nodes, "flow", "array:1", "flow_more");
  const model m = model_with(nodes);
  const tensor x({0.5f, -0.75f});
  for (const int n : {0, 3, 2}) {
    const auto by_model = [&](const tensor& t) { return kg::sum(tensor(m({{"n", tensor(n)}, {"x", t}}, {"y"}))); };
    std::vector<float> wanted;
    for (const double v : x.to_doubles()) {
      double slope = 0;
      for (int i = 0; i <= n; ++i) slope += (i + 1) * std::pow(v, i);
      wanted.push_back(static_cast<float>(slope));
    }
    EXPECT_TRUE(kg::all_close(kg::grad(by_model)(x), tensor(wanted), near)) << n;
  }
}

}  // namespace
