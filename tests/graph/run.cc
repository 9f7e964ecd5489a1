// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a model, nodes that its plans omit and join, and runs that share nothing.
#include <thread>

#include "tests/graph/graphs.h"
#include "tests/graph/own_models.h"
#include "tests/support/under_asan.h"

namespace {

using namespace kgtest;
using kg::tensor;
using kg::graph::model;
using kg::graph::results;

const tensor two_rows({1.f, -2.f, 3.f, -4.f}, {2, 2});

// in -> x, doubled and then squared or negated.
model small_model() {
  const json shape{{"shape", {{"dim", {{{"size", "-1"}}, {{"size", "2"}}}}}}};
  const json signature{{"inputs", {{"in", {{"name", "x:0"}, {"dtype", "DT_FLOAT"}}}}},
                       {"outputs", {{"negative", {{"name", "neg:0"}}}, {"square", {{"name", "sq:0"}}}}}};
  return model_with(
      {node_of("x", "Placeholder", {}, {{"dtype", type("DT_FLOAT")}, {"shape", shape}}),
       node_of("twice", "AddV2", {"x", "x"}), node_of("sq", "Square", {"twice"}), node_of("neg", "Neg", {"twice"})},
      {}, {}, signature);
}

// ------------------------------------------------------------------------------------------ inputs and results

TEST(results_of_a_model, are_found_by_their_keys) {
  const results y = small_model()({{"in", two_rows}});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_TRUE(same(y.at("square"), kg::square(two_rows * 2)));
  EXPECT_TRUE(same(y.at("negative"), two_rows * -2));
  EXPECT_TRUE(same(y[0], y.at(y.keys()[0])));
  EXPECT_TRUE(says(refusal([&] { return y.at("cube"); }), {"\"cube\"", "square", "negative"}));
  EXPECT_TRUE(says(refusal([&] { return tensor(y); }), {"2 results as one tensor", "by their keys"}));
}

TEST(inputs, are_named_by_the_signature_or_by_any_node) {
  const model m = small_model();
  for (const std::string name : {"in", "x", "x:0"})
    EXPECT_TRUE(same(m({{name, two_rows}}, {"square"}), kg::square(two_rows * 2))) << name;
  const tensor given({5.f, 6.f, 7.f});
  const results y = m({{"twice", given}}, {"sq", "twice", "negative"});
  EXPECT_TRUE(same(y.at("sq"), kg::square(given)));
  EXPECT_TRUE(same(y.at("twice"), given));
  EXPECT_TRUE(same(y.at("negative"), -given));
  EXPECT_TRUE(same(m({{"x", two_rows}}, {"twice"}), two_rows * 2));
}

TEST(inputs, that_do_not_fit_are_refused_by_name) {
  const model m = small_model();
  struct refused {
    std::vector<kg::named_operand> inputs;
    std::vector<std::string> wanted;
    std::initializer_list<std::string_view> parts;
  };
  const tensor whole({1, 2}, {1, 2}), long_rows({1.f, 2.f, 3.f}, {1, 3});
  const refused cases[] = {{{}, {}, {"node x", "no value"}},
                           {{{"in", whole}}, {}, {"input in", "int32", "float32"}},
                           {{{"in", long_rows}}, {}, {"input in", "[1, 3]", "[any, 2]"}},
                           {{{"x", long_rows}}, {}, {"input in", "[1, 3]"}},
                           {{{"other", two_rows}}, {}, {"\"other\"", "one of in"}},
                           {{{"in", two_rows}, {"x", two_rows}}, {}, {"input x twice"}},
                           {{{"in", two_rows}}, {"cube"}, {"\"cube\"", "square"}}};
  for (const refused& item : cases) {
    const std::string text = refusal([&] { return m(item.inputs, item.wanted); });
    EXPECT_TRUE(says(text, item.parts)) << text;
    EXPECT_EQ(text.find('\n'), text.npos) << text;
  }
  EXPECT_TRUE(says(refusal([] { return model()({}); }), {"an empty model"}));
}

TEST(mistakes_of_a_graph, are_refused_with_the_name_of_the_node) {
  const model m = model_with({input_of("x"), node_of("sum", "AddV2", {"x", "three"})}, {{"three", hashed({3}, 1)}});
  EXPECT_TRUE(says(refusal([&] { m({{"x", two_rows}}); }), {"[2, 2]", "[3]", "node sum"}));
}

TEST(inputs, of_other_shapes_are_planned_anew) {
  const model m = small_model();
  for (const std::int64_t rows : {2, 5, 2, 0, 5}) {
    const tensor x = hashed({rows, 2}, 1);
    EXPECT_TRUE(same(m({{"in", x}}, {"sq"}), kg::square(x * 2))) << rows;
  }
}

// ------------------------------------------------------------------------------------------ plans

TEST(plans, compute_constants_and_drop_what_nobody_reads) {
  const model m = model_with({input_of("x"), node_of("c", "AddV2", {"a", "b"}), node_of("d", "Square", {"c"}),
                              node_of("y", "AddV2", {"x", "d"}), node_of("dead", "Exp", {"x"}),
                              node_of("size", "Size", {"x"}), node_of("constant", "Neg", {"d"})},
                             {{"a", tensor({1.f, 2.f})}, {"b", tensor({3.f, -1.f})}});
  const kg::named_operand x{"x", tensor({1.f, 1.f})};
  struct planned {
    std::vector<std::string> wanted;
    int steps;
    tensor value;
  };
  const planned cases[] = {{{"y"}, 1, tensor({17.f, 2.f})},
                           {{"constant"}, 0, tensor({-16.f, -1.f})},
                           {{"size"}, 0, tensor(2)},
                           {{"x"}, 0, tensor({1.f, 1.f})}};
  for (const planned& item : cases) {
    EXPECT_EQ(m.planned({&x, 1}, item.wanted).steps(), item.steps) << item.wanted[0];
    EXPECT_TRUE(same(m({&x, 1}, item.wanted), item.value)) << item.wanted[0];
  }
}

const json conv_attrs{{"strides", wholes({1, 1, 1, 1})},
                      {"padding", text("SAME")},
                      {"data_format", text("NHWC")},
                      {"T", type("DT_FLOAT")}};

model conv_block() {
  return model_with({input_of("x"), node_of("conv", "Conv2D", {"x", "w"}, conv_attrs),
                     node_of("biased", "AddV2", {"conv", "bias"}), node_of("scaled", "Mul", {"biased", "scale"}),
                     node_of("moved", "AddV2", {"offset", "scaled"}), node_of("y", "Relu", {"moved"})},
                    {{"w", hashed({3, 3, 2, 4}, 1)},
                     {"bias", hashed({4}, 2)},
                     {"scale", hashed({4}, 3) + 1},
                     {"offset", hashed({1, 1, 1, 4}, 4)}});
}

TEST(plans, make_a_convolution_and_what_follows_one_step) {
  const model m = conv_block();
  const tensor x = hashed({2, 6, 5, 2}, 5);
  const tensor biased = kg::conv2d(x, hashed({3, 3, 2, 4}, 1), {.pad = kg::same}) + hashed({4}, 2);
  const tensor moved = biased * (hashed({4}, 3) + 1) + hashed({1, 1, 1, 4}, 4);
  EXPECT_EQ(m.planned({{"x", x}}).steps(), 1);
  EXPECT_TRUE(kg::all_close(m({{"x", x}}), kg::relu(moved), {.rtol = 1e-5, .atol = 1e-5}));
  // A value that is read itself is not joined.
  const results both = m({{"x", x}}, {"y", "biased"});
  EXPECT_TRUE(kg::all_close(both.at("biased"), biased, {.rtol = 1e-5, .atol = 1e-5}));
  EXPECT_TRUE(kg::all_close(both.at("y"), kg::relu(moved), {.rtol = 1e-5, .atol = 1e-5}));
}

// As converters from frameworks with channels first write them: images turned before and after each convolution.
std::vector<json> channels_first_block() {
  const json border{{"Tpaddings", type("DT_INT32")}};
  return {input_of("x"),
          node_of("in1", "Transpose", {"x", "to_last"}),
          node_of("conv1", "Conv2D", {"in1", "w1"}, conv_attrs),
          node_of("out1", "Transpose", {"conv1", "to_first"}),
          node_of("biased", "AddV2", {"out1", "bias"}),
          node_of("active", "LeakyRelu", {"biased"}, {{"alpha", {{"f", 0.25}}}}),
          node_of("wide", "Pad", {"active", "border"}, border),
          node_of("in2", "Transpose", {"wide", "to_last"}),
          node_of("conv2", "Conv2D", {"in2", "w2"}, conv_attrs),
          node_of("out2", "Transpose", {"conv2", "to_first"}),
          node_of("joined", "ConcatV2", {"out2", "wide", "axis"}),
          node_of("sum", "Mul", {"joined", "joined"}),
          node_of("y", "Transpose", {"sum", "to_last"}),
          whole_of("axis", 1)};
}
model channels_first() {
  return model_with(channels_first_block(), {{"to_last", tensor({0, 2, 3, 1})},
                                             {"to_first", tensor({0, 3, 1, 2})},
                                             {"border", tensor({0, 0, 0, 0, 1, 2, 3, 0}, {4, 2})},
                                             {"w1", hashed({3, 3, 2, 4}, 1)},
                                             {"w2", hashed({3, 3, 4, 5}, 2)},
                                             {"bias", hashed({4, 1, 1}, 3)}});
}

TEST(plans, leave_out_transposes_that_undo_each_other) {
  const model m = channels_first();
  const tensor x = hashed({2, 2, 6, 5}, 5), last = kg::transpose(x, {0, 2, 3, 1});
  const tensor one = kg::conv2d(last, hashed({3, 3, 2, 4}, 1), {.pad = kg::same});
  const tensor active = kg::leaky_relu(one + kg::reshape(hashed({4, 1, 1}, 3), {4}), 0.25);
  const tensor wide = kg::pad(active, {0, 0, 1, 2, 3, 0, 0, 0});
  const tensor two = kg::conv2d(wide, hashed({3, 3, 4, 5}, 2), {.pad = kg::same});
  const tensor joined = kg::concat({two, wide}, 3);
  EXPECT_TRUE(kg::all_close(m({{"x", x}}, {"y"}), joined * joined, {.rtol = 1e-5, .atol = 1e-5}));
  // One transpose, two convolutions, the first with bias and activation, a border, a concatenation, a product.
  const kg::named_operand in{"x", x};
  const std::vector<std::string> wanted{"y"};
  EXPECT_EQ(m.planned({&in, 1}, wanted).steps(), 6);
  // A result in its own order, next to the one that goes on.
  const results both = m({{"x", x}}, {"active", "y"});
  EXPECT_TRUE(kg::all_close(both.at("active"), kg::transpose(active, {0, 3, 1, 2}), {.rtol = 1e-5, .atol = 1e-5}));
  EXPECT_TRUE(kg::all_close(both.at("y"), joined * joined, {.rtol = 1e-5, .atol = 1e-5}));
  // The slope of a result in the plain order is that of the one in the graph's.
  const auto slope = [&](const char* result) {
    return kg::grad([&](const tensor& t) { return kg::sum(kg::square(tensor(m({{"x", t}}, {result})))); })(x);
  };
  EXPECT_TRUE(kg::all_close(slope("y"), slope("sum"), {.rtol = 1e-4, .atol = 1e-4}));
  EXPECT_GT(kg::max(kg::abs(slope("y"))).item(), 0);
}

// A chain of one shape, and numbers: a row that is broadcast is left to its op.
model chain() {
  return model_with({input_of("x"), node_of("tripled", "Mul", {"x", "three"}), node_of("capped", "Relu6", {"tripled"}),
                     node_of("sum", "AddN", {"capped", "x"}), node_of("rest", "Sub", {"three", "sum"}),
                     node_of("wave", "Tanh", {"rest"}), node_of("moved", "AddV2", {"wave", "row"}),
                     node_of("y", "Mul", {"moved", "moved"})},
                    {{"three", tensor(3.f)}, {"row", tensor({0.5f, -1.f})}});
}

TEST(plans, make_elementwise_steps_of_one_shape_one) {
  const model m = chain();
  const tensor capped = kg::relu6(two_rows * 3.f), moved = kg::tanh(3.f - (capped + two_rows)) + tensor({0.5f, -1.f});
  const kg::named_operand x{"x", two_rows};
  struct planned {
    std::vector<std::string> wanted;
    int steps;
  };
  // A result is stored: an expression ends there.
  for (const planned& item : {planned{{"y"}, 3}, planned{{"y", "capped"}, 4}, planned{{"wave"}, 1}})
    EXPECT_EQ(m.planned({&x, 1}, item.wanted).steps(), item.steps) << item.wanted.back();
  const results both = m({&x, 1}, std::vector<std::string>{"y", "capped"});
  EXPECT_TRUE(same(both.at("y"), moved * moved));
  EXPECT_TRUE(same(both.at("capped"), capped));
  const std::vector<std::string> one{"wave"};
  EXPECT_TRUE(says(m.planned({&x, 1}, one).to_dot(), {"\"Multiply, Relu6, AddN, Sub, Tanh\nwave\""}));
  EXPECT_EQ(m.profile({&x, 1}).at(0).by, "fused");
  const auto slope = [&](const auto& f) { return kg::grad([&](const tensor& t) { return kg::sum(f(t)); })(two_rows); };
  EXPECT_TRUE(kg::all_close(slope([&](const tensor& t) { return tensor(m({{"x", t}}, {"wave"})); }),
                            slope([](const tensor& t) { return kg::tanh(3.f - (kg::relu6(t * 3.f) + t)); })));
}

// A value that is computed while planning stays until its last reader is planned, also through nodes that pass it on.
TEST(plans, join_all_readers_of_a_value) {
  const model m = model_with(
      {input_of("x"), node_of("same", "Identity", {"x"}), node_of("first", "MatMul", {"same", "w"}),
       node_of("second", "MatMul", {"same", "w"}), node_of("y", "Relu", {"first"}), node_of("z", "Relu", {"second"})},
      {{"w", hashed({2, 3}, 1)}});
  const kg::named_operand x{"x", two_rows};
  const std::vector<std::string> wanted{"y", "z"};
  EXPECT_EQ(m.planned({&x, 1}, wanted).steps(), 2);
  for (const tensor& y : m({&x, 1}, wanted))
    EXPECT_TRUE(kg::all_close(y, kg::relu(kg::matmul(two_rows, hashed({2, 3}, 1)))));
}

TEST(plans, are_drawn_with_every_step) {
  const kg::named_operand x{"x", hashed({1, 4, 4, 2}, 1)};
  const std::vector<std::string> wanted{"conv", "biased", "y"};
  const kg::graph::plan all = conv_block().planned({&x, 1}, wanted);
  const std::string dot = all.to_dot();
  EXPECT_EQ(dot.find("digraph"), 0u);
  EXPECT_TRUE(says(dot, {"\nconv\"", "\nbiased\"", "Relu\ny\"", "label=\"x\"", "in0 -> s0", "-> out2"})) << dot;
  EXPECT_TRUE(says(dot, {"  s" + std::to_string(all.steps() - 1) + " [label="})) << dot;
  EXPECT_EQ(dot.find("  s" + std::to_string(all.steps()) + " "), dot.npos) << dot;
}

TEST(second_calls, ask_the_system_for_no_memory) {
  if (KG_UNDER_ASAN) GTEST_SKIP() << "nothing is kept for reuse";
  struct called {
    model m;
    kg::named_operand x;
  };
  for (const called& item :
       {called{conv_block(), {"x", hashed({1, 64, 64, 2}, 1)}}, called{chain(), {"x", hashed({5000, 2}, 1)}}}) {
    tensor first = item.m({&item.x, 1});
    const std::string kept(elements(first));
    first = {};
    const std::int64_t calls = kg::allocations().system_calls;
    const tensor second = item.m({&item.x, 1});
    EXPECT_EQ(kg::allocations().system_calls, calls);
    EXPECT_EQ(elements(second), kept);
  }
}

TEST(profiles, have_each_step_once) {
  const kg::named_operand x{"x", hashed({1, 4, 4, 2}, 1)};
  const std::vector<kg::graph::node_time> times = conv_block().profile({&x, 1});
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].by, "FusedConv2D");
  EXPECT_EQ(times[0].results.at(0), (kg::signature{{1, 4, 4, 4}, kg::dtype::float32}));
}

