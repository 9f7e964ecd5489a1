// SPDX-License-Identifier: Apache-2.0
// Models saved and loaded again: the same inputs, outputs in the same order, and bitwise identical results; or an error
// and no file.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "graphs.h"
#include "own_models.h"

namespace {

using kg::dtype;
using kg::tensor;
using kg::graph::model;
using kgtest::calls;
using kgtest::function_of;
using kgtest::input_of;
using kgtest::json;
using kgtest::node_of;
using kgtest::whole_of;

model saved_and_loaded(const model& m, const kg::graph::save_options& how = {}) {
  const kgtest::folder here;
  kg::graph::save(here / "m.json", m, how);
  return kg::graph::load(here / "m.json");
}

std::string refused_save(const model& m) {
  const kgtest::folder here;
  const std::string said = kgtest::refusal([&] { return kg::graph::save(here / "m.json", m), 0; });
  if (said != kgtest::accepted) {
    EXPECT_TRUE(kgtest::says(said, {"[save] got \"", "m.json\", which would have"})) << said;
    EXPECT_TRUE(here.names().empty());
  }
  return said;
}

bool alike(const tensor& a, const tensor& b) {
  if (a.type() != dtype::text || b.type() != dtype::text) return kgtest::same(a, b);
  return a.dims() == b.dims() && a.to_texts() == b.to_texts();
}

// Ports and results of a model after one round and after two.
void expect_kept(const model& m, const std::vector<kg::named_operand>& inputs, const std::string& what,
                 const kg::graph::save_options& how = {}) {
  const auto ports = [](std::span<const kg::graph::port> all) {
    std::vector<std::string> texts;
    for (const kg::graph::port& p : all) {
      std::string text = p.key + " " + p.node + " " + std::string(kg::name_of(p.type)) + (p.known_rank ? "" : " any");
      for (const std::int64_t size : p.dims) text += " " + std::to_string(size);
      texts.push_back(text);
    }
    return texts;
  };
  const kg::graph::results wanted = m(inputs);
  model again = m;
  for (int round = 1; round <= 2; ++round) {
    again = saved_and_loaded(again, how);
    EXPECT_EQ(ports(again.inputs()), ports(m.inputs())) << what << " in round " << round;
    EXPECT_EQ(ports(again.outputs()), ports(m.outputs())) << what << " in round " << round;
    const kg::graph::results found = again(inputs);
    ASSERT_EQ(found.size(), wanted.size()) << what;
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(alike(found[i], wanted[i])) << what << ": result " << i << " in round " << round;
  }
}

TEST(rounds, keep_recorded_models) {
  for (const kgtest::own_model& own : kgtest::own_models())
    for (const std::int64_t shard : {333, 1 << 20})
      expect_kept(own.recorded(), {{"input", own.example}}, own.name, {.shard_bytes = shard});
}

TEST(rounds, keep_the_order_of_outputs_and_inputs) {
  const auto f = [](std::span<const tensor> x) {
    return std::vector{x[0] + x[1], x[1] - x[0], x[0] * x[1], x[0] / x[1]};
  };
  const kg::named_operand examples[] = {{"z", tensor({1.f, 2.f})}, {"a", tensor({3.f, 4.f})}};
  const model m = kg::graph::record(f, examples, {.outputs = {"zebra", "ape", "10", "9"}});
  const kgtest::folder here;
  kg::graph::save(here / "m.json", m);
  const auto written = nlohmann::ordered_json::parse(kgtest::contents(here / "m.json"))["signature"];
  std::vector<std::string> keys;
  for (const auto& [key, port] : written["outputs"].items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"zebra", "ape", "10", "9"}));
  EXPECT_EQ(written["inputs"].begin().key(), "z");
  expect_kept(m, {examples[0], examples[1]}, "four outputs");
}

