// SPDX-License-Identifier: Apache-2.0
// Parts that all benchmarks share: a main that knows targets and sizes, and the check that a kernel runs where it
// should.
#pragma once
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/common/targets.h"

namespace kgbench {

/// The kernels and sizes to measure.
struct selection {
  std::vector<kerngrad::kernels::target> targets;  ///< all that are compiled in and supported, or the ones asked for
  std::vector<std::int64_t> sizes;                 ///< elements that a kernel works on, roughly
  bool list_only = false;                          ///< names are asked for, nothing will run
  /// True for a name that --benchmark_filter takes. Google Benchmark 1.7 takes seconds for 20,000 names, and no time
  /// for names that it is not given.
  std::function<bool(const std::string&)> takes;
};

/// Pins a target for one benchmark and checks that the kernels really run on it.
bool pin(benchmark::State& state, const kerngrad::kernels::target& target);

/// The main of a benchmark program. `--target NAME[,NAME]` and `--sizes N[,N]` are ours; everything else is Google
/// Benchmark's. `register_all` gets what was chosen. Wrong options give a message and 2.
int run(int argc, char** argv, const std::function<void(const selection&)>& register_all);

}  // namespace kgbench
