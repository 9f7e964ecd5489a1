// SPDX-License-Identifier: Apache-2.0
// Numbers of inputs and results: a node that has others than its op is rejected by `load` in one sentence, and what is
// loaded gives results or an error.
#include <limits>
#include <map>
#include <set>

#include "tests/graph/graphs.h"
#include "tests/graph/small_runs.h"

namespace {

using namespace kgtest;

constexpr int most_tried = 7;  // more than any op has that has a bound

// A node `y` of an op, with inputs of floats or of integers. Attributes are those that many ops want.
std::vector<json> node_with(std::string_view op, int inputs, std::string_view dtype) {
  std::vector<json> nodes;
  const json element{{"dtype", "DT_FLOAT"}, {"tensorShape", json::object()}, {"floatVal", std::vector{0.5}}};
  json node = node_of("y", op, {},
                      {{"T", type(dtype)},
                       {"DstT", type("DT_FLOAT")},
                       {"dtype", type(dtype)},
                       {"value", {{"tensor", element}}},
                       {"strides", wholes({1, 1, 1, 1})},
                       {"ksize", wholes({1, 2, 2, 1})},
                       {"padding", text("SAME")},
                       {"equation", text("ij->ji")},
                       {"num_split", whole(1)}});
  for (int i = 0; i < inputs; ++i) {
    nodes.push_back(input_of("x" + std::to_string(i), dtype));
    node["input"].push_back("x" + std::to_string(i));
  }
  nodes.push_back(node);
  return nodes;
}

std::string said_of(std::string_view op, int inputs) {
  return refusal([&] { return model_with(node_with(op, inputs, "DT_FLOAT")); });
}

// The numbers of inputs with which a node of the op is loaded.
std::set<int> accepted_counts(const std::string& op) {
  std::set<int> all;
  for (int count = 0; count <= most_tried; ++count) {
    const std::string said = said_of(op, count);
    if (said == accepted) {
      all.insert(count);
      continue;
    }
    EXPECT_TRUE(said.starts_with("[load] got \"")) << said;
    EXPECT_TRUE(says(said, {"node \"y\" of op \"" + op + "\"", std::to_string(count) + " inputs; wanted "})) << said;
    EXPECT_EQ(said.find('\n'), said.npos) << said;
  }
  return all;
}

// Runs of what is loaded, with inputs of several shapes.
void run_all(const std::string& op, int inputs) {
  for (const std::string_view dtype : {"DT_FLOAT", "DT_INT32"}) {
    const kg::graph::model m = model_with(node_with(op, inputs, dtype));
    for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{}, {2, 2}, {1, 2, 2, 2}, {0}}) {
      std::vector<kg::named_operand> in;
      for (const kg::graph::port& p : m.inputs()) in.emplace_back(p.key, *small_tensor(dims, p.type));
      for (const std::string wanted : {"y", "y:1"}) {
        const std::vector<std::string> outputs{wanted};
        EXPECT_EQ(complaint_of_run([&] { return m(in, outputs); }), "") << op << " of " << inputs << ", " << wanted;
      }
    }
  }
}

TEST(numbers_of_inputs, are_those_of_the_op_or_refused) {
  const memory_limit_scope limit(std::int64_t{64} << 20);
  const std::set<std::string> any_number{"PartitionedCall", "StatefulPartitionedCall"};
  for (const kg::graph::needed_op& op : kg::graph::known_ops()) {
    const std::set<int> counts = accepted_counts(op.name);
    ASSERT_FALSE(counts.empty()) << op.name;
    EXPECT_EQ(*counts.rbegin() - *counts.begin() + 1, static_cast<int>(counts.size())) << op.name << ": a gap";
    const bool has_bound = static_cast<int>(counts.size()) <= most_tried;
    EXPECT_EQ(has_bound, !op.by.empty() ? !any_number.contains(op.name) : op.name == "StaticRegexReplace") << op.name;
    for (const int count : counts)
      if (count <= *counts.begin() + 2) run_all(op.name, count);
  }
}

