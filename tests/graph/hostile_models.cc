// SPDX-License-Identifier: Apache-2.0
// Small models that ask for too much: every file of tests/graph/hostile and larger ones that are made here. Each is
// loaded and run in a process of its own, which may have 4 GiB of address space, and ends with an error in time.
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <set>

#include "tests/graph/graph_text.h"
#include "tests/graph/loops.h"
#include "tests/support/under_asan.h"

namespace {

using namespace kgtest;
using kg::graph::model;

// The processor's time, which other processes do not change; and for what waits.
constexpr rlim_t most_seconds = KG_UNDER_ASAN ? 60 : 5;
constexpr int patience_ms = 60'000 * (KG_UNDER_ASAN ? 5 : 1);
// Loops that never end are ended by a stop_scope, and tensors that grow in one by a budget; nothing else may need them.
constexpr std::chrono::milliseconds before_stop(300);
constexpr std::int64_t budget_bytes = std::int64_t{256} << 20;
// In place of RLIMIT_AS, which the sanitizer's own memory passes.
constexpr std::int64_t asan_bytes = std::int64_t{1} << 30;

bool is_endless(std::string_view name) { return name.starts_with("endless_"); }
bool is_unbounded(std::string_view name) { return name.starts_with("unbounded_"); }

kg::tensor default_input(const kg::graph::port& p) {
  std::vector<std::int64_t> dims;
  for (const std::int64_t size : p.dims) dims.push_back(size < 0 ? 1 : size);
  return kg::zeros(kg::shape(dims), p.type);
}

// Loads the model and runs it on default inputs: what the error says, or `accepted`.
std::string outcome_of(const std::string& path, std::string_view name, const kg::graph::load_options& how) {
  try {
    const model m = kg::graph::load(path, how);
    std::vector<kg::named_operand> inputs;
    for (const kg::graph::port& p : m.inputs()) inputs.emplace_back(p.key, default_input(p));
    std::optional<kg::stop_scope> stop;
    std::optional<kg::memory_budget> budget;
    if (is_endless(name)) stop.emplace(before_stop);
    if (is_unbounded(name)) budget.emplace(budget_bytes);
    else if (KG_UNDER_ASAN) budget.emplace(asan_bytes);
    static_cast<void>(m(inputs));
  } catch (const kg::stopped& e) {
    return std::string("stopped: ") + e.what();
  } catch (const kg::error& e) {
    return std::string("error: ") + e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return accepted;
}

// The outcome in a child with limits; "no answer" when it took too long or ended otherwise.
std::string outcome_in_child(const std::string& path, std::string_view name, const kg::graph::load_options& how,
                             rusage& used) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit time{most_seconds, most_seconds}, space{rlim_t{4} << 30, rlim_t{4} << 30};
    ::setrlimit(RLIMIT_CPU, &time);
    if (!KG_UNDER_ASAN) ::setrlimit(RLIMIT_AS, &space);
    const std::string said = outcome_of(path, name, how);
    static_cast<void>(!::write(ends[1], said.data(), said.size()));
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string said;
  pollfd answer{ends[0], POLLIN, 0};
  if (::poll(&answer, 1, patience_ms) > 0) {
    char text[4096];
    const ssize_t count = ::read(ends[0], text, sizeof text);
    said.assign(text, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  ::kill(child, SIGKILL);
  ::wait4(child, nullptr, 0, &used);
  ::close(ends[0]);
  return said.empty() ? "no answer" : said;
}

// With KERNGRAD_SHOW in the environment it says what each took.
void expect_error(const std::string& path, std::string_view name, const kg::graph::load_options& how = {}) {
  rusage used{};
  const std::string said = outcome_in_child(path, name, how, used);
  EXPECT_TRUE(said.starts_with(is_endless(name) ? "stopped: [model] got " : "error: [")) << name << ": " << said;
  EXPECT_LT(said.size(), 1000u) << name;
  if (!std::getenv("KERNGRAD_SHOW")) return;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  std::cout << name << ": " << seconds(used.ru_utime) + seconds(used.ru_stime) << " s, " << used.ru_maxrss / 1024
            << " MiB: " << said << "\n";
}

TEST(hostile_models, end_with_an_error) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(KG_HOSTILE)) files.insert(entry.path());
  EXPECT_GE(files.size(), 39u);
  for (const std::string& path : files) expect_error(path, std::filesystem::path(path).stem().string());
}

// ------------------------------------------------------------------------------------------ larger ones

// Each names the last of 2^20 outputs: a slot for each of them took 9 GB.
TEST(hostile_models, that_name_outputs_far_away_end_with_an_error) {
  graph_text text;
  for (int i = 0; i < 400; ++i) {
    text.node(numbered("x", i), "Placeholder", {}, R"("shape": {"shape": {"dim": [{"size": "1"}]}})");
    text.node(numbered("a", i), "Unpack", {numbered("x", i)});
    text.node(numbered("y", i), "Neg", {numbered("a", i) + ":1048575"});
  }
  const folder here;
  expect_error(text.write(here), "outputs far away");
}

// `levels` functions that each call the next one twice, and one with many nodes of which `last` is the result.
void expect_error_of_doubled(const char* name, int levels, int nodes, const std::string& last, bool chained) {
  graph_text text, body;
  text.node("x", "Placeholder", {}, R"("shape": {"shape": {"dim": [{"size": "1"}]}})");
  text.call("y", "f0", "x");
  for (int i = 0; i < levels; ++i) {
    graph_text twice;
    twice.call("a", numbered("f", i + 1), "x");
    twice.call("b", numbered("f", i + 1), "a:output:0");
    text.function(numbered("f", i), twice, "b:output:0");
  }
  for (int i = 0; i < nodes; ++i)
    body.node(numbered("n", i), "Neg", {i == 0 || !chained ? "x" : numbered("n", i - 1) + ":y:0"});
  text.function(numbered("f", levels), body, last + ":y:0");
  const folder here;
  expect_error(text.write(here), name, {.most_bytes = std::int64_t{64} << 20});
}

TEST(hostile_models, whose_functions_make_large_plans_end_with_an_error) {
  expect_error_of_doubled("large plans", 13, 1000, "n999", true);
}

TEST(hostile_models, whose_functions_are_large_and_hardly_read_end_with_an_error) {
  expect_error_of_doubled("large functions", 17, 20'000, "n0", false);
}

TEST(hostile_models, of_functions_in_each_other_end_with_an_error) {
  graph_text text;
  text.node("x", "Placeholder");
  text.call("y", "f0", "x");
  for (int i = 0; i < 2000; ++i) {
    graph_text body;
    body.call("a", numbered("f", i + 1), "x");
    text.function(numbered("f", i), body, "a:output:0");
  }
  text.function("f2000", graph_text(), "x");
  const folder here;
  expect_error(text.write(here), "functions in each other");
}

// ------------------------------------------------------------------------------------------ stops

TEST(models, are_stopped_while_they_are_loaded_planned_and_run) {
  const folder here;
  const json nodes{input_of("x"), node_of("a", "Exp", {"x"}), node_of("y", "TopKV2", {"a", "k"}), whole_of("k", 1)};
  std::ofstream(here / "model.json") << json{{"modelTopology", {{"node", nodes}}}, {"weightsManifest", json::array()}};
  const kg::tensor x({1.f, 2.f});
  const auto stops = [](const std::function<void()>& call) {
    const kg::stop_scope stop(std::chrono::seconds(0));
    try {
      call();
    } catch (const kg::stopped& e) {
      return std::string(e.what());
    }
    return accepted;
  };
  EXPECT_TRUE(stops([&] { kg::graph::load(here / "model.json"); }).starts_with("[load] got no result"));
  const model m = kg::graph::load(here / "model.json");
  EXPECT_TRUE(stops([&] { m({{"x", x}}); }).starts_with("[model] got no result")) << "planning";
  const kg::tensor y = m({{"x", x}}, {"y"})[0];
  EXPECT_TRUE(stops([&] { m({{"x", x}}, {"y"}); }).starts_with("[model] got no result")) << "running";
  EXPECT_TRUE(same(m({{"x", x}}, {"y"})[0], y));
}

// ------------------------------------------------------------------------------------------ limits

std::string hostile(std::string_view name) { return std::string(KG_HOSTILE) + "/" + std::string(name) + ".json"; }

std::string said_with(std::string_view name, const kg::graph::load_options& how) {
  return refusal([&] {
    const model m = kg::graph::load(hostile(name), how);
    return m(std::vector<kg::named_operand>{});
  });
}

TEST(load_options, bound_constants_plans_lists_and_iterations) {
  struct limit {
    const char* model;
    kg::graph::load_options how;
    std::vector<std::string_view> words;
  };
  constexpr std::int64_t megabyte = 1 << 20;
  const limit all[] = {
      {"constant_of_16_gib", {}, {"\"x\"", "17179869184 bytes", "load_options::most_bytes"}},
      {"fill_2_40", {}, {"node x", "budget of", "load_options::most_bytes"}},
      {"list_of_2_24_items", {}, {"node l", "16777216 items", "load_options::most_bytes"}},
      {"endless_while", {.most_iterations = 1000}, {"iterations", "node y", "load_options::most_iterations"}},
      {"endless_loop_of_nodes", {.most_iterations = 9}, {"iterations", "load_options::most_iterations"}},
      {"endless_while_in_an_endless_while", {.most_iterations = 1000}, {"iterations"}},
      {"concat_that_doubles_40_times", {.most_bytes = megabyte}, {"node x", "load_options::most_bytes"}},
  };
  for (const limit& one : all) {
    const std::string said = said_with(one.model, one.how);
    for (const std::string_view word : one.words) EXPECT_NE(said.find(word), said.npos) << one.model << ": " << said;
  }
}

// Reshapes of a constant take no memory.
TEST(load_options, do_not_count_views_of_constants) {
  graph_text text;
  text.node(
      "x0", "Const", {},
      R"("dtype":{"type":"DT_FLOAT"},"value":{"tensor":{"dtype":"DT_FLOAT","tensorShape":{"dim":[{"size":"100000"}]},)"
      R"("floatVal":[1]}})");
  text.whole("axis", 0);
  for (int i = 0; i < 6; ++i) text.node(numbered("x", i + 1), "ExpandDims", {numbered("x", i), "axis"});
  const folder here;
  const model m = kg::graph::load(text.write(here), {.most_bytes = 500'000});
  EXPECT_EQ(kg::tensor(m(std::vector<kg::named_operand>{})).size(), 100'000);
}

// A list has 256 bytes for each item, under the memory limit while it lives.
TEST(items_of_lists, count_under_the_memory_limit) {
  const std::int64_t before = kg::memory().live_bytes;
  kg::set_memory_limit(before + (16 << 20));
  for (const char* name : {"lists_of_2_24_items_together", "array_that_grows_to_2_23", "list_scattered_at_2_23",
                           "list_of_2_23_rows", "list_that_doubles_in_a_loop"}) {
    const std::string said = said_with(name, {.most_bytes = std::int64_t{1} << 40});
    EXPECT_TRUE(says(said, {"limit"})) << name << ": " << said;
  }
  kg::set_memory_limit(kg::unlimited);
  EXPECT_EQ(kg::memory().live_bytes, before);
}

}  // namespace
