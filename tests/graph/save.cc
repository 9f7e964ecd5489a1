// SPDX-License-Identifier: Apache-2.0
// Models written: several shards, halves, and what was loaded saved again with bitwise identical results.
#include <nlohmann/json.hpp>

#include "own_models.h"

namespace {

using kg::tensor;

TEST(saved_models, are_cut_into_files) {
  const kgtest::folder here;
  const kgtest::own_model own = kgtest::conv_model();
  kg::graph::save(here / "m.json", own.recorded(), {.shard_bytes = 300});
  const std::vector<std::string> paths = kgtest::parts_of(here / "m.json");
  ASSERT_GT(paths.size(), 3u);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string start = "m-" + std::to_string(i + 1) + "of" + std::to_string(paths.size()) + "-";
    EXPECT_TRUE(paths[i].starts_with(start)) << paths[i];
    EXPECT_EQ(paths[i].size(), start.size() + 16 + 4) << paths[i];
    EXPECT_LE(kgtest::contents(here / paths[i]).size(), 300u);
  }
  const tensor y = kg::graph::load(here / "m.json")({{"input", own.example}});
  EXPECT_TRUE(kgtest::same(y, own.f(own.example)));
}

TEST(saved_models, are_the_same_after_another_round) {
  const kgtest::folder here;
  for (const kgtest::own_model& own : kgtest::own_models()) {
    kg::graph::save(here / "a.json", own.recorded());
    kg::graph::save(here / "b.json", kg::graph::load(here / "a.json"));
    nlohmann::json a = nlohmann::json::parse(kgtest::contents(here / "a.json"));
    const nlohmann::json b = nlohmann::json::parse(kgtest::contents(here / "b.json"));
    const std::string a_part = kgtest::parts_of(here / "a.json")[0], b_part = kgtest::parts_of(here / "b.json")[0];
    EXPECT_EQ(a_part.substr(1), b_part.substr(1));
    a["weightsManifest"][0]["paths"][0] = b_part;
    EXPECT_TRUE(a == b) << own.name;
    EXPECT_EQ(kgtest::contents(here / a_part), kgtest::contents(here / b_part)) << own.name;
  }
}

TEST(saved_models, may_have_half_weights) {
  const kgtest::folder here;
  const kgtest::own_model own = kgtest::dense_model();
  kg::graph::save(here / "m.json", own.recorded(), {.half_weights = true});
  EXPECT_EQ(kgtest::contents(here / kgtest::parts_of(here / "m.json")[0]).size(), 2u * (6 * 8 + 8 + 8 * 3));
  const std::vector<kg::variable> loaded = kg::graph::load(here / "m.json").variables();
  ASSERT_EQ(loaded.size(), own.weights.size());
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    const tensor halved = kg::cast(kg::cast(own.weights[i].value(), kg::dtype::float16), kg::dtype::float32);
    EXPECT_TRUE(kgtest::same(loaded[i].value(), halved)) << own.weights[i].name();
  }
}

TEST(saved_models, leave_nothing_where_they_are_refused) {
  const kgtest::folder here;
  const auto doubled = [](const tensor& x) { return x * kg::tensor({2.0, 3.0}); };
  const kg::graph::model m = kg::graph::record(doubled, tensor({1.0, 2.0}));
  EXPECT_TRUE(
      kgtest::says(kgtest::refusal([&] { return kg::graph::save(here / "m.json", m), 0; }), {"[save]", "float64"}));
  EXPECT_TRUE(here.names().empty());
}

TEST(saved_models, keep_the_order_of_outputs_and_refuse_two_of_one_key) {
  const auto f = [](std::span<const tensor> x) { return std::vector{x[0] + 1, x[0] + 2}; };
  const kg::named_operand example("x", tensor({1.f}));
  const kgtest::folder here;
  kg::graph::save(here / "m.json", kg::graph::record(f, {&example, 1}, {.outputs = {"second", "first"}}));
  const kg::graph::model m = kg::graph::load(here / "m.json");
  EXPECT_EQ(m.outputs()[0].key, "second");
  EXPECT_EQ(m({{"x", tensor({1.f})}})[0].item(), 2);
  EXPECT_TRUE(
      kgtest::says(kgtest::refusal([&] { return kg::graph::record(f, {&example, 1}, {.outputs = {"y", "y"}}); }),
                   {"[record] got the key y of two results"}));
}

}  // namespace
