// SPDX-License-Identifier: Apache-2.0
// Large model files: the time to load them grows as their size, and their JSON is held to the memory limit.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/io/files.h"
#include "tests/support/growth.h"
#include "tests/support/under_asan.h"

import kerngrad.graph;

namespace {

constexpr int size = KG_UNDER_ASAN ? 2'000 : 16'000;  // the sanitizer is slow

// A model of that many nodes, half of them constants with a weight each, and a function with as many results.
void write_model(const std::string& path, int nodes) {
  std::ofstream to(path);
  std::string weights, results, returned, inner;
  to << R"({"format":"graph-model","modelTopology":{"node":[{"name":"x","op":"Placeholder",)"
     << R"("attr":{"dtype":{"type":"DT_FLOAT"}}})";
  for (int i = 0; i < nodes / 2; ++i) {
    const std::string n = std::to_string(i), comma = i > 0 ? "," : "";
    to << R"(,{"name":"w)" << n << R"(","op":"Const","attr":{"dtype":{"type":1}}})"
       << R"(,{"name":"y)" << n << R"(","op":"AddV2","input":[")" << (i > 0 ? "y" + std::to_string(i - 1) : "x")
       << R"(","w)" << n << R"("],"attr":{"T":{"type":"DT_FLOAT"}}})";
    weights += comma + R"({"name":"w)" + n + R"(","shape":[0],"dtype":"float32"})";
    inner += comma + R"({"name":"i)" + n + R"(","op":"NoOp"})";
    results += comma + R"({"name":"r)" + n + R"(","type":1})";
    returned += comma + R"("r)" + n + R"(":"i)" + n + R"(:output:0")";
  }
  to << R"(],"library":{"function":[{"signature":{"name":"f","outputArg":[)" << results << R"(]},"nodeDef":[)" << inner
     << R"(],"ret":{)" << returned << R"(}}]},"versions":{"producer":440}},"weightsManifest":[{"paths":[],"weights":[)"
     << weights << "]}]}";
}

TEST(large_models, take_twice_the_time_for_twice_the_nodes) {
  const kgtest::folder here;
  for (const int nodes : {size, 2 * size}) write_model(here / (std::to_string(nodes) + ".json"), nodes);
  const auto load = [&](int nodes) {
    EXPECT_EQ(kg::graph::load(here / (std::to_string(nodes) + ".json")).nodes().size(),
              static_cast<std::size_t>(nodes) + 1);
  };
  EXPECT_LE(kgtest::growth(load, size, 2.3), 2.3);
}

TEST(large_models, whose_nodes_pass_the_memory_limit_are_refused_in_one_sentence) {
  const kgtest::folder here;
  std::string text = R"({"modelTopology":{"node":[{"name":"x","op":"Placeholder","attr":{)";
  for (int i = 0; i < 900; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":{}";
  std::ofstream(here / "m.json") << text << "}}]}}";
  kg::set_memory_limit(kg::memory().live_bytes + 100'000);
  const std::string said = kgtest::refusal([&] { return kg::graph::load(here / "m.json"); });
  kg::set_memory_limit(kg::unlimited);
  EXPECT_TRUE(kgtest::says(said, {"[load] got \"", "m.json\", which needs ", " bytes for its nodes", "memory limit"}))
      << said;
}

TEST(large_models, whose_signature_has_too_many_ports_are_refused) {
  const kgtest::folder here;
  std::string text = R"({"modelTopology":{"node":[{"name":"x","op":"Placeholder"}]},"signature":{"inputs":{)";
  for (int i = 0; i <= 1 << 16; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + R"(":{"name":"x"})";
  std::ofstream(here / "m.json") << text << "}}}";
  EXPECT_TRUE(
      kgtest::says(kgtest::refusal([&] { return kg::graph::load(here / "m.json"); }), {"65537 inputs or outputs"}));
}

TEST(large_models, whose_text_passes_the_memory_limit_are_refused_in_one_sentence) {
  const kgtest::folder here;
  write_model(here / "m.json", 2000);
  const kg::graph::model m = kg::graph::load(here / "m.json");
  kg::set_memory_limit(kg::memory().live_bytes + 50'000);
  const std::string read = kgtest::refusal([&] { return kg::graph::load(here / "m.json"); });
  const std::string written = kgtest::refusal([&] { return kg::graph::save(here / "n.json", m), 0; });
  kg::set_memory_limit(kg::unlimited);
  EXPECT_TRUE(kgtest::says(read, {"[load] got \"", "m.json\", which needs ", " for its JSON", "memory limit"})) << read;
  EXPECT_TRUE(kgtest::says(written, {"n.json\", which would have ", " bytes of JSON", "memory limit"})) << written;
  EXPECT_FALSE(std::filesystem::exists(here / "n.json"));
  kg::graph::save(here / "n.json", m);
  EXPECT_EQ(kg::graph::load(here / "n.json").nodes(), m.nodes());
}

}  // namespace
