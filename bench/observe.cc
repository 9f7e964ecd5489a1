// SPDX-License-Identifier: Apache-2.0
// Cost of watching: a typed call while no hook is active, under hooks that do nothing, and under each of the
// tools.
#include <optional>

#include "bench/support.h"
import kerngrad;

namespace {

constexpr std::int64_t sizes[] = {1, 1000};
constexpr int calls = 64;  // a profile keeps every run: it is begun again after this many

kg::tensor filled(std::int64_t n) { return kg::full({n}, 0.5); }

void add_often(const kg::tensor& a, const kg::tensor& b) {
  for (int i = 0; i < calls; ++i) benchmark::DoNotOptimize(kg::add(a, b).address());
}

void no_hook(benchmark::State& state, std::int64_t n) {
  const kg::tensor a = filled(n), b = filled(n);
  for (auto _ : state) add_often(a, b);
}

// A call that no hook sees, but whose path is that of a watched one: hooks of no kind are active.
void empty_hooks(benchmark::State& state, std::int64_t n) {
  const kg::tensor a = filled(n), b = filled(n);
  const kg::hook_handle added = kg::add_hooks({});
  for (auto _ : state) add_often(a, b);
}

void idle_hooks(benchmark::State& state, std::int64_t n) {
  const kg::tensor a = filled(n), b = filled(n);
  kg::hooks wanted;
  wanted.begin = wanted.end = [](const kg::kernel_event&) {};
  wanted.allocate = [](const kg::allocation_event&) {};
  const kg::hook_handle added = kg::add_hooks(wanted);
  for (auto _ : state) add_often(a, b);
}

void profile(benchmark::State& state, std::int64_t n) {
  const kg::tensor a = filled(n), b = filled(n);
  for (auto _ : state) benchmark::DoNotOptimize(kg::profile([&] { add_often(a, b); }).wall_ns);
}

void nan_check(benchmark::State& state, std::int64_t n) {
  const kg::tensor a = filled(n), b = filled(n);
  const kg::nan_check guard;
  for (auto _ : state) add_often(a, b);
}

}  // namespace

int main(int argc, char** argv) {
  return kgbench::run(argc, argv, [](const kgbench::selection& chosen) {
    const std::pair<const char*, void (*)(benchmark::State&, std::int64_t)> cases[] = {{"no_hook", no_hook},
                                                                                       {"empty_hooks", empty_hooks},
                                                                                       {"idle_hooks", idle_hooks},
                                                                                       {"profile", profile},
                                                                                       {"nan_check", nan_check}};
    for (const auto& [name, body] : cases)
      for (std::int64_t n : sizes)
        benchmark::RegisterBenchmark(
            (std::string("observe/") + name + "/target:" + chosen.targets[0].name + "/n:" + std::to_string(n)).c_str(),
            [target = chosen.targets[0], body = body, n](benchmark::State& state) {
              if (!kgbench::pin(state, target)) return;
              body(state, n);
              state.SetItemsProcessed(state.iterations() * calls);
            });
  });
}
