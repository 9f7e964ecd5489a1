// SPDX-License-Identifier: Apache-2.0
// Reads all that the format can state: dtypes and quantisation of weights, several shards and groups, signatures,
// functions.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "own_models.h"

namespace {

using kg::tensor;
using nlohmann::json;

void write(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// The one weight of a model, as its Const gives it.
tensor weight_read(const json& entry, const std::string& bytes, std::size_t cut = 0) {
  const kgtest::folder here;
  json w = entry;
  w["name"] = "w";
  const json m{{"modelTopology", {{"node", {{{"name", "w"}, {"op", "Const"}}}}}},
               {"weightsManifest", {{{"paths", {"a.bin", "b.bin"}}, {"weights", json::array({w})}}}}};
  write(here / "m.json", m.dump());
  write(here / "a.bin", bytes.substr(0, cut));
  write(here / "b.bin", bytes.substr(cut));
  return kg::graph::load(here / "m.json")({});
}

template <class T>
std::string packed(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) bytes += kgtest::little(value);
  return bytes;
}

json entry(std::string_view type, const json& dims) { return {{"dtype", type}, {"shape", dims}}; }
json quantised(std::string_view type, std::string_view as, double scale, double min) {
  json e = entry(type, {3});
  e["quantization"] = {{"dtype", as}, {"scale", scale}, {"min", min}};
  return e;
}

TEST(weights, are_read_in_every_dtype) {
  const std::string floats = packed({1.5f, -2.f, 0.25f});
  for (std::size_t cut = 0; cut <= floats.size(); ++cut)  // anywhere between two files
    EXPECT_TRUE(kgtest::same(weight_read(entry("float32", {3}), floats, cut), tensor({1.5f, -2.f, 0.25f}))) << cut;
  EXPECT_TRUE(kgtest::same(weight_read(entry("int32", {2, 1}), packed({7, -9})), tensor({7, -9}, {2, 1})));
  EXPECT_TRUE(kgtest::same(weight_read(entry("bool", {3}), std::string("\0\1\7", 3)), tensor({false, true, true})));
  EXPECT_TRUE(kgtest::same(weight_read(entry("uint8", {2}), "\xff\2"), tensor({255, 2})));
  EXPECT_TRUE(kgtest::same(weight_read(entry("float16", {2}), std::string("\0\x3c\0\xc0", 4)), tensor({1.f, -2.f})));
  const tensor c = weight_read(entry("complex64", {1}), packed({3.f, 4.f}));
  EXPECT_EQ(c.type(), kg::dtype::complex64);
  EXPECT_EQ(c.item<kg::complex64>(), (kg::complex64{3.f, 4.f}));
  const std::string texts = kgtest::little(2u) + "ab" + kgtest::little(0u) + kgtest::little(3u) + "xyz";
  EXPECT_EQ(weight_read(entry("string", {3}), texts, 5).to_texts(), (std::vector<std::string>{"ab", "", "xyz"}));
}

TEST(weights, are_dequantised_in_double) {
  const auto expected = [](double a, double b, double c) {
    return tensor({static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)});
  };
  const double scale = 0.1, min = -3.3;
  EXPECT_TRUE(kgtest::same(weight_read(quantised("float32", "uint8", scale, min), std::string("\0\x80\xff", 3)),
                           expected(min, 128 * scale + min, 255 * scale + min)));
  EXPECT_TRUE(
      kgtest::same(weight_read(quantised("float32", "uint16", scale, min), packed<std::uint16_t>({0, 1000, 65535}), 3),
                   expected(min, 1000 * scale + min, 65535 * scale + min)));
  EXPECT_TRUE(
      kgtest::same(weight_read(quantised("int32", "uint8", 0.5, -1), std::string("\0\3\4", 3)), tensor({-1, 1, 1})));
}

TEST(weights, stay_in_the_file_where_they_lie_as_tensors_do) {
  const std::int64_t count = 1 << 18;
  const kgtest::folder here;
  const json m{{"modelTopology", {{"node", {{{"name", "w"}, {"op", "Const"}}}}}},
               {"weightsManifest",
                {{{"paths", {"w.bin"}}, {"weights", {{{"name", "w"}, {"dtype", "float32"}, {"shape", {count}}}}}}}}};
  write(here / "m.json", m.dump());
  const tensor wanted = kgtest::hashed({count}, 5);
  write(here / "w.bin", {reinterpret_cast<const char*>(wanted.data<float>().data()), std::size_t{4} * count});
  const std::int64_t before = kg::memory().live_bytes;
  const kg::graph::model loaded = kg::graph::load(here / "m.json");
  EXPECT_LT(kg::memory().live_bytes - before, count);
  std::filesystem::remove(here / "w.bin");
  const tensor w = loaded({});
  EXPECT_TRUE(kgtest::same(w, wanted));
  // Borrowed elements are never written.
  EXPECT_EQ(w.at(0).set(7.f).item<float>(0), 7.f);
  EXPECT_TRUE(kgtest::same(tensor(loaded({})), wanted));
}

