// SPDX-License-Identifier: Apache-2.0
// The table of graph ops next to the list of TensorFlow.js's converter (tests/graph/converter_ops.txt, the names in
// @tensorflow/tfjs-converter 4.22.0, dist/operations/op_list), and what models are told of their ops.
#include <algorithm>
#include <fstream>
#include <set>

#include "tests/graph/one_op.h"
#include "tests/support/refusal.h"

namespace {

using namespace kgtest;

std::set<std::string> converter_ops() {
  std::ifstream file(KG_CONVERTER_OPS);
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) names.insert(line);
  return names;
}

TEST(Mapping, HasEveryOpOfTheConverter) {
  const std::set<std::string> wanted = converter_ops();
  ASSERT_GT(wanted.size(), 200u);
  std::set<std::string> known;
  for (const kg::graph::needed_op& op : kg::graph::known_ops()) known.insert(op.name);
  for (const std::string& name : wanted) EXPECT_TRUE(known.contains(name)) << name;
}

TEST(Mapping, SaysForEveryOpWhatRunsItOrWhyNothingDoes) {
  for (const kg::graph::needed_op& op : kg::graph::known_ops()) {
    EXPECT_NE(op.by.empty(), op.reason.empty()) << op.name;
    if (op.by.empty() || op.by == "composed" || op.by == "graph") continue;
    EXPECT_NE(kg::row_named(op.by), nullptr) << op.name << " by " << op.by;
  }
}

TEST(Mapping, TellsWhatAModelNeedsByOp) {
  const json nodes = json::array({{{"name", "x"}, {"op", "Placeholder"}, {"attr", {{"dtype", type("DT_FLOAT")}}}},
                                  {{"name", "a"}, {"op", "Mul"}, {"input", {"x", "x"}}},
                                  {{"name", "b"}, {"op", "Mul"}, {"input", {"a", "x"}}},
                                  {{"name", "c"}, {"op", "NoSuchOp"}, {"input", {"b"}}}});
  const std::vector<kg::graph::needed_op> needs = model_of(nodes).needs();
  const auto need = [&](std::string_view name) {
    return *std::find_if(needs.begin(), needs.end(), [&](const auto& op) { return op.name == name; });
  };
  EXPECT_EQ(need("Mul").nodes, 2);
  EXPECT_EQ(need("Mul").by, "Multiply");
  EXPECT_EQ(need("Placeholder").by, "graph");
  EXPECT_TRUE(need("NoSuchOp").by.empty());
  EXPECT_NE(need("NoSuchOp").reason.find("register a kernel"), std::string::npos);
}

TEST(Mapping, TakesAMissingOpFromTheRegistryUnderItsGraphName) {
  const kg::tensor x({1.f, 2.f});
  const kg::graph::model m = model_of_op("Twice", json::object(), {x});
  EXPECT_THROW(m({{"x0", x}}, {"y"}), kg::error);
  const kg::registration here = kg::scoped_kernel({.name = "Twice", .run = [](const kg::kernel_call& c) {
                                                     return kg::tensor_list{c.operands()[0].tensors[0] * 2};
                                                   }});
  EXPECT_EQ(m.needs().back().by, "registry");
  EXPECT_EQ(kg::graph::results(m({{"x0", x}}, {"y"}))[0].to_doubles(), (std::vector<double>{2, 4}));
}

// ------------------------------------------------------------------------------------------ refusals

struct refused {
  std::string_view op;
  json attrs;
  std::vector<kg::tensor> inputs;
  std::string_view part;  // of the text
};

TEST(Mapping, RefusesWhatNoCallSays) {
  const kg::tensor x = kg::ones({1, 4, 4, 2}), w = kg::ones({2, 2, 2, 3}), bias = kg::ones({3});
  const json steps = wholes({1, 1, 1, 1});
  const refused cases[] = {
      {"Conv2D", {{"strides", wholes({2, 1, 1, 1})}, {"padding", text("SAME")}}, {x, w}, "batch or channels"},
      {"Conv2D", {{"strides", steps}, {"padding", text("REFLECT")}}, {x, w}, "reflect"},
      {"Conv2D", {{"strides", number(2)}, {"padding", text("SAME")}}, {x, w}, "list of integers"},
      {"Conv2D", {{"strides", steps}}, {x, w}, "pad"},
      {"MaxPool",
       {{"ksize", steps}, {"strides", steps}, {"padding", text("SAME")}, {"data_format", text("NCHW")}},
       {x},
       "NHWC"},
      {"_FusedConv2D",
       {{"strides", steps}, {"padding", text("SAME")}, {"fused_ops", texts({"BiasAdd", "Nonsense"})}},
       {x, w, bias},
       "Nonsense"},
      {"_FusedConv2D",
       {{"strides", steps}, {"padding", text("SAME")}, {"fused_ops", texts({"BiasAdd"})}},
       {x, w},
       "inputs"},
      {"AddV2", json::object(), {x}, "inputs"},
      {"Squeeze", {{"squeeze_dims", wholes({1})}}, {x}, "size 1"},
      {"LeakyRelu", {{"alpha", text("steep")}}, {x}, "alpha"},
      {"HashTableV2", json::object(), {}, "HashTableV2"},
  };
  for (const refused& item : cases) {
    const std::string got = refusal([&] { return run_op(item.op, item.attrs, item.inputs); });
    EXPECT_TRUE(says(got, {item.part})) << item.op << ": " << got;
    EXPECT_NE(got, accepted) << item.op;
  }
}

}  // namespace