// A model without inputs, whose result is a weight.
model model_that_is(const tensor& x) {
  const std::pair<dtype, std::string> names[] = {{dtype::float32, "float32"},
                                                 {dtype::int32, "int32"},
                                                 {dtype::boolean, "bool"},
                                                 {dtype::complex64, "complex64"},
                                                 {dtype::text, "string"}};
  json entry{{"name", "w"}, {"shape", std::vector<std::int64_t>(x.dims().begin(), x.dims().end())}};
  entry["dtype"] = std::ranges::find(names, x.type(), &std::pair<dtype, std::string>::first)->second;
  std::string bytes;
  if (x.type() != dtype::text) bytes = kgtest::elements(x);
  else
    for (const std::string& text : x.to_texts())
      bytes += kgtest::little(static_cast<std::uint32_t>(text.size())) + text;
  const kgtest::folder here;
  std::ofstream(here / "w.bin", std::ios::binary) << bytes;
  std::ofstream(here / "m.json") << json{
      {"modelTopology",
       {{"node", json::array({node_of("w", "Const", {}, {{"dtype", kgtest::type(kgtest::graph_type(x.type()))}})})}}},
      {"weightsManifest", {{{"paths", {"w.bin"}}, {"weights", json::array({entry})}}}}};
  return kg::graph::load(here / "m.json");
}

TEST(rounds, keep_constants_of_every_dtype_and_shape) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::pair<std::string, tensor>> all = {
      {"float32", tensor({1.5f, -0.f, inf, -inf, nan})},
      {"int32", tensor({1, -2, INT32_MAX}, {3, 1})},
      {"bool", tensor({true, false, true})},
      {"complex64", tensor({kg::complex64(1, 2), kg::complex64(-0.f, inf)})},
      {"text", tensor({"", "a\xc3\xa9 b", "text"})},
      {"scalar", tensor(7.f)},
      {"empty", kg::zeros({0, 3})},
      {"empty of texts", tensor(std::vector<std::string>(), {0})},
      {"large", kgtest::hashed({3000}, 1)},
  };
  for (const auto& [what, x] : all) expect_kept(model_that_is(x), {}, what, {.shard_bytes = 100});
}

TEST(rounds, keep_names_of_all_kinds) {
  const tensor x({1.f, 2.f});
  for (const std::string name : {"a", "a/b", "a:b", "^a", "a b", "\"a\"", "a\nb", "\xc3\xa9", "..", "0", "__proto__"}) {
    const kg::variable w(kg::tensor({2.f, 3.f}), name);
    const kg::named_operand example(name, x);
    const model m = kg::graph::record([&](std::span<const tensor> in) { return std::vector{in[0] * w}; }, {&example, 1},
                                      {.outputs = {name}, .named = {w}});
    expect_kept(m, {{"", x}}, name);
  }
  const kg::variable bad(kg::tensor({2.f, 3.f}), "\xff");
  EXPECT_TRUE(kgtest::says(
      refused_save(kg::graph::record([&](const tensor& in) { return in * bad; }, x, {.named = {bad}})), {"UTF-8"}));
}

// ------------------------------------------------------------------------------------------ constants of one name

// A call of each function on x.
std::vector<json> calling(const std::vector<std::string>& functions) {
  std::vector<json> nodes{input_of("x", "DT_INT32")};
  for (const std::string& f : functions)
    nodes.push_back(node_of("call_" + f, "PartitionedCall", {"x"}, {{"f", calls(f)}}));
  return nodes;
}
// v + k, where k is a constant of the function's.
json adding(const std::string& name, std::int32_t k, const std::string& constant = "k", const std::string& v = "v") {
  return function_of(name, {{v, "DT_INT32"}}, {{"r", "sum:z:0"}},
                     {whole_of(constant, k), node_of("sum", "AddV2", {v, constant + ":output:0"})});
}

