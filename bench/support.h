// SPDX-License-Identifier: Apache-2.0
// What all benchmarks share: a main that knows targets, and one registration per target that this CPU runs.
#pragma once
#include <benchmark/benchmark.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/targets.h"

namespace kgbench {

/// Targets to measure: all that are compiled in and supported, or the one that --target names.
inline std::vector<kerngrad::kernels::target> targets(const std::string& only) {
  kerngrad::kernels::target all[64];
  const int count = kerngrad::kernels::supported_targets(all, 64);
  std::vector<kerngrad::kernels::target> chosen;
  for (int i = 0; i < count; ++i)
    if (only.empty() || only == all[i].name) chosen.push_back(all[i]);
  return chosen;
}

/// Pins a target for one benchmark and checks that the kernels really run on it.
inline bool pin(benchmark::State& state, const kerngrad::kernels::target& target) {
  kerngrad::kernels::pin_target(target.bits);
  if (std::strcmp(kerngrad::kernels::running_target(), target.name) == 0) return true;
  state.SkipWithError("the kernels run on another target than the pinned one");
  return false;
}

/// --target NAME is ours; everything else is Google Benchmark's. `register_all` gets the chosen targets.
inline int run(int argc, char** argv,
               const std::function<void(const std::vector<kerngrad::kernels::target>&)>& register_all) {
  std::string only;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (std::strcmp(argv[i], "--target") == 0 && i + 1 < argc) only = argv[++i];
    else rest.push_back(argv[i]);
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 1;
  const auto chosen = targets(only);
  if (chosen.empty()) {
    std::fprintf(stderr, "no target %s here; there are:", only.c_str());
    for (const auto& target : targets("")) std::fprintf(stderr, " %s", target.name);
    std::fprintf(stderr, "\n");
    return 1;
  }
  std::string names;
  for (const auto& target : targets("")) names += (names.empty() ? "" : " ") + std::string(target.name);
  benchmark::AddCustomContext("simd_targets", names);
  register_all(chosen);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  kerngrad::kernels::unpin_target();
  return 0;
}

}  // namespace kgbench
