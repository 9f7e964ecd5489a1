// SPDX-License-Identifier: Apache-2.0
// Control flow: Switch and Merge, loops of nodes, and the functions of While, If and PartitionedCall.
#include "tests/graph/loops.h"

namespace {

using namespace kgtest;
using kg::tensor;
using kg::graph::model;
using kg::graph::results;

const std::string whole_type = "DT_INT32", float_type = "DT_FLOAT";

// ------------------------------------------------------------------------------------------ Switch and Merge

const std::vector<json> ways{node_of("s", "Switch", {"x", "p"}), node_of("not", "Neg", {"s"}),
                             node_of("so", "Square", {"s:1"}), node_of("y", "Merge", {"not", "so"})};

TEST(switches, send_a_value_one_way_and_merges_take_what_came) {
  std::vector<json> nodes{input_of("x"), input_of("p", "DT_BOOL")};
  nodes.insert(nodes.end(), ways.begin(), ways.end());
  const model m = model_with(nodes);
  const tensor x({2.f, -3.f});
  for (const bool p : {true, false, true}) {  // one plan for both
    const results y = m({{"x", x}, {"p", tensor(p)}}, {"y", "y:1"});
    EXPECT_TRUE(same(y[0], p ? kg::square(x) : -x)) << p;
    EXPECT_TRUE(same(y[1], tensor(p ? 1 : 0))) << p;
  }
  const tensor off(false), pair({true, false});
  EXPECT_TRUE(says(refusal([&] { return m({{"x", x}, {"p", off}}, {"so"}); }), {"no value of output so"}));
  EXPECT_TRUE(says(refusal([&] { return m({{"x", x}, {"p", pair}}); }), {"condition", "node s"}));
}

TEST(switches, by_constants_are_decided_in_the_plan) {
  for (const int p : {0, 1}) {
    std::vector<json> nodes{input_of("x"), whole_of("p", p)};
    nodes.insert(nodes.end(), ways.begin(), ways.end());
    const model m = model_with(nodes);
    const tensor x({2.f, -3.f});
    EXPECT_EQ(m.planned({{"x", x}}).steps(), 1) << p;
    EXPECT_TRUE(same(m({{"x", x}}, {"y"}), p ? kg::square(x) : -x)) << p;
  }
}

// ------------------------------------------------------------------------------------------ loops of nodes

TEST(loops_of_nodes, sum_up) {
  std::vector<json> nodes = counting();
  nodes.push_back(node_of("sum_more", "AddV2", {"sum_now", "i_now"}));
  add_variable(nodes, "sum", "zero", "sum_more");
  const model m = model_with(nodes);
  for (const int n : {4, 0, 100, -1, 4}) {
    const results y = m({{"n", tensor(n)}}, {"sum_exit", "i_exit"});
    EXPECT_TRUE(same(y[0], tensor(n < 0 ? 0 : n * (n + 1) / 2))) << n;
    EXPECT_TRUE(same(y[1], tensor(n + 1))) << n;
  }
  EXPECT_TRUE(same(m({{"n", tensor(3)}}, {"sum_exit"}), tensor(6)));
  EXPECT_TRUE(says(refusal([&] { return m({{"n", tensor(3)}}, {"sum_now"}); }), {"wanted outside of it", "Exit"}));
}

// Inputs that a condition, a body, and a loop in a body read without an Enter; and one that none of them reads.
TEST(loops_of_nodes, read_inputs_from_outside) {
  std::vector<json> nodes{
      node_of("less", "LessEqual", {"i", "limit"}),        node_of("turns_goes_on", "LoopCond", {"less"}),
      node_of("inner_less", "Less", {"j", "inner_limit"}), node_of("inner_goes_on", "LoopCond", {"inner_less"}),
      node_of("j_more", "AddV2", {"j_now", "inner_step"}), node_of("i_more", "AddV2", {"j_exit", "step"}),
      node_of("y", "AddV2", {"i_exit", "unread"}),         whole_of("zero", 0)};
  add_variable(nodes, "i", "zero", "i_more");
  add_variable(nodes, "j", "i_now", "j_more", "inner");
  for (const char* name : {"unread", "inner_step", "limit", "step", "inner_limit"})
    nodes.push_back(input_of(name, whole_type));
  const model m = model_with(nodes);
  for (const int limit : {20, -1, 5}) {
    const int inner_limit = 7, inner_step = 2, step = 3;
    int i = 0;
    while (i <= limit) {
      while (i < inner_limit) i += inner_step;
      i += step;
    }
    const tensor y = m({{"step", tensor(step)},
                        {"limit", tensor(limit)},
                        {"inner_step", tensor(inner_step)},
                        {"inner_limit", tensor(inner_limit)},
                        {"unread", tensor(1000)}},
                       {"y"});
    EXPECT_TRUE(same(y, tensor(1000 + i))) << limit;
  }
}

// A loop's variable may have another shape in each turn: later steps are planned for that of one run.
TEST(loops_of_nodes, give_other_shapes_for_other_values) {
  std::vector<json> nodes = counting();
  nodes.push_back(whole_of("axis", 0));
  nodes.push_back(enter("axis_inside", "axis", true));
  nodes.push_back(node_of("all_more", "ConcatV2", {"all_now", "all_now", "axis_inside"}));
  nodes.push_back(node_of("y", "Neg", {"all_exit"}));
  add_variable(nodes, "all", "x", "all_more");
  nodes.push_back(input_of("x"));
  const model m = model_with(nodes);
  for (const int n : {1, 2, 0, 1}) {
    const tensor y = m({{"n", tensor(n)}, {"x", tensor({1.f})}}, {"y"});
    EXPECT_TRUE(same(y, kg::full({std::int64_t{2} << n}, -1.f))) << n;
  }
}

// The shapes are the same in each turn, and yet the call is another: its place is an element.
TEST(loops_of_nodes, read_other_places_in_each_turn) {
  std::vector<json> nodes = counting();
  for (const json& node :
       {input_of("x"), enter("x_inside", "x", true), enter("zero_inside", "zero", true),
        enter("length", "single", true), node_of("begin", "ExpandDims", {"i_now", "zero_inside"}),
        node_of("part", "Slice", {"x_inside", "begin", "length"}), node_of("twice", "AddV2", {"sum_now", "sum_now"}),
        node_of("sum_more", "AddV2", {"twice", "part"})})
    nodes.push_back(node);
  add_variable(nodes, "sum", "none", "sum_more");
  const model m = model_with(nodes, {{"single", tensor({1})}, {"none", tensor({0.f})}});
  const kg::named_operand x{"x", tensor({1.f, 0.f, 1.f, 1.f})};
  for (const int n : {3, 2, 3}) {
    const tensor y = m({x, {"n", tensor(n)}}, {"sum_exit"});
    EXPECT_TRUE(same(y, tensor({n == 3 ? 11.f : 5.f}))) << n;  // 1011 and 101 of base 2
  }
}

TEST(loops_of_nodes, write_and_read_tensor_arrays) {
  std::vector<json> nodes = counting();
  for (const json& more : {node_of("count", "AddV2", {"n", "one"}),
                           node_of("array", "TensorArrayV3", {"count"}, {{"dtype", type(whole_type)}}),
                           enter("array_inside", "array", true), node_of("square", "Mul", {"i_now", "i_now"}),
                           node_of("flow_more", "TensorArrayWriteV3", {"array_inside", "i_now", "square", "flow_now"}),
                           node_of("indices", "Range", {"zero", "count", "one"}),
                           node_of("y", "TensorArrayGatherV3", {"array", "indices", "flow_exit"}),
                           node_of("size", "TensorArraySizeV3", {"array", "flow_exit"})})
    nodes.push_back(more);
  add_variable(nodes, "flow", "array:1", "flow_more");
  const model m = model_with(nodes);
  struct written {
    int n;
    tensor squares;
  };
  const written cases[] = {{3, tensor({0, 1, 4, 9})}, {0, tensor({0})}, {4, tensor({0, 1, 4, 9, 16})}};
  for (const written& item : cases) {
    const results y = m({{"n", tensor(item.n)}}, {"y", "size"});
    EXPECT_TRUE(same(y[0], item.squares)) << item.n;
    EXPECT_TRUE(same(y[1], tensor(item.n + 1))) << item.n;
  }
}

// ------------------------------------------------------------------------------------------ functions

TEST(functions, are_called_with_their_arguments) {
  const json f = function_of("less_twice", {{"a", float_type}, {"b", float_type}}, {{"r", "d:z:0"}, {"a_too", "a"}},
                             {node_of("t", "AddV2", {"b", "b"}), node_of("d", "Sub", {"a", "t:z:0"})});
  const tensor a({5.f, 6.f}), b({1.f, 2.f});
  for (const std::string op : {"PartitionedCall", "StatefulPartitionedCall"}) {
    const model m =
        model_with({input_of("a"), input_of("b"), node_of("y", op, {"a", "b"}, {{"f", calls("less_twice")}})}, {}, {f});
    const results y = m({{"a", a}, {"b", b}}, {"y", "y:1"});
    EXPECT_TRUE(same(y[0], a - b * 2)) << op;
    EXPECT_TRUE(same(y[1], a)) << op;
  }
  const model none = model_with({input_of("a"), node_of("y", "PartitionedCall", {"a"}, {{"f", calls("gone")}})});
  EXPECT_TRUE(says(refusal([&] { return none({{"a", a}}); }), {"function gone", "node y"}));
}

// Constants of the caller are known in a function: its steps are the plan's own, and join their neighbours.
TEST(functions, are_part_of_the_plan) {
  const json layer = function_of("layer", {{"a", float_type}, {"by", float_type}}, {{"r", "m:product:0"}},
                                 {node_of("m", "MatMul", {"a", "by"})}),
             twice = function_of("twice", {{"v", float_type}}, {{"r", "t:z:0"}, {"shape", "s:output:0"}},
                                 {node_of("t", "AddV2", {"v", "v"}), node_of("s", "Shape", {"v"})}),
             deep = function_of("deep", {{"v", float_type}}, {{"r", "t:output:0"}},
                                {node_of("t", "PartitionedCall", {"v"}, {{"f", calls("twice")}})});
  const model m =
      model_with({input_of("x"), node_of("product", "PartitionedCall", {"x", "w"}, {{"f", calls("layer")}}),
                  node_of("y", "Relu", {"product"}), node_of("z", "PartitionedCall", {"x"}, {{"f", calls("deep")}}),
                  node_of("size", "PartitionedCall", {"x"}, {{"f", calls("twice")}})},
                 {{"w", tensor({1.f, -1.f, 2.f, 0.5f}, {2, 2})}}, {layer, twice, deep});
  const kg::named_operand x{"x", tensor({1.f, 2.f}, {1, 2})};
  struct planned {
    std::vector<std::string> wanted;
    int steps;
    std::string_view drawn;
    tensor value;
  };
  const planned cases[] = {{{"y"}, 1, "_FusedMatMul", tensor({5.f, 0.f}, {1, 2})},
                           {{"z"}, 1, "Add", tensor({2.f, 4.f}, {1, 2})},
                           {{"size:1"}, 0, "out0", tensor({1, 2})}};
  for (const planned& item : cases) {
    const kg::graph::plan made = m.planned({&x, 1}, item.wanted);
    EXPECT_EQ(made.steps(), item.steps) << item.wanted[0];
    EXPECT_TRUE(says(made.to_dot(), {item.drawn})) << made.to_dot();
    EXPECT_EQ(made.to_dot().find("PartitionedCall"), std::string::npos) << made.to_dot();
    EXPECT_TRUE(same(m({&x, 1}, item.wanted), item.value)) << item.wanted[0];
  }
}

TEST(functions, that_call_themselves_are_refused) {
  const json f = function_of("f", {{"v", float_type}}, {{"r", "t:output:0"}},
                             {node_of("t", "PartitionedCall", {"v"}, {{"f", calls("f")}})});
  const model m = model_with({input_of("x"), node_of("y", "PartitionedCall", {"x"}, {{"f", calls("f")}})}, {}, {f});
  EXPECT_TRUE(says(refusal([&] { return m({{"x", tensor({1.f})}}); }), {"in each other", "at most 64"}));
}

// Each calls the next one twice.
TEST(functions, that_would_be_planned_without_end_are_refused) {
  std::vector<json> all;
  for (int i = 0; i < 40; ++i) {
    const json next{{"f", calls("f" + std::to_string(i + 1))}};
    all.push_back(function_of(
        "f" + std::to_string(i), {{"v", float_type}}, {{"r", "t:output:0"}},
        {node_of("s", "PartitionedCall", {"v"}, next), node_of("t", "PartitionedCall", {"s:output:0"}, next)}));
  }
  all.push_back(function_of("f40", {{"v", float_type}}, {{"r", "v"}}, {}));
  const model m = model_with({input_of("x"), node_of("y", "PartitionedCall", {"x"}, {{"f", calls("f0")}})}, {}, all);
  EXPECT_TRUE(says(refusal([&] { return m({{"x", tensor({1.f})}}); }), {"calls of functions", "fewer"}));
}

TEST(functions, have_the_results_that_are_read) {
  const json f = function_of("f", {{"v", float_type}}, {{"r", "v"}}, {});
  const model m = model_with({input_of("x"), node_of("y", "PartitionedCall", {"x"}, {{"f", calls("f")}})}, {}, {f});
  EXPECT_TRUE(says(refusal([&] { return m({{"x", tensor({1.f})}}, {"y:1"}); }), {"1 results of f", "node y", "2"}));
  const model two =
      model_with({input_of("x"), node_of("y", "PartitionedCall", {"x", "x"}, {{"f", calls("f")}})}, {}, {f});
  EXPECT_TRUE(says(refusal([&] { return two({{"x", tensor({1.f})}}); }), {"2 arguments of f", "node y", "1"}));
}

// By a constant, or by what follows from the inputs' shapes.
TEST(branches, whose_condition_is_known_are_part_of_the_plan) {
  const json more = function_of("more", {{"v", float_type}}, {{"r", "t:y:0"}}, {node_of("t", "Square", {"v"})}),
             less = function_of("less", {{"v", float_type}}, {{"r", "t:y:0"}}, {node_of("t", "Neg", {"v"})}),
             gone = function_of("gone", {{"v", float_type}}, {{"r", "t:y:0"}}, {node_of("t", "NoSuchOp", {"v"})});
  const auto choice = [](std::string_view then, std::string_view otherwise) {
    return node_of("y", "If", {"p", "x"}, {{"then_branch", calls(then)}, {"else_branch", calls(otherwise)}});
  };
  const std::vector<json> sized{input_of("x"), whole_of("three", 3), node_of("size", "Size", {"x"}),
                                node_of("p", "Less", {"size", "three"})};
  std::vector<json> nodes = sized;
  nodes.push_back(choice("more", "less"));
  const model m = model_with(nodes, {}, {more, less});
  for (const tensor& x : {tensor({2.f, -3.f}), tensor({2.f, -3.f, 1.f}), tensor({4.f})}) {
    const kg::graph::plan made = m.planned({{"x", x}});
    EXPECT_EQ(made.steps(), 1);
    EXPECT_TRUE(says(made.to_dot(), {x.size() < 3 ? "Square" : "Neg"})) << made.to_dot();
    EXPECT_TRUE(same(m({{"x", x}}), x.size() < 3 ? kg::square(x) : -x)) << x.size();
  }
  // Nobody asks for the branch that is not taken.
  const model half = model_with({input_of("x"), whole_of("p", 1), choice("more", "gone")}, {}, {more, gone});
  EXPECT_TRUE(same(half({{"x", tensor({3.f})}}), tensor({9.f})));
}

TEST(branches, are_taken_by_the_condition) {
  const json more = function_of("more", {{"v", float_type}}, {{"r", "t:y:0"}}, {node_of("t", "Square", {"v"})}),
             less = function_of("less", {{"v", float_type}}, {{"r", "t:y:0"}}, {node_of("t", "Neg", {"v"})});
  const tensor x({2.f, -3.f});
  for (const std::string op : {"If", "StatelessIf"}) {
    const model m =
        model_with({input_of("p", "DT_BOOL"), input_of("x"),
                    node_of("y", op, {"p", "x"}, {{"then_branch", calls("more")}, {"else_branch", calls("less")}})},
                   {}, {more, less});
    for (const bool p : {true, false, true})
      EXPECT_TRUE(same(m({{"p", tensor(p)}, {"x", x}}), p ? kg::square(x) : -x)) << op << p;
  }
}

TEST(loops_of_functions, collect_a_list) {
  const name_pairs arguments{{"i", whole_type}, {"list", "DT_VARIANT"}, {"n", whole_type}};
  const json goes_on = function_of("goes_on", arguments, {{"r", "t:z:0"}}, {node_of("t", "Less", {"i", "n"})});
  const json body = function_of(
      "body", arguments, {{"i_next", "more:z:0"}, {"list_next", "set:output_handle:0"}, {"n_next", "n"}},
      {whole_of("one", 1), node_of("more", "AddV2", {"i", "one:output:0"}), node_of("square", "Mul", {"i", "i"}),
       node_of("set", "TensorListSetItem", {"list", "i", "square:z:0"})});
  for (const std::string op : {"While", "StatelessWhile"}) {
    const model m =
        model_with({input_of("n", whole_type), whole_of("zero", 0), whole_of("minus", -1),
                    node_of("list", "TensorListReserve", {"minus", "n"}, {{"element_dtype", type(whole_type)}}),
                    node_of("loop", op, {"zero", "list", "n"}, {{"cond", calls("goes_on")}, {"body", calls("body")}}),
                    node_of("y", "TensorListStack", {"loop:1", "minus"}, {{"element_dtype", type(whole_type)}})},
                   {}, {goes_on, body});
    EXPECT_TRUE(same(m({{"n", tensor(4)}}, {"y"}), tensor({0, 1, 4, 9}))) << op;
    EXPECT_TRUE(same(m({{"n", tensor(2)}}, {"y"}), tensor({0, 1}))) << op;
    EXPECT_TRUE(same(m({{"n", tensor(4)}}, {"loop"}), tensor(4))) << op;
  }
}

// ------------------------------------------------------------------------------------------ some of the results

TEST(results_of_nodes, are_read_in_part) {
  const name_pairs arguments{{"a", float_type}, {"b", float_type}, {"c", float_type}};
  const json turned =
      function_of("turned", arguments, {{"x", "b"}, {"y", "c"}, {"z", "n:y:0"}}, {node_of("n", "Neg", {"a"})});
  const json kept = function_of("kept", arguments, {{"x", "a"}, {"y", "b"}, {"z", "c"}}, {});
  const json ends = function_of("goes_on", arguments, {{"x", "l:z:0"}}, {node_of("l", "Less", {"c", "b"})});
  const model m = model_with(
      {input_of("x"), input_of("p", "DT_BOOL"), node_of("a", "Unpack", {"x"}),
       node_of("call", "PartitionedCall", {"a", "a:1", "a:2"}, {{"f", calls("turned")}}),
       node_of("if", "If", {"p", "a", "a:1", "a:2"},
               {{"then_branch", calls("turned")}, {"else_branch", calls("kept")}}),
       node_of("while", "While", {"a", "a:1", "a:2"}, {{"cond", calls("goes_on")}, {"body", calls("turned")}})},
      {}, {turned, kept, ends});
  const tensor x({1.f, 2.f, 3.f, 4.f, 5.f});
  for (const bool p : {true, false}) {
    const auto one = [&](const char* wanted) { return tensor(m({{"x", x}, {"p", tensor(p)}}, {wanted})).item(); };
    EXPECT_EQ(one("a:4"), 5) << p;
    EXPECT_EQ(one("call:2"), -1) << p;
    EXPECT_EQ(one("if:2"), p ? -1 : 3) << p;
    EXPECT_EQ(one("while:2"), 3) << p;
    const results some = m({{"x", x}, {"p", tensor(p)}}, {"a:3", "if:2", "a:1"});
    EXPECT_EQ(some[0].item() + 10 * some[1].item() + 100 * some[2].item(), 204 + (p ? -10 : 30)) << p;
  }
  EXPECT_TRUE(says(refusal([&] { return m({{"x", x}}, {"a:5"}); }), {"5 results", "node a", "wanted 6"}));
  EXPECT_TRUE(says(refusal([&] { return m({{"x", x}}, {"call:3"}); }), {"3 results of turned", "4"}));
}

}  // namespace
