// SPDX-License-Identifier: Apache-2.0
// Model files that are not what they seem: one mistake each, and valid ones with bytes changed. Each is loaded and run,
// or rejected in one sentence, within the limits, and leaves nothing behind.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "own_models.h"
#include "small_runs.h"

namespace {

using nlohmann::json;

// A new file each time: a file system may put what replaces the contents of an old one on the disk at once.
void write(const std::string& path, std::string_view bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

// A valid model with a weight of two elements, changed and loaded.
std::string said_of(const std::function<void(json&)>& change,
                    std::string_view weights = std::string_view("\0\0\0\0\0\0\0\0", 8),
                    const kg::graph::load_options& how = {}) {
  json m = json::parse(R"({"format": "graph-model", "modelTopology": {"node": [
      {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}},
      {"name": "w", "op": "Const", "attr": {"dtype": {"type": 1}}},
      {"name": "y", "op": "AddV2", "input": ["x", "w:0"]}], "versions": {"producer": 440}},
    "weightsManifest": [{"paths": ["w.bin"], "weights": [{"name": "w", "shape": [2], "dtype": "float32"}]}]})");
  change(m);
  const kgtest::folder here;
  write(here / "m.json", m.dump());
  write(here / "w.bin", weights);
  return kgtest::refusal([&] { return kg::graph::load(here / "m.json", how); });
}

json& node_of(json& m, int i) { return m["modelTopology"]["node"][i]; }
json& weight_of(json& m) { return m["weightsManifest"][0]["weights"][0]; }

