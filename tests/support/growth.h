// SPDX-License-Identifier: Apache-2.0
// How the time of some work grows with its size.
#pragma once
#include <time.h>

#include <algorithm>
#include <limits>

namespace kgtest {

/// Seconds of the calling thread on a CPU.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The most that twice the size may take. Linear work takes twice the time, and up to three times where its data leaves
/// a cache in between; quadratic work takes four times.
inline constexpr double linear = 3;

/// The time of `work(2 * size)` over that of `work(size)`, each the best of several. Other processes take caches away
/// and so only add time: while the ratio is above `most`, the best are looked for again, up to 60 times.
template <class F>
double growth(F work, int size, double most) {
  double best[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  double ratio = 0;
  for (int turn = 0; turn < 60; ++turn) {
    for (int i = 0; i < 2; ++i) {
      const double begin = thread_seconds();
      work(size << i);
      best[i] = std::min(best[i], thread_seconds() - begin);
    }
    if (turn == 0) continue;  // caches of the system and of the allocator fill
    ratio = best[1] / best[0];
    if (ratio <= most) break;
  }
  return ratio;
}

}  // namespace kgtest
