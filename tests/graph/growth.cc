// SPDX-License-Identifier: Apache-2.0
// Planning takes time in proportion to the graph, whatever it consists of. Twice the graph takes twice the time; where
// something is looked for again for each node it takes four times as long.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <limits>

#include "tests/graph/graph_text.h"
#include "tests/graph/one_op.h"

namespace {

using namespace kgtest;
using kg::graph::model;

// A graph, what it is called with and what is wanted.
struct question {
  graph_text graph{};
  std::vector<kg::named_operand> inputs{};
  std::vector<std::string> wanted{};
  std::string weights{};  // entries of the manifest, of one float each
};

constexpr const char* whole_type = R"("dtype":{"type":"DT_INT32"})";

question chain(int n) {
  question q{.inputs = {{"y0", kg::tensor({1.f})}}};
  q.graph.node("y0", "Placeholder");
  for (int i = 0; i < n; ++i) q.graph.node(numbered("y", i + 1), "Neg", {numbered("y", i)});
  return q;
}

question fan(int n) {
  question q{.inputs = {{"x", kg::tensor({1.f})}}};
  q.graph.node("x", "Placeholder");
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) {
    all.push_back(numbered("n", i));
    q.graph.node(all.back(), "Neg", {"x"});
  }
  q.graph.node("y", "AddN", all);
  return q;
}

question constants(int n) {
  question q{.inputs = {{"x", kg::tensor(1)}}};
  q.graph.node("x", "Placeholder", {}, whole_type);
  std::vector<std::string> all{"x"};
  for (int i = 0; i < n; ++i) {
    q.graph.whole(numbered("c", i), i);
    q.graph.node(numbered("n", i), "Neg", {numbered("c", i)});
    all.push_back(numbered("n", i));
  }
  q.graph.node("y", "AddN", all);
  return q;
}

question outputs_of_a_node(int n) {
  question q{.inputs = {{"x", kg::ones({n})}}};
  q.graph.node("x", "Placeholder");
  q.graph.node("a", "Unpack", {"x"});
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) all.push_back(i == 0 ? "a" : numbered("a:", i));
  q.graph.node("y", "AddN", all);
  return q;
}

question inputs(int n) {
  question q;
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) {
    all.push_back(numbered("x", i));
    q.graph.node(all.back(), "Placeholder");
    q.inputs.emplace_back(all.back(), kg::tensor({1.f}));
  }
  q.graph.node("y", "AddN", all);
  return q;
}

std::string frame(const std::string& loop) { return R"("frame_name":{"s":")" + base64(loop) + "\"}"; }

// A loop variable as TensorFlow's while_loop makes it: NAME_now in the body, NAME_exit behind the loop.
void add_variable(graph_text& graph, const std::string& name, const std::string& first, const std::string& next,
                  const std::string& loop) {
  graph.node(name + "_enter", "Enter", {first}, frame(loop));
  graph.node(name, "Merge", {name + "_enter", name + "_next"});
  graph.node(name + "_switch", "Switch", {name, loop + "_goes_on"});
  graph.node(name + "_now", "Identity", {name + "_switch:1"});
  graph.node(name + "_next", "NextIteration", {next});
  graph.node(name + "_exit", "Exit", {name + "_switch"});
}

// A loop that counts to `one`, under a name of its own.
void add_loop(graph_text& graph, int i, const std::string& first, const std::string& step, bool reads_root = false) {
  const std::string loop = numbered("loop", i), k = numbered("k", i);
  graph.node(k + "_last", "Enter", {"one"}, frame(loop));
  graph.node(k + "_less", "Less", {k, k + "_last"});
  graph.node(loop + "_goes_on", "LoopCond", {k + "_less"});
  if (!reads_root) graph.node(k + "_step", "Enter", {step}, frame(loop));
  graph.node(k + "_more", "AddV2", {k + "_now", reads_root ? step : k + "_step"});
  add_variable(graph, k, first, k + "_more", loop);
}

question loops(int n) {
  question q{.inputs = {{"x", kg::tensor(0)}}};
  q.graph.node("x", "Placeholder", {}, whole_type);
  q.graph.whole("one", 1);
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) add_loop(q.graph, i, "x", "one"), all.push_back(numbered("k", i) + "_exit");
  q.graph.node("y", "AddN", all);
  return q;
}

question loops_behind_each_other(int n) {
  question q{.inputs = {{"x", kg::tensor(0)}}, .wanted = {numbered("k", n - 1) + "_exit"}};
  q.graph.node("x", "Placeholder", {}, whole_type);
  q.graph.whole("one", 1);
  for (int i = 0; i < n; ++i) add_loop(q.graph, i, i == 0 ? "x" : numbered("k", i - 1) + "_exit", "one");
  return q;
}

