// SPDX-License-Identifier: Apache-2.0
// Large model files: the time to load them grows as their size, and their JSON is held to the memory limit.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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
    inner += comma + R"({"name":"i)" + n + R"(","op":"Placeholder"})";
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
  EXPECT_LE(kgtest::growth(load, size, kgtest::linear), kgtest::linear);
}

// Pieces of 16 letters, two for each place, with which std::hash of libstdc++ (MurmurHash64A) goes from one state to
// the same state. Names that take either at each place have one hash.
std::vector<std::array<std::string, 2>> colliding_pieces(std::size_t places) {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995u, inverse = 0x5f7a0ea7e59b19bdu;
  static_assert(factor * inverse == 1);
  const auto fold = [](std::uint64_t v) { return v ^ v >> 47; };
  const auto mixed = [&](std::uint64_t word) { return fold(word * factor) * factor; };
  const auto unmixed = [&](std::uint64_t word) { return fold(word * inverse) * inverse; };
  const auto is_text = [](std::uint64_t word) {
    for (int i = 0; i < 8; ++i, word >>= 8)
      if (const char c = static_cast<char>(word & 255); c <= '"' || c > '~' || c == ':' || c == '^' || c == '\\')
        return false;
    return true;
  };
  kg::testkit::stream random(7);
  const auto letters = [&] {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8 | ('a' + random.below(26));
    return word;
  };
  std::uint64_t state = 0xc70f6907u ^ 16 * places * factor;
  std::vector<std::array<std::string, 2>> all;
  while (all.size() < places) {
    const std::uint64_t a = letters(), b = letters(), c = letters();
    const std::uint64_t after_a = (state ^ mixed(a)) * factor, after_c = (state ^ mixed(c)) * factor;
    const std::uint64_t d = unmixed(after_a ^ mixed(b) ^ after_c);
    if (a == c || !is_text(d)) continue;
    all.push_back({kgtest::little(a) + kgtest::little(b), kgtest::little(c) + kgtest::little(d)});
    state = (after_a ^ mixed(b)) * factor;
  }
  return all;
}

TEST(large_models, whose_names_have_one_hash_take_no_longer_than_others) {
  constexpr std::size_t places = 13;
  const std::vector<std::array<std::string, 2>> pieces = colliding_pieces(places);
  const kgtest::folder here;
  std::vector<std::size_t> hashes;
  for (const bool alike : {false, true}) {
    std::ofstream to(here / (alike ? "alike.json" : "others.json"));
    to << R"({"modelTopology":{"node":[)";
    for (std::size_t i = 0; i < 1 << places; ++i) {
      std::string name;
      for (std::size_t at = 0; at < places; ++at) name += pieces[at][alike || at > 0 ? i >> at & 1 : 0];
      if (!alike) name = std::to_string(100'000 + i) + name.substr(6);
      else hashes.push_back(std::hash<std::string_view>()(name));
      to << (i > 0 ? "," : "") << R"({"name":")" << name << R"(","op":"NoOp"})";
    }
    to << "]}}";
  }
  std::ranges::sort(hashes);
  if (hashes.front() != hashes.back()) GTEST_SKIP() << "another standard library's hash";
  double seconds[2] = {1e9, 1e9};
  for (int turn = 0; turn < 20 && (turn < 2 || seconds[1] > 5 * seconds[0]); ++turn)
    for (const bool alike : {false, true}) {
      const double begin = kgtest::thread_seconds();
      static_cast<void>(kg::graph::load(here / (alike ? "alike.json" : "others.json")));
      seconds[alike] = std::min(seconds[alike], kgtest::thread_seconds() - begin);
    }
  EXPECT_LE(seconds[1], 5 * seconds[0]);
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
