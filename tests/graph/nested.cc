// SPDX-License-Identifier: Apache-2.0
// Loops in loops, and branches between them, of the old control flow and the new one; the oracles are loops of C++.
#include "tests/graph/loops.h"

namespace {

using namespace kgtest;
using kg::tensor;
using kg::graph::model;
using kg::graph::results;

const std::string whole_type = "DT_INT32";

// ------------------------------------------------------------------------------------------ loops of nodes

// sum over i <= n and j < i of i * j + k: the inner loop reads i, which stays the same in it, and k, which is an
// invariant of both; the outer one also counts the turns of the inner.
std::vector<json> triangle() {
  std::vector<json> nodes = counting();
  nodes.push_back(input_of("k", whole_type));
  nodes.push_back(enter("k_outer", "k", true));
  for (const json& node :
       {enter("k_inner", "k_outer", true, "inner"), enter("i_inner", "i_now", true, "inner"),
        enter("one_inner", "one_inside", true, "inner"), node_of("below", "Less", {"j", "i_inner"}),
        node_of("inner_goes_on", "LoopCond", {"below"}), node_of("j_more", "AddV2", {"j_now", "one_inner"}),
        node_of("product", "Mul", {"i_inner", "j_now"}), node_of("shifted", "AddV2", {"product", "k_inner"}),
        node_of("part_more", "AddV2", {"part_now", "shifted"})})
    nodes.push_back(node);
  nodes.push_back(enter("zero_outer", "zero", true));
  add_variable(nodes, "j", "zero_outer", "j_more", "inner");
  add_variable(nodes, "part", "sum_now", "part_more", "inner");
  add_variable(nodes, "sum", "zero", "part_exit");
  nodes.push_back(node_of("turned_more", "AddV2", {"turned_now", "j_exit"}));
  add_variable(nodes, "turned", "zero", "turned_more");
  return nodes;
}

TEST(loops_of_nodes_in_each_other, give_what_loops_of_the_language_give) {
  const model m = model_with(triangle());
  for (const int k : {0, 7})
    for (const int n : {4, 0, -1, 9, 4}) {
      int sum = 0, turned = 0;
      for (int i = 0; i <= n; ++i)
        for (int j = 0; j < i; ++j) sum += i * j + k, ++turned;
      const results y = m({{"n", tensor(n)}, {"k", tensor(k)}}, {"sum_exit", "turned_exit", "i_exit"});
      EXPECT_TRUE(same(y[0], tensor(sum))) << n << " " << k;
      EXPECT_TRUE(same(y[1], tensor(turned))) << n << " " << k;
      EXPECT_TRUE(same(y[2], tensor(n < 0 ? 0 : n + 1))) << n << " " << k;
    }
}

// The second begins with what the first one gave.
TEST(loops_of_nodes, follow_each_other) {
  std::vector<json> nodes = counting();
  for (const json& node : {enter("two", "two_outside", true, "after"), whole_of("two_outside", 2),
                           enter("limit", "limit_outside", true, "after"), whole_of("limit_outside", 100),
                           node_of("small", "Less", {"d", "limit"}), node_of("after_goes_on", "LoopCond", {"small"}),
                           node_of("d_more", "Mul", {"d_now", "two"})})
    nodes.push_back(node);
  add_variable(nodes, "d", "i_exit", "d_more", "after");
  const model m = model_with(nodes);
  for (const int n : {0, 2, 5, 200}) {
    int d = n + 1;
    while (d < 100) d *= 2;
    EXPECT_TRUE(same(m({{"n", tensor(n)}}, {"d_exit"}), tensor(d))) << n;
  }
}

// A Switch in the body chooses by the loop variable: even ones are added, odd ones taken away.
TEST(loops_of_nodes, choose_in_each_turn) {
  std::vector<json> nodes = counting();
  for (const json& node :
       {whole_of("two", 2), enter("two_inside", "two", true), enter("zero_inside", "zero", true),
        node_of("rest", "FloorMod", {"i_now", "two_inside"}), node_of("even", "Equal", {"rest", "zero_inside"}),
        node_of("way", "Switch", {"sum_now", "even"}), node_of("odd_sum", "Sub", {"way", "i_now"}),
        node_of("even_sum", "AddV2", {"way:1", "i_now"}), node_of("sum_more", "Merge", {"odd_sum", "even_sum"})})
    nodes.push_back(node);
  add_variable(nodes, "sum", "zero", "sum_more");
  const model m = model_with(nodes);
  for (const int n : {0, 1, 6, 7}) {
    int sum = 0;
    for (int i = 0; i <= n; ++i) sum += i % 2 == 0 ? i : -i;
    EXPECT_TRUE(same(m({{"n", tensor(n)}}, {"sum_exit"}), tensor(sum))) << n;
  }
}

// ------------------------------------------------------------------------------------------ functions

// If, in one of its branches While, in its body If again; and a While in a While.
const name_pairs counter{{"i", whole_type}, {"sum", whole_type}, {"n", whole_type}};

json below(std::string_view name) {
  return function_of(name, counter, {{"r", "t:z:0"}}, {node_of("t", "Less", {"i", "n"})});
}
json loop_node(std::string_view name, std::initializer_list<std::string_view> inputs, std::string_view body) {
  return node_of(name, "StatelessWhile", inputs, {{"cond", calls("below")}, {"body", calls(body)}});
}

TEST(loops_in_branches, and_branches_in_loops_run) {
  const json even = function_of("even", {{"s", whole_type}, {"v", whole_type}}, {{"r", "t:z:0"}},
                                {node_of("t", "AddV2", {"s", "v"})}),
             odd = function_of("odd", {{"s", whole_type}, {"v", whole_type}}, {{"r", "t:z:0"}},
                               {node_of("t", "Sub", {"s", "v"})});
  const json body = function_of(
      "body", counter, {{"a", "more:z:0"}, {"b", "next:output:0"}, {"c", "n"}},
      {whole_of("one", 1), whole_of("two", 2), whole_of("none", 0), node_of("more", "AddV2", {"i", "one:output:0"}),
       node_of("rest", "FloorMod", {"i", "two:output:0"}), node_of("is_even", "Equal", {"rest:z:0", "none:output:0"}),
       node_of("next", "StatelessIf", {"is_even:z:0", "sum", "i"},
               {{"then_branch", calls("even")}, {"else_branch", calls("odd")}})});
  const name_pairs one{{"n", whole_type}};
  const json turned =
      function_of("turned", one, {{"r", "loop:output:1"}},
                  {whole_of("none", 0), loop_node("loop", {"none:output:0", "none:output:0", "n"}, "body")});
  const json plain = function_of("plain", one, {{"r", "t:y:0"}}, {node_of("t", "Neg", {"n"})});
  const model m =
      model_with({input_of("p", "DT_BOOL"), input_of("n", whole_type),
                  node_of("y", "If", {"p", "n"}, {{"then_branch", calls("turned")}, {"else_branch", calls("plain")}})},
                 {}, {even, odd, below("below"), body, turned, plain});
  for (const int n : {5, 0, 8, 5})
    for (const bool p : {true, false}) {
      int sum = 0;
      for (int i = 0; i < n; ++i) sum += i % 2 == 0 ? i : -i;
      EXPECT_TRUE(same(m({{"p", tensor(p)}, {"n", tensor(n)}}), tensor(p ? sum : -n))) << n << p;
    }
}

TEST(loops_of_functions_in_each_other, give_what_loops_of_the_language_give) {
  const json inner =
      function_of("inner", counter, {{"a", "more:z:0"}, {"b", "s:z:0"}, {"c", "n"}},
                  {whole_of("one", 1), node_of("more", "AddV2", {"i", "one:output:0"}),
                   node_of("product", "Mul", {"i", "n"}), node_of("s", "AddV2", {"sum", "product:z:0"})});
  const json outer =
      function_of("outer", counter, {{"a", "more:z:0"}, {"b", "loop:output:1"}, {"c", "n"}},
                  {whole_of("one", 1), whole_of("none", 0), node_of("more", "AddV2", {"i", "one:output:0"}),
                   loop_node("loop", {"none:output:0", "sum", "i"}, "inner")});
  const model m =
      model_with({input_of("n", whole_type), whole_of("none", 0), loop_node("y", {"none", "none", "n"}, "outer")}, {},
                 {below("below"), inner, outer});
  for (const int n : {5, 0, 7}) {
    int sum = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) sum += j * i;
    EXPECT_TRUE(same(m({{"n", tensor(n)}}, {"y:1"}), tensor(sum))) << n;
  }
}

}  // namespace