TEST(profiles, have_the_steps_of_the_wanted_nodes_alone) {
  const model m = model_with({input_of("x"), node_of("up", "Exp", {"x"}), node_of("product", "MatMul", {"up", "w"}),
                              node_of("y", "Softmax", {"product"})},
                             {{"w", hashed({2, 3}, 1)}});
  const kg::named_operand x{"x", two_rows};
  const auto nodes = [](const std::vector<kg::graph::node_time>& times) {
    std::vector<std::string> names;
    for (const kg::graph::node_time& time : times) names.push_back(time.node);
    return names;
  };
  EXPECT_EQ(nodes(m.profile({x})), (std::vector<std::string>{"up", "product", "y"}));
  EXPECT_EQ(nodes(m.profile({x}, {"product"})), (std::vector<std::string>{"up", "product"}));
  const std::vector<std::string> wanted{"up"};
  EXPECT_EQ(nodes(m.profile({&x, 1}, wanted)), (std::vector<std::string>{"up"}));
  EXPECT_TRUE(says(refusal([&] { return m.profile({x}, {"z"}); }), {"output \"z\""}));
}

// ------------------------------------------------------------------------------------------ the registry

TEST(ops_that_nothing_runs, run_when_a_kernel_has_their_name) {
  const model m = model_with({input_of("x"), node_of("y", "GraphTestTimes", {"x"}, {{"by", number(3)}})});
  const auto run = [&] { return tensor(m({{"x", tensor({1.f, 2.f})}})); };
  const auto by = [&] { return m.needs().at(0).by; };
  EXPECT_EQ(by(), "");
  EXPECT_TRUE(says(refusal(run), {"GraphTestTimes", "node y", "register a kernel"}));
  {
    const kg::registration own =
        kg::scoped_kernel({.name = "GraphTestTimes", .run = [](const kg::kernel_call& call) -> kg::tensor_list {
                             return {call.operands()[0].tensors[0] * call.attr("by").as_number()};
                           }});
    EXPECT_EQ(by(), "registry");
    EXPECT_TRUE(same(run(), tensor({3.f, 6.f})));
  }
  EXPECT_TRUE(says(refusal(run), {"GraphTestTimes"}));
}

