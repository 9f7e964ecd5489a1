// SPDX-License-Identifier: Apache-2.0
// Graph models that run out of memory while they are loaded, planned, run, differentiated, recorded and saved.
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/graph/loops.h"
#include "tests/graph/own_models.h"
#include "tests/support/failing_memory.h"
#include "tests/support/full.h"

namespace {

using namespace kgtest;
using kg::tensor;
using kg::graph::model;
using kg::graph::results;

// Forcing files to the disk takes no time where there is none.
[[maybe_unused]] const bool in_memory =
    std::filesystem::is_directory("/dev/shm") && ::setenv("TMPDIR", "/dev/shm", 1) == 0;

std::string nothing() { return {}; }

std::string text_of(const results& all) {
  std::string text;
  for (const tensor& y : all) text += to_string(y) + "\n";
  return text;
}

// A model, and inputs of a call.
struct run_case {
  std::string name;
  model of;
  std::vector<kg::named_operand> inputs;
  std::vector<std::string> wanted;
};

std::vector<run_case> run_cases() {
  const json floats{{"element_dtype", type("DT_FLOAT")}};
  const tensor rows({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});
  const json more = function_of("more", {{"v", "DT_FLOAT"}}, {{"r", "t:y:0"}}, {node_of("t", "Square", {"v"})}),
             less = function_of("less", {{"v", "DT_FLOAT"}}, {{"r", "t:y:0"}}, {node_of("t", "Neg", {"v"})});
  std::vector<json> loop = counting();
  loop.push_back(node_of("y", "AddV2", {"i_exit", "one"}));
  return {
      {"a layer and element-wise steps",
       model_with({input_of("x"), node_of("product", "MatMul", {"x", "w"}), node_of("sum", "BiasAdd", {"product", "b"}),
                   node_of("tanh", "Tanh", {"sum"}), node_of("y", "Mul", {"tanh", "sum"})},
                  {{"w", tensor({1.f, 2.f, 3.f, 4.f}, {2, 2})}, {"b", tensor({1.f, -1.f})}}),
       {{"x", rows}},
       {"y"}},
      {"a loop", model_with(loop), {{"n", tensor(4)}}, {"y"}},
      {"a branch",
       model_with({input_of("p", "DT_BOOL"), input_of("x"),
                   node_of("y", "If", {"p", "x"}, {{"then_branch", calls("more")}, {"else_branch", calls("less")}})},
                  {}, {more, less}),
       {{"p", tensor(true)}, {"x", rows}},
       {"y"}},
      {"a list",
       model_with({input_of("rows"), whole_of("any", -1), whole_of("1", 1),
                   node_of("list", "TensorListFromTensor", {"rows", "any"}, floats),
                   node_of("item", "TensorListGetItem", {"list", "1", "any"}, floats),
                   node_of("set", "TensorListSetItem", {"list", "1", "item"}, floats),
                   node_of("y", "TensorListStack", {"set", "any"}, floats)}),
       {{"rows", rows}},
       {"y"}},
  };
}

TEST(first_use, of_a_model_may_run_out_of_memory) {
  const run_case one = run_cases()[0];
  sweep_first_use(one.name, [&] { one.of(one.inputs, one.wanted); }, full() ? 1 : 7);
}

TEST(out_of_memory, ends_runs_of_models_without_a_trace) {
  const folder here;
  for (const run_case& one : run_cases()) {
    const std::string path = here / "m.json", wanted = text_of(one.of(one.inputs, one.wanted));
    kg::graph::save(path, one.of);
    model fresh;
    sweep({.name = "planning " + one.name,
           .run = [&] { fresh(one.inputs, one.wanted); },
           .prepare = [&] { fresh = kg::graph::load(path); },
           .undo =
               [&] {
                 EXPECT_EQ(text_of(fresh(one.inputs, one.wanted)), wanted) << one.name;
                 fresh = {};
               },
           .state = nothing});
    sweep({.name = "running " + one.name,
           .run = [&] { one.of(one.inputs, one.wanted); },
           .state = [&] { return text_of(one.of(one.inputs, one.wanted)); }});
    sweep({.name = "a plan as text of " + one.name,
           .run = [&] { one.of.planned(one.inputs, one.wanted).to_dot(); },
           .state = nothing});
    sweep({.name = "nodes of " + one.name, .run = [&] { one.of.nodes(), one.of.needs(); }, .state = nothing});
  }
}

TEST(out_of_memory, ends_gradients_and_profiles_of_models_without_a_trace) {
  const folder here;
  const own_model own = dense_model();
  const std::string path = here / "m.json";
  kg::graph::save(path, own.recorded());
  const std::string wanted = text_of(kg::graph::load(path)({{"input", own.example}}));
  const std::vector<kg::named_operand> inputs{{"input", own.example}};
  model m;
  std::vector<kg::variable> weights;
  const auto one = [&](const std::string& name, const std::function<void()>& run) {
    sweep({.name = name,
           .run = run,
           .prepare = [&] { m = kg::graph::load(path); },
           .undo =
               [&] {
                 EXPECT_EQ(text_of(m(inputs)), wanted) << name;
                 weights.clear(), m = {};
               },
           .state = nothing});
  };
  one("a profile", [&] { m.profile(inputs); });
  one("variables", [&] { weights = m.variables(); });
  one("a gradient by an input",
      [&] { kg::grad([&](const tensor& x) { return kg::sum(m({{"input", x}})[0]); })(own.example); });
  one("gradients by variables", [&] {
    weights = m.variables();
    kg::variable_grads([&] { return kg::sum(m(inputs)[0]); }, weights);
  });
}

TEST(out_of_memory, ends_a_recording_without_a_trace) {
  const own_model own = dense_model();
  sweep({.name = "recording", .run = [&] { own.recorded(); }, .stride = full() ? 1 : 61});
}

TEST(out_of_memory, ends_loads_and_saves_of_models_without_a_trace) {
  const folder here;
  const std::string path = here / "m.json";
  const model m = dense_model().recorded();
  kg::graph::save(path, m);
  sweep({.name = "loading", .run = [&] { kg::graph::load(path); }, .state = [&] { return files_in(here); }});
  sweep({.name = "saving", .run = [&] { kg::graph::save(path, m); }, .state = nothing});
}

TEST(out_of_memory, leaves_models_in_files_old_or_new) {
  const folder here;
  const std::string path = here / "m.json";
  const model old = conv_model().recorded(), fresh = dense_model().recorded();
  sweep({.name = "saving over another model",
         .run = [&] { kg::graph::save(path, fresh); },
         .prepare = [&] { kg::graph::save(path, old); },
         .state = [&] { return files_in(here); }});
}

}  // namespace