// TensorFlow's op definitions (tensorflow/core/ops) for a sample of all ways in which a row or a line of the table
// decides. A row that has a default takes a node without the input, too.
TEST(numbers_of_inputs, are_those_of_TensorFlow_and_of_the_row) {
  constexpr int any = most_tried;
  const std::map<std::string, std::pair<int, int>> wanted{
      {"AddN", {1, any}},
      {"AddV2", {2, 2}},
      {"Bincount", {3, 3}},
      {"ClipByValue", {3, 3}},
      {"Concat", {2, any}},
      {"ConcatV2", {2, any}},
      {"Const", {0, 0}},
      {"Conv2D", {2, 2}},
      {"Conv2DBackpropInput", {3, 3}},
      {"CropAndResize", {4, 4}},
      {"Enter", {1, 1}},
      {"Exit", {1, 1}},
      {"Fill", {2, 2}},
      {"FusedBatchNormV3", {5, 5}},
      {"Gather", {2, 2}},
      {"Identity", {1, 1}},
      {"IdentityN", {1, any}},
      {"LinSpace", {3, 3}},
      {"LoopCond", {1, 1}},
      {"Merge", {1, any}},
      {"NextIteration", {1, 1}},
      {"NoOp", {0, 0}},
      {"NoSuchOp", {0, any}},
      {"Pack", {1, any}},
      {"Pad", {2, 2}},
      {"PadV2", {2, 3}},
      {"Placeholder", {0, 0}},
      {"PlaceholderWithDefault", {1, 1}},
      {"PreventGradient", {1, 1}},
      {"RaggedGather", {3, any}},
      {"Range", {2, 3}},
      {"ReadVariableOp", {1, 1}},
      {"Relu", {1, 1}},
      {"Reshape", {2, 2}},
      {"Reverse", {2, 2}},
      {"Select", {3, 3}},
      {"Snapshot", {1, 1}},
      {"Split", {2, 2}},
      {"SplitV", {2, 3}},
      {"StopGradient", {1, 1}},
      {"StridedSlice", {3, 4}},
      {"Switch", {2, 2}},
      {"TensorArrayReadV3", {3, 3}},
      {"TensorArrayV3", {1, 1}},
      {"TensorListPushBack", {2, 2}},
      {"TensorListScatterV2", {4, 4}},
      {"Unpack", {1, 1}},
      {"VarHandleOp", {0, 0}},
      {"_FusedConv2D", {2, any}},
  };
  for (const auto& [op, bounds] : wanted) {
    const std::set<int> counts = accepted_counts(op);
    ASSERT_FALSE(counts.empty()) << op;
    EXPECT_EQ(std::pair(*counts.begin(), *counts.rbegin()), bounds) << op;
  }
}

// ------------------------------------------------------------------------------------------ results

// A graph in which `place` is read by a node, by a result of a function, or as a port.
std::string said_of_reading(const std::string& place, const std::string& by) {
  const std::vector<json> there{input_of("x"),
                                input_of("c", "DT_BOOL"),
                                node_of("same", "Identity", {"x"}),
                                whole_of("none", 0),
                                node_of("two", "Switch", {"x", "c"}),
                                node_of("all", "IdentityN", {"x", "x", "x"}),
                                node_of("order", "NoOp"),
                                node_of("parts", "Unpack", {"x"}, {{"num", whole(2)}}),
                                node_of("unique", "Unique", {"x"}),
                                node_of("unknown", "NoSuchOp", {"x"}),
                                node_of("called", "PartitionedCall", {"x"})};
  if (by == "a node") {
    std::vector<json> nodes = there;
    nodes.push_back(node_of("reader", "Neg", {place}));
    return refusal([&] { return model_with(nodes); });
  }
  if (by == "a function") {
    const std::vector<json> nodes(there.begin() + 2, there.end());
    const json f = function_of("f", {{"x", "DT_FLOAT"}, {"c", "DT_BOOL"}}, {{"r", place}}, nodes);
    return refusal([&] { return model_with({input_of("x")}, {}, {f}); });
  }
  return refusal([&] { return model_with(there, {}, {}, {{by, {{"key", {{"name", place}}}}}}); });
}