TEST(kernels_of_the_registry, read_the_inputs_of_a_node_by_their_positions) {
  const kg::registration own =
      kg::scoped_kernel({.name = "MyScaledSum", .run = [](const kg::kernel_call& call) -> kg::tensor_list {
                           return {(call.input("0") + call.input("1")) * call.attr("by").as_number()};
                         }});
  const kg::registration of_one =
      kg::scoped_kernel({.name = "GraphTestOne", .run = [](const kg::kernel_call& call) -> kg::tensor_list {
                           EXPECT_EQ(call.operands().size(), 1u);
                           EXPECT_FALSE(call.has_attr("T")) << "a dtype";
                           EXPECT_FALSE(call.has_attr("_hidden"));
                           return {-call.input("")};
                         }});
  const model m =
      model_with({input_of("x"), node_of("sum", "MyScaledSum", {"x", "x"}, {{"by", number(3)}}),
                  node_of("y", "GraphTestOne", {"sum", "^x"}, {{"T", type("DT_FLOAT")}, {"_hidden", number(1)}})});
  EXPECT_TRUE(same(m({{"x", tensor({1.f, 2.f})}}), tensor({-6.f, -12.f})));
}

// ------------------------------------------------------------------------------------------ threads

TEST(models, give_the_same_bits_to_many_threads) {
  const model m = conv_block();
  std::vector<tensor> inputs, expected;
  for (std::uint32_t i = 0; i < 4; ++i) {
    inputs.push_back(hashed({1 + i % 2, 5, 5, 2}, i));
    expected.push_back(conv_block()({{"x", inputs.back()}}));
  }
  std::vector<int> right(inputs.size(), 0);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 25; ++turn) right[i] += same(m({{"x", inputs[i]}}), expected[i]);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, std::vector<int>(inputs.size(), 25));
}

}  // namespace