// A model that is one weight, whose file has these elements: they stay there until the first read, which serves all.
void expect_widened_by_the_first_call(const json& quantization, const tensor& stored, const tensor& wanted) {
  const std::int64_t count = stored.size();
  const kgtest::folder here;
  const json m{
      {"modelTopology", {{"node", {{{"name", "w"}, {"op", "Const"}}}}}},
      {"weightsManifest",
       {{{"paths", {"w.bin"}},
         {"weights", {{{"name", "w"}, {"dtype", "float32"}, {"shape", {count}}, {"quantization", quantization}}}}}}}};
  write(here / "m.json", m.dump());
  write(here / "w.bin",
        {static_cast<const char*>(stored.address()), static_cast<std::size_t>(kg::size_of(stored.type()) * count)});
  const std::int64_t before = kg::memory().live_bytes;
  const kg::graph::model loaded = kg::graph::load(here / "m.json");
  EXPECT_LT(kg::memory().live_bytes - before, count / 2);
  const std::int64_t unused = kg::memory().live_bytes;
  EXPECT_TRUE(kgtest::same(tensor(loaded({})), wanted));
  EXPECT_TRUE(kgtest::same(tensor(loaded({})), wanted));
  EXPECT_LE(kg::memory().live_bytes - unused, 4 * count + 4096);
  // To everybody else it is what it stands for.
  ASSERT_EQ(loaded.variables().size(), 1u);
  EXPECT_TRUE(kgtest::same(loaded.variables()[0].value(), wanted));
  kg::graph::save(here / "again.json", loaded);
  EXPECT_EQ(std::filesystem::file_size(here / kgtest::parts_of(here / "again.json")[0]),
            static_cast<std::uintmax_t>(4 * count));
  EXPECT_TRUE(kgtest::same(tensor(kg::graph::load(here / "again.json")({})), wanted));
}

TEST(weights, that_are_halves_are_widened_by_the_first_call) {
  const tensor halves = kg::cast(kgtest::hashed({1 << 18}, 5), kg::dtype::float16);
  expect_widened_by_the_first_call({{"dtype", "float16"}}, halves, kg::cast(halves, kg::dtype::float32));
}

TEST(weights, that_are_bytes_are_widened_by_the_first_call) {
  const tensor bytes = kg::cast(kg::arange(1 << 18, kg::dtype::int32), kg::dtype::uint8);
  expect_widened_by_the_first_call({{"dtype", "uint8"}, {"scale", 0.5}, {"min", -3}}, bytes,
                                   kg::cast(bytes, kg::dtype::float32) * 0.5f - 3.f);
}

TEST(signatures, may_be_old_or_absent) {
  const kgtest::folder here;
  json m = json::parse(R"({"modelTopology": {"node": [
      {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_INT32"},
        "shape": {"shape": {"dim": [{"size": "-1"}]}}}},
      {"name": "y", "op": "Identity", "input": ["x"]}]}})");
  const auto loaded = [&] {
    write(here / "m.json", m.dump());
    return kg::graph::load(here / "m.json");
  };
  const kg::graph::model plain = loaded();
  ASSERT_EQ(plain.inputs().size(), 1u);
  EXPECT_EQ(plain.inputs()[0].key, "x");
  EXPECT_EQ(plain.inputs()[0].type, kg::dtype::int32);
  EXPECT_EQ(plain.inputs()[0].dims, std::vector<std::int64_t>{-1});
  ASSERT_EQ(plain.outputs().size(), 1u);
  EXPECT_EQ(plain.outputs()[0].key, "y");
  const json signature = {
      {"inputs", {{"in", {{"name", "x:0"}, {"dtype", "DT_INT32"}, {"tensorShape", {{"unknownRank", true}}}}}}},
      {"outputs", {{"out", {{"name", "y:0"}}}}}};
  m["userDefinedMetadata"]["signature"] = signature;
  EXPECT_EQ(loaded().inputs()[0].key, "in");
  EXPECT_TRUE(loaded().inputs()[0].known_rank);  // the node says it
  m.erase("userDefinedMetadata");
  m["signature"] = signature;
  EXPECT_EQ(loaded().outputs()[0].key, "out");
}

TEST(functions, are_called_by_the_names_of_their_results) {
  const kgtest::folder here;
  write(here / "m.json", R"({"modelTopology": {"node": [
      {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}},
      {"name": "y", "op": "PartitionedCall", "input": ["x"], "attr": {"f": {"func": {"name": "second"}}}}],
    "library": {"function": [{"signature": {"name": "second", "inputArg": [{"name": "v", "type": "DT_FLOAT"}],
        "outputArg": [{"name": "r", "type": "DT_INT32"}]},
      "nodeDef": [{"name": "k", "op": "Const", "attr": {"value": {"tensor": {"dtype": "DT_INT32", "tensorShape": {},
          "intVal": [1]}}}},
        {"name": "t", "op": "TopKV2", "input": ["v", "k:output:0"]}],
      "ret": {"r": "t:indices:0"}}]}}})");
  const tensor y = kg::graph::load(here / "m.json")({{"x", tensor({1.f, 5.f, 3.f})}});
  EXPECT_TRUE(kgtest::same(y, tensor({1})));
}

TEST(models_of_the_tests, are_loaded_and_run) {
  for (const kgtest::own_model& own : kgtest::own_models()) {
    const kg::graph::model m = kg::graph::load(std::string(KG_OWN_MODELS) + "/" + own.name + ".json");
    const tensor y = m({{"input", own.example}});
    EXPECT_TRUE(kgtest::same(y, own.f(own.example))) << own.name;
  }
}

}  // namespace