TEST(results_that_are_read, are_those_of_the_op_or_refused) {
  const std::pair<std::string, bool> places[] = {
      {"x", true},         {"x:1", false},      {"same:0", true},   {"same:1", false},
      {"none:1", false},   {"two:1", true},     {"two:2", false},   {"all:2", true},
      {"all:3", false},    {"order", false},    {"parts:7", true},  {"unique:1", true},
      {"unique:2", false}, {"unknown:7", true}, {"called:7", true}, {"same:7", false},
  };
  for (const std::string by : {"a node", "a function", "inputs", "outputs"})
    for (const auto& [place, is_there] : places) {
      const std::string said = said_of_reading(place, by);
      if (is_there) {
        EXPECT_EQ(said, accepted) << place << " by " << by;
        continue;
      }
      EXPECT_TRUE(said.starts_with("[load] got \"")) << place << " by " << by << ": " << said;
      const std::string node = "node \"" + place.substr(0, place.find(':')) + "\"";
      EXPECT_TRUE(says(said, {node, "result", "counted from 0"})) << place << " by " << by << ": " << said;
    }
}

TEST(results_that_a_call_wants, are_those_of_the_op_or_refused) {
  const kg::graph::model m = model_with({input_of("x"), node_of("y", "Neg", {"x"})});
  const kg::tensor x({1.f, 2.f});
  EXPECT_TRUE(same(m({{"x", x}}, {"y:0"})[0], -x));
  for (const std::string place : {"y:1", "x:7", "y:1048576"})
    EXPECT_TRUE(says(refusal([&] { return m({{"x", x}}, {place}); }), {"output \"" + place + "\""})) << place;
}

// The node that closes an array has no result, so it is no output either.
TEST(nodes_without_results, are_no_outputs) {
  const kg::graph::model m = model_with({input_of("x"), whole_of("two", 2), node_of("y", "Neg", {"x"}),
                                         node_of("array", "TensorArrayV3", {"two"}, {{"dtype", type("DT_FLOAT")}}),
                                         node_of("closed", "TensorArrayCloseV3", {"array"}), node_of("order", "NoOp")});
  std::vector<std::string> keys;
  for (const kg::graph::port& p : m.outputs()) keys.push_back(p.key);
  EXPECT_EQ(keys, std::vector<std::string>{"y"});
}

// A sequence without elements where a number is wanted.
TEST(inputs_without_elements, are_refused_with_the_name_of_the_node) {
  const kg::tensor none = kg::cast(kg::zeros({0}), kg::dtype::int32);
  const kg::tensor dims({2}), x = kg::zeros({1, 3});
  EXPECT_TRUE(says(refusal([&] { return run_op("RandomUniformInt", json::object(), {dims, none, none}); }),
                   {"input 1 without elements", "node y"}));
  EXPECT_TRUE(says(refusal([&] { return run_op("Multinomial", json::object(), {x, none}); }),
                   {"input 1 without elements", "node y"}));
}

// A row under its own name takes as many inputs as it has operands.
TEST(rows_under_their_own_names, refuse_inputs_that_they_have_no_operands_for) {
  const kg::tensor x({1.f, 2.f});
  EXPECT_TRUE(says(refusal([&] { return run_op("Gelu", json::object(), {x, x}); }), {"2 inputs", "at most 1"}));
  EXPECT_TRUE(says(refusal([&] { return run_op("RandomNormal", json::object(), {x}); }), {"node y"}));
  EXPECT_EQ(run_op("Gelu", json::object(), {x})[0].size(), 2);
}

}  // namespace
