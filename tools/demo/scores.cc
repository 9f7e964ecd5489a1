// SPDX-License-Identifier: Apache-2.0
#include "scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace demo {

double accuracy(const image_set& truth, std::span<const std::uint8_t> predicted) {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) right += predicted[i] == truth.labels[i];
  return static_cast<double>(right) / static_cast<double>(predicted.size());
}

confusion confusion_of(const image_set& truth, std::span<const std::uint8_t> predicted) {
  confusion counts{};
  for (std::size_t i = 0; i < predicted.size(); ++i) ++counts[truth.labels[i]][predicted[i]];
  return counts;
}

int images_of(const confusion& counts, std::size_t of) {
  return std::accumulate(counts[of].begin(), counts[of].end(), 0);
}

std::string recall_text(const confusion& counts, std::size_t of) {
  const int total = images_of(counts, of);
  return total ? fmt::format("{:.4f}", static_cast<double>(counts[of][of]) / total) : "-";
}

std::vector<std::size_t> worst_mistakes(const image_set& truth, const predictions& by, std::size_t most) {
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < by.classes.size(); ++i)
    if (by.classes[i] != truth.labels[i]) wrong.push_back(i);
  const auto log_of_truth = [&](std::size_t i) {
    const float log = by.logs[i * class_count + truth.labels[i]];
    return std::isnan(log) ? -std::numeric_limits<float>::infinity() : log;  // a network that diverged
  };
  std::sort(wrong.begin(), wrong.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(log_of_truth(a), a) < std::pair(log_of_truth(b), b);
  });
  wrong.resize(std::min(most, wrong.size()));
  return wrong;
}

}  // namespace demo
