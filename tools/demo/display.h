// SPDX-License-Identifier: Apache-2.0
// Output of the demo: progress while it trains, tables and pictures at the end.
#pragma once
#include <chrono>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "idx.h"

namespace demo {

/// Progress of one epoch: on a terminal a bar that is drawn over and over, elsewhere one line at the end.
class progress {
 public:
  progress(int epoch, int epochs, std::int64_t images);
  /// After each step: images seen, mean loss so far.
  void step(std::int64_t seen, double loss);
  /// The training of the epoch is over; what follows does not count.
  void stop();
  /// Replaces the bar by the epoch's line. The time left is that of the epochs to come.
  void finish(double loss, double accuracy);

 private:
  using clock = std::chrono::steady_clock;
  double elapsed() const;
  void clear() const;

  int epoch_, epochs_;
  std::int64_t images_;
  clock::time_point start_ = clock::now();
  clock::time_point drawn_{};
  std::clock_t processor_start_ = std::clock();  // of all threads: on a busy machine it says more than the clock
  double seconds_ = 0, processor_seconds_ = 0;
  bool terminal_;
};

/// Accuracy per class and the confusion matrix.
void show_tables(const image_set& truth, std::span<const std::uint8_t> predicted);
/// A few test images with prediction and truth: the first ones that were recognised and the first ones that were not.
void show_samples(const image_set& truth, std::span<const std::uint8_t> predicted);

}  // namespace demo