question variables_of_a_loop(int n) {
  question q{.inputs = {{"x", kg::tensor(0)}}, .wanted = {"y"}};
  q.graph.node("x", "Placeholder", {}, whole_type);
  q.graph.whole("one", 1);
  add_loop(q.graph, 0, "x", "one");
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) {
    const std::string v = numbered("v", i);
    q.graph.node(v + "_more", "AddV2", {v + "_now", "k0_step"});
    add_variable(q.graph, v, "x", v + "_more", "loop0");
    all.push_back(v + "_exit");
  }
  q.graph.node("y", "AddN", all);
  return q;
}

// Each reads one of the inputs without an Enter.
question loops_that_read_inputs(int n) {
  question q{.inputs = {{"x", kg::tensor(0)}}, .wanted = {"y"}};
  q.graph.node("x", "Placeholder", {}, whole_type);
  q.graph.whole("one", 1);
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) {
    const std::string w = numbered("w", i);
    q.graph.node(w, "Placeholder", {}, whole_type);
    q.inputs.emplace_back(w, kg::tensor(1));
    add_loop(q.graph, i, "x", w, true);
    all.push_back(numbered("k", i) + "_exit");
  }
  q.graph.node("y", "AddN", all);
  return q;
}

question functions(int n) {
  question q{.inputs = {{"y0", kg::tensor({1.f})}}};
  q.graph.node("y0", "Placeholder");
  graph_text body;
  body.node("n", "Neg", {"x"});
  for (int i = 0; i < n; ++i) {
    q.graph.function(numbered("f", i), body, "n:y:0");
    q.graph.call(numbered("y", i + 1), numbered("f", i), numbered("y", i));
  }
  return q;
}

question weights(int n) {
  question q{.inputs = {{"x", kg::tensor({1.f})}}, .wanted = {"y"}};
  q.graph.node("x", "Placeholder");
  std::vector<std::string> all{"x"};
  for (int i = 0; i < n; ++i) {
    all.push_back(numbered("w", i));
    q.graph.node(all.back(), "Const", {}, R"("dtype":{"type":"DT_FLOAT"})");
    q.weights += (i ? "," : "") + (R"({"name":")" + all.back() + R"(","shape":[1],"dtype":"float32"})");
  }
  q.graph.node("y", "AddN", all);
  return q;
}

double seconds_of(const std::function<void()>& work) {
  const std::clock_t before = std::clock();
  work();
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

// The first call plans.
double seconds_of_first_call(question (*make)(int), int n) {
  const question q = make(n);
  const folder here;
  const bool has_weights = !q.weights.empty();
  if (has_weights)
    std::ofstream(here / "weights.bin") << std::string(static_cast<std::size_t>(n) * sizeof(float), '\0');
  const model m = kg::graph::load(q.graph.write(here, q.weights));
  if (has_weights) static_cast<void>(m.variables());
  return seconds_of([&] { static_cast<void>(m(q.inputs, q.wanted)); });
}

// About 2 to 2.3 on an idle machine. A quadratic part gives nearly 4; what lies between is noise of other processes, so
// the least of several tries counts.
void expect_linear(const char* what, const std::function<double(int)>& seconds, int n) {
  double least = std::numeric_limits<double>::infinity();
  for (int tries = 0; tries < 5 && least > 2.5; ++tries) {
    double once = seconds(n), twice = seconds(2 * n);
    least = std::min(least, twice / once);
    if (std::getenv("KERNGRAD_SHOW")) std::cout << what << ": " << once << " s, " << twice << " s\n";
  }
  EXPECT_LT(least, 2.8) << what;
}

TEST(planning, takes_time_in_proportion_to_the_graph) {
  struct kind {
    const char* what;
    question (*make)(int);
    int n;
  };
  const kind all[] = {{"a chain", chain, 10'000},
                      {"a fan", fan, 10'000},
                      {"constants", constants, 5'000},
                      {"outputs of a node", outputs_of_a_node, 10'000},
                      {"inputs", inputs, 10'000},
                      {"loops", loops, 1'000},
                      {"loops behind each other", loops_behind_each_other, 1'000},
                      {"variables of a loop", variables_of_a_loop, 2'000},
                      {"loops that read inputs", loops_that_read_inputs, 1'000},
                      {"functions", functions, 5'000},
                      {"weights", weights, 5'000}};
  for (const kind& one : all) expect_linear(one.what, [&](int n) { return seconds_of_first_call(one.make, n); }, one.n);
}

TEST(needs, takes_time_in_proportion_to_the_graph) {
  const auto seconds = [](int n) {
    graph_text graph;
    graph.node("x", "Placeholder");
    for (int i = 0; i < n; ++i) graph.node(numbered("y", i), numbered("MyOp", i), {"x"});
    const folder here;
    const model m = kg::graph::load(graph.write(here));
    return seconds_of([&] { EXPECT_EQ(m.needs().size(), static_cast<std::size_t>(n) + 1); });
  };
  expect_linear("needs", seconds, 10'000);
}

}  // namespace