TEST(mistakes_in_models, are_said_in_one_sentence) {
  struct mistake {
    const char* what;
    std::function<void(json&)> made;
    std::vector<std::string> words;
    std::string weights = std::string(8, '\0');
  };
  const mistake all[] = {
      {"a layers model", [](json& m) { m["format"] = "layers-model"; }, {"layers-model", "tensorflowjs_converter"}},
      {"no topology", [](json& m) { m.erase("modelTopology"); }, {"modelTopology"}},
      {"a later version", [](json& m) { m["modelTopology"]["versions"]["minConsumer"] = 1'000'000; }, {"1000000"}},
      {"a name twice", [](json& m) { node_of(m, 1)["name"] = "x"; }, {"\"x\" twice"}},
      {"no such input", [](json& m) { node_of(m, 2)["input"][0] = "z"; }, {"\"y\"", "\"z\"", "no node"}},
      {"a bad input", [](json& m) { node_of(m, 2)["input"][0] = "x:-1"; }, {"\"x:-1\""}},
      {"an input that is a number", [](json& m) { node_of(m, 2)["input"][0] = 7; }, {"\"y\"", "no text"}},
      {"a cycle", [](json& m) { node_of(m, 2)["input"][0] = "y"; }, {"\"y\"", "cycle"}},
      {"a cycle of controls", [](json& m) { node_of(m, 1)["input"] = {"^y"}; }, {"cycle"}},
      {"an unknown dtype", [](json& m) { node_of(m, 0)["attr"]["dtype"]["type"] = "DT_FOO"; }, {"DT_FOO"}},
      {"a dtype's number", [](json& m) { node_of(m, 0)["attr"]["dtype"]["type"] = 77; }, {"77"}},
      {"a text that is no base64", [](json& m) { node_of(m, 0)["attr"]["a"]["s"] = "*"; }, {"base64"}},
      {"a size", [](json& m) { node_of(m, 0)["attr"]["a"]["shape"]["dim"][0]["size"] = "-7"; }, {"-7"}},
      {"a thousand and one attributes",
       [](json& m) {
         for (int i = 0; i <= 1000; ++i) node_of(m, 2)["attr"]["a" + std::to_string(i)] = json::object();
       },
       {"\"y\"", "1001 attributes"}},
      {"two results of one name",
       [](json& m) {
         m["modelTopology"]["library"]["function"] = {
             {{"signature", {{"name", "f"}, {"outputArg", {{{"name", "r"}}, {{"name", "r"}}}}}},
              {"nodeDef", {{{"name", "n"}, {"op", "NoOp"}}}},
              {"ret", {{"r", "n"}}}}};
       },
       {"\"f\"", "\"r\"", "twice"}},
      {"a weight's dtype", [](json& m) { weight_of(m)["dtype"] = "float8"; }, {"\"w\"", "float8"}},
      {"a weight's shape", [](json& m) { weight_of(m)["shape"] = {-2}; }, {"\"w\"", "-2"}},
      {"a huge weight", [](json& m) { weight_of(m)["shape"] = {1 << 30, 1 << 20}; }, {"\"w\"", "limits"}},
      {"a weight that is not there", [](json& m) { weight_of(m)["shape"] = {3}; }, {"8 bytes", "12"}},
      {"bytes behind the weights", [](json& m) { weight_of(m)["shape"] = {1}; }, {"4 bytes", "behind"}},
      {"a weight of no node", [](json& m) { weight_of(m)["name"] = "v"; }, {"\"v\"", "no node"}},
      {"a constant without a weight", [](json& m) { m["weightsManifest"] = json::array(); }, {"\"w\"", "constant"}},
      {"a weight twice", [](json& m) { m["weightsManifest"].push_back(m["weightsManifest"][0]); }, {"twice"}},
      {"quantised without a scale", [](json& m) { weight_of(m)["quantization"] = {{"dtype", "uint8"}}; }, {"scale"}},
      {"quantised to what is not", [](json& m) { weight_of(m)["quantization"] = {{"dtype", "uint4"}}; }, {"uint4"}},
      {"a path to elsewhere", [](json& m) { m["weightsManifest"][0]["paths"][0] = "/etc/passwd"; }, {"/etc/passwd"}},
      {"a path upwards", [](json& m) { m["weightsManifest"][0]["paths"][0] = "a/../../w.bin"; }, {"folder"}},
      {"a path to nothing", [](json& m) { m["weightsManifest"][0]["paths"][0] = "v.bin"; }, {"v.bin"}},
      {"a signature of no node", [](json& m) { m["signature"]["inputs"]["x"]["name"] = "z:0"; }, {"\"z:0\""}},
      {"texts that are no UTF-8",
       [](json& m) {
         node_of(m, 1)["attr"]["value"]["tensor"] = {
             {"dtype", "DT_STRING"}, {"tensorShape", json::object()}, {"stringVal", {"/w=="}}};
       },
       {"\"value\"", "\"w\"", "no UTF-8"}},
      {"weights that are no UTF-8",
       [](json& m) { weight_of(m)["dtype"] = "string", weight_of(m)["shape"] = {1}; },
       {"\"w\"", "no UTF-8"},
       std::string("\1\0\0\0\xff", 5)},
      {"a function without a result",
       [](json& m) {
         m["modelTopology"]["library"]["function"] = {
             {{"signature", {{"name", "f"}, {"outputArg", {{{"name", "y"}}}}}}}};
       },
       {"\"f\"", "\"y\""}},
  };
  for (const mistake& one : all) {
    const std::string said = said_of(one.made, one.weights);
    EXPECT_TRUE(said.starts_with("[load] got \"")) << one.what << ": " << said;
    for (const std::string& word : one.words) EXPECT_NE(said.find(word), said.npos) << one.what << ": " << said;
  }
  EXPECT_EQ(said_of([](json&) {}), kgtest::accepted);
}

