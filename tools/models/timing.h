// SPDX-License-Identifier: Apache-2.0
// How a run of a model is timed: kerngrad and a library that it is compared with share this.
#pragma once
#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>

namespace models {

using clock_type = std::chrono::steady_clock;

inline double milliseconds(clock_type::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock_type::now() - begin).count();
}

/// Time that the calling thread was on a processor.
inline double processor_milliseconds() {
  std::timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

struct fastest_run {
  double ms = std::numeric_limits<double>::infinity();  // by the clock
  double cpu_ms = ms;                                   // of the calling thread on a processor
};

/// The least times of three to a thousand runs, which take about that many seconds. The time to destroy results does
/// not count.
template <class Run>
fastest_run time_runs(double seconds, const Run& run) {
  fastest_run least;
  const clock_type::time_point begin = clock_type::now();
  for (int runs = 0; runs < 3 || (milliseconds(begin) < 1000 * seconds && runs < 1000); ++runs) {
    const double cpu = processor_milliseconds();
    const clock_type::time_point start = clock_type::now();
    const auto results = run();
    least.ms = std::min(least.ms, milliseconds(start));
    least.cpu_ms = std::min(least.cpu_ms, processor_milliseconds() - cpu);
  }
  return least;
}

}  // namespace models
