// SPDX-License-Identifier: Apache-2.0
// Two ways to do the same in turns, so that what else the machine does hits both: medians and their ratio.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace kgbench {

/// Counters `before_us` and `after_us`, the medians, `ratio`, the median of after / before of each turn, and `fastest`,
/// that of the fastest of either: the one to read on a busy machine. Each turn repeats its work to take at least some
/// tens of microseconds.
inline void paired(benchmark::State& state, const std::function<void()>& before, const std::function<void()>& after) {
  using clock = std::chrono::steady_clock;
  const auto seconds = [](const std::function<void()>& f, int times) {
    const clock::time_point start = clock::now();
    for (int i = 0; i < times; ++i) f();
    return std::chrono::duration<double>(clock::now() - start).count() / times;
  };
  before();
  after();
  const int times = std::max(1, static_cast<int>(50e-6 / std::max(seconds(before, 1), 1e-9)));
  std::vector<double> first, second, ratios;
  for (auto _ : state) {
    first.push_back(seconds(before, times));
    second.push_back(seconds(after, times));
    ratios.push_back(second.back() / first.back());
  }
  const auto least = [](const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); };
  const double fastest = least(second) / least(first);
  const auto median = [](std::vector<double>& values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  state.counters["before_us"] = median(first) * 1e6;
  state.counters["after_us"] = median(second) * 1e6;
  state.counters["ratio"] = median(ratios);
  state.counters["fastest"] = fastest;
}

}  // namespace kgbench