TEST(rounds, keep_constants_of_one_name_apart) {
  const std::vector<kg::named_operand> one{{"x", tensor({1})}};
  std::vector<json> with_main = calling({"f"});
  with_main.push_back(whole_of("k", 100));
  with_main.push_back(node_of("y", "AddV2", {"call_f", "k"}));
  std::vector<json> with_other_node = calling({"f"});
  with_other_node.push_back(node_of("k", "AddV2", {"call_f", "x"}));
  std::vector<json> with_argument = calling({"f", "g"});
  std::vector<json> with_input{input_of("k", "DT_INT32"), node_of("y", "PartitionedCall", {"k"}, {{"f", calls("f")}})};
  std::vector<json> with_new_name = calling({"f"});
  with_new_name.push_back(whole_of("k", 100));
  with_new_name.push_back(whole_of("k__1", 1000));
  with_new_name.push_back(node_of("sum", "AddV2", {"call_f", "k"}));
  with_new_name.push_back(node_of("y", "AddV2", {"sum", "k__1"}));
  struct one_model {
    std::string what;
    model m;
    std::vector<kg::named_operand> inputs;
  };
  const one_model all[] = {
      {"main and a function", kgtest::model_with(with_main, {}, {adding("f", 10)}), one},
      {"two functions", kgtest::model_with(calling({"f", "g"}), {}, {adding("f", 10), adding("g", 20)}), one},
      {"equal ones", kgtest::model_with(calling({"f", "g"}), {}, {adding("f", 10), adding("g", 10)}), one},
      {"another node of main", kgtest::model_with(with_other_node, {}, {adding("f", 10)}), one},
      {"an argument", kgtest::model_with(with_argument, {}, {adding("f", 10), adding("g", 20, "c", "k")}), one},
      {"an input", kgtest::model_with(with_input, {}, {adding("f", 10)}), {{"k", tensor({1})}}},
      {"a sum of another function",
       kgtest::model_with(calling({"f", "g"}), {}, {adding("f", 10), adding("g", 20, "sum2")}), one},
      {"a name that a new one might have",
       kgtest::model_with(with_new_name, {}, {adding("f", 10), adding("k__1", 20, "k__2")}), one},
  };
  for (const one_model& each : all) expect_kept(each.m, each.inputs, each.what);
  // One weight is written once.
  const kgtest::folder here;
  kg::graph::save(here / "m.json", all[2].m);
  EXPECT_EQ(kgtest::contents(here / kgtest::parts_of(here / "m.json")[0]).size(), sizeof(std::int32_t));
}

TEST(rounds, keep_weights_that_functions_share) {
  json add = function_of(
      "f", {{"v", "DT_FLOAT"}}, {{"r", "sum:z:0"}},
      {node_of("w", "Const", {}, {{"dtype", kgtest::type("DT_FLOAT")}}), node_of("sum", "AddV2", {"v", "w:output:0"})});
  json same = add;
  same["signature"]["name"] = "g";
  std::vector<json> nodes{input_of("x"), node_of("a", "PartitionedCall", {"x"}, {{"f", calls("f")}}),
                          node_of("b", "PartitionedCall", {"x"}, {{"f", calls("g")}})};
  const model m = kgtest::model_with(nodes, {{"w", tensor({1.f, 2.f})}}, {add, same});
  expect_kept(m, {{"x", tensor({1.f, 1.f})}}, "a weight of main and of two functions");
}

// ------------------------------------------------------------------------------------------ what is rejected

TEST(rounds, end_before_they_begin_where_a_dtype_would_be_another) {
  const auto recorded = [](const tensor& example, std::function<tensor(const tensor&)> f) {
    return kg::graph::record(f, example);
  };
  const auto square = [](const tensor& x) { return x * x; };
  const auto cast_to = [](dtype type) {
    return [type](const tensor& x) { return kg::cast(x, type) + kg::cast(x, type); };
  };
  const auto there_and_back = [](dtype type) {
    return [type](const tensor& x) { return kg::cast(kg::square(kg::cast(x, type)), dtype::float32); };
  };
  for (const dtype type : {dtype::float64, dtype::float16, dtype::bfloat16, dtype::int64, dtype::uint8}) {
    const std::string name(kg::name_of(type));
    const std::string as_input = refused_save(recorded(kg::ones({2}, type), square));
    EXPECT_TRUE(kgtest::says(as_input, {"input", name})) << as_input;
    const std::string as_output = refused_save(recorded(kg::ones({2}), cast_to(type)));
    EXPECT_TRUE(kgtest::says(as_output, {"output", name})) << as_output;
    const std::string inside = refused_save(recorded(kg::ones({2}), there_and_back(type)));
    EXPECT_TRUE(kgtest::says(inside, {"node", name})) << inside;
  }
  for (const dtype type : {dtype::float32, dtype::int32, dtype::complex64})
    EXPECT_EQ(refused_save(recorded(kg::ones({2}, type), square)), kgtest::accepted) << kg::name_of(type);
}

TEST(recordings, have_each_key_once) {
  const auto twice = [](std::span<const tensor> x) { return std::vector{x[0] + 1.f, x[0] + 2.f}; };
  const kg::named_operand example("x", tensor({1.f}));
  for (const std::vector<std::string>& keys : {std::vector<std::string>{"a", "a"}, {"output_1"}})
    EXPECT_TRUE(
        kgtest::says(kgtest::refusal([&] { return kg::graph::record(twice, {&example, 1}, {.outputs = keys}); }),
                     {"[record]", keys[0], "two results"}));
}

}  // namespace
