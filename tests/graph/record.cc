// SPDX-License-Identifier: Apache-2.0
// Functions recorded as graphs, replayed, saved and loaded again: bitwise identical results as the function's own.
#include <cstdlib>
#include <filesystem>

#include "own_models.h"

namespace {

using kg::tensor;
using kgtest::own_model;

TEST(recorded_models, give_the_bits_of_their_functions) {
  for (const own_model& own : kgtest::own_models()) {
    const kg::graph::model m = own.recorded();
    const tensor replayed = m({{"input", own.example}});
    EXPECT_TRUE(kgtest::same(replayed, own.f(own.example))) << own.name;
  }
}

TEST(recorded_models, are_saved_and_loaded_with_the_same_bits) {
  const kgtest::folder here;
  for (const own_model& own : kgtest::own_models()) {
    kg::graph::save(here / own.name + ".json", own.recorded());
    const tensor loaded = kg::graph::load(here / own.name + ".json")({{"input", own.example}});
    EXPECT_TRUE(kgtest::same(loaded, own.f(own.example))) << own.name;
  }
}

// KERNGRAD_WRITE_MODELS=1 writes the files again if the library's exporter changes.
TEST(recorded_models, are_the_files_of_the_tests) {
  const kgtest::folder here;
  const std::string kept = KG_OWN_MODELS;
  for (const own_model& own : kgtest::own_models()) {
    const std::string to = std::getenv("KERNGRAD_WRITE_MODELS") ? kept + "/" : here / "";
    kg::graph::save(to + own.name + ".json", own.recorded());
    for (const std::string& file : {own.name + ".json", kgtest::parts_of(to + own.name + ".json")[0]})
      EXPECT_EQ(kgtest::contents(to + file), kgtest::contents(kept + "/" + file)) << file;
  }
}

TEST(recorded_models, take_other_batches_where_they_may) {
  const own_model own = kgtest::dense_model();
  const tensor x = kgtest::hashed({7, 6}, 99), y = own.recorded()({{"input", x}});
  EXPECT_TRUE(kgtest::same(y, own.f(x)));
  const kg::graph::model fixed = kg::graph::record(own.f, own.example);
  EXPECT_TRUE(kgtest::says(kgtest::refusal([&] { return fixed({{"input", x}}); }), {"input", "[7, 6]", "[2, 6]"}));
}

TEST(recorded_models, have_the_names_of_variables) {
  std::vector<std::string> names;
  for (const kg::variable& v : kgtest::dense_model().recorded().variables()) names.push_back(v.name());
  EXPECT_EQ(names, (std::vector<std::string>{"w1", "b1", "w2"}));
}

TEST(recorded_models, are_saved_with_the_values_of_now) {
  const kgtest::folder here;
  const own_model own = kgtest::dense_model();
  const kg::graph::model m = own.recorded();
  m.variables()[2].assign(kg::zeros({8, 3}));
  kg::graph::save(here / "m.json", m);
  const tensor y = kg::graph::load(here / "m.json")({{"input", own.example}});
  for (const double p : y.to_doubles()) EXPECT_NEAR(p, 1.0 / 3, 1e-6);
}

TEST(recorded_models, take_and_give_several_tensors) {
  const auto f = [](std::span<const tensor> x) { return std::vector{x[0] + x[1], x[1], kg::reshape(x[0], {3, 1})}; };
  const kg::named_operand examples[] = {{"a", tensor({1.f, 2.f, 3.f})}, {"b", tensor({4.f, 5.f, 6.f})}};
  const kg::graph::model m = kg::graph::record(f, examples, {.outputs = {"sum", "same", "column"}});
  const kg::graph::results y = m(examples);
  EXPECT_TRUE(kgtest::same(y.at("sum"), tensor({5.f, 7.f, 9.f})));
  EXPECT_TRUE(kgtest::same(y.at("same"), tensor({4.f, 5.f, 6.f})));
  EXPECT_TRUE(kgtest::same(y.at("column"), tensor({1.f, 2.f, 3.f}, {3, 1})));
}

TEST(recordings, leave_no_backend_behind) {
  const std::size_t before = kg::backends().size();
  static_cast<void>(kgtest::dense_model().recorded());
  EXPECT_THROW(static_cast<void>(
                   kg::graph::record([](const tensor&) -> tensor { throw std::runtime_error("f"); }, tensor({1.f}))),
               std::runtime_error);
  EXPECT_EQ(kg::backends().size(), before);
}

TEST(recordings, refuse_what_no_graph_says) {
  const auto said = [](std::function<tensor(const tensor&)> f) {
    return kgtest::refusal([&] { return kg::graph::record(f, kg::zeros({2, 3})); });
  };
  EXPECT_TRUE(
      kgtest::says(said([own = kg::zeros({2})](const tensor&) { return own; }), {"[record]", "did not compute"}));
  EXPECT_TRUE(kgtest::says(said([](const tensor& x) { return kg::relu(x(0)); }), {"[record]", "part of a tensor"}));
  const kg::registration own = kg::scoped_kernel(
      {.name = "Twofold", .run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x") * 2}; }});
  EXPECT_TRUE(kgtest::says(said([](const tensor& x) { return kg::run_kernel("Twofold", {{"x", x}}); }),
                           {"[record]", "Twofold"}));
  // The graph's op floors another quotient of floats.
  EXPECT_TRUE(kgtest::says(said([](const tensor& x) { return kg::floor_div(x, x + 1); }),
                           {"[record]", "FloorDiv", "floor(a / b)"}));
}

}  // namespace