TEST(mistakes_in_models, are_held_to_the_limits) {
  EXPECT_TRUE(kgtest::says(said_of([](json&) {}, std::string(8, '\0'), {.most_nodes = 2}), {"3 nodes", "most_nodes"}));
  EXPECT_TRUE(kgtest::says(said_of([](json&) {}, std::string(8, '\0'), {.most_bytes = 7}), {"\"x\"", "most_bytes"}));
  const auto large = [](json& m) { weight_of(m)["shape"] = {1 << 20}; };
  EXPECT_TRUE(kgtest::says(said_of(large, std::string(1 << 22, '\0'), {.most_bytes = 1 << 22}),
                           {"4194304 bytes", "\"w\"", "most_bytes"}));
  const kgtest::folder here;
  write(here / "deep.json", std::string(100'000, '['));
  EXPECT_TRUE(kgtest::says(kgtest::refusal([&] { return kg::graph::load(here / "deep.json"); }), {"nests"}));
  write(here / "twice.json", R"({"format": "graph-model", "format": "layers-model"})");
  EXPECT_TRUE(kgtest::says(kgtest::refusal([&] { return kg::graph::load(here / "twice.json"); }), {"twice"}));
}

// ------------------------------------------------------------------------------------------ mutations

struct sample {
  std::string text, weights, part;  // the last is the name of the weights' file
};

std::vector<sample> valid_models() {
  const kgtest::folder here;
  std::vector<sample> all;
  for (const kgtest::own_model& own : kgtest::own_models()) {
    kg::graph::save(here / "m.json", own.recorded(), {.half_weights = own.name == "dense"});
    const std::string part = kgtest::parts_of(here / "m.json")[0];
    all.push_back({kgtest::contents(here / "m.json"), kgtest::contents(here / part), part});
  }
  return all;
}

class mutator {
 public:
  mutator(const std::vector<sample>& all, std::uint64_t seed) : all_(all), random_(seed) {}
  sample next() {
    sample made = all_[random_.below(all_.size())];
    for (std::uint64_t changes = 1 + random_.below(3); changes > 0; --changes)
      random_.below(16) ? change(made.text) : made.weights.resize(random_.below(made.weights.size() + 1));
    return made;
  }

 private:
  void change(std::string& text) {
    static const std::string words[] = {"4611686018427387904",
                                        "-1",
                                        "{",
                                        "[",
                                        "}",
                                        "]",
                                        ",",
                                        "\"",
                                        "null",
                                        "1e999",
                                        ":0",
                                        "^",
                                        "DT_STRING",
                                        "\"list\"",
                                        "NextIteration",
                                        "..",
                                        "string",
                                        "uint16",
                                        "true"};
    const std::size_t at = random_.below(text.size() + 1), other = random_.below(text.size() + 1);
    const std::string& word = words[random_.below(std::size(words))];
    switch (random_.below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random_.bits());
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random_.below(8)));
        break;
      case 2: text.insert(at, word); break;
      case 3: text.replace(at, word.size(), word); break;
      case 4: text.erase(at, random_.below(32)); break;
      default: text.insert(at, text.substr(other, random_.below(64)));
    }
  }

  const std::vector<sample>& all_;
  kg::testkit::stream random_;
};

std::string complaint_of(const std::string& path) {
  try {
    return kgtest::complaint_of_runs(
        kg::graph::load(path, {.most_nodes = 1000, .most_bytes = 1 << 20, .most_iterations = 1000}));
  } catch (const kg::error& e) {
    const std::string said = e.what();
    if (!said.starts_with("[load] got \"")) return "another sentence: " + said;
    if (said.size() > 800) return "a long sentence: " + said;
    for (const char c : said)
      if (c < ' ' || c > '~') return "not one line of text: " + said;
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "";
}

// Ten thousand, or as many as the environment asks for. A million take a quarter of an hour, longer than `meson test`
// waits: KERNGRAD_MUTATIONS=1000000 build/tests/graph/test_graph_files --gtest_filter='mutations*'.
std::int64_t wanted_mutations() {
  const char* const text = std::getenv("KERNGRAD_MUTATIONS");
  return text ? std::atoll(text) : 10'000;
}

TEST(mutations_of_models, are_run_or_refused_in_one_sentence) {
  const kgtest::memory_limit_scope limit(std::int64_t{64} << 20);
  const std::vector<sample> all = valid_models();
  const kgtest::folder here;
  const std::int64_t before = kg::memory().live_tensors, count = wanted_mutations();
  ASSERT_GT(count, 0) << "KERNGRAD_MUTATIONS is a number of mutations";
  mutator next(all, 20240229);
  for (std::int64_t i = 0; i < count; ++i) {
    const sample made = next.next();
    write(here / "m.json", made.text);
    write(here / made.part, made.weights);
    const std::string complaint = complaint_of(here / "m.json");
    if (complaint.empty()) continue;
    ADD_FAILURE() << "mutation " << i << ": " << complaint;
    break;
  }
  EXPECT_EQ(kg::memory().live_tensors, before);
}

}  // namespace
