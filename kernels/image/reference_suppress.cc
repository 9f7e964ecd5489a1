// SPDX-License-Identifier: Apache-2.0
// The best candidate is looked for again each time, and compared with the boxes taken before it one by one.
#include "kernels/image/suppress.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/scratch.h"

namespace kerngrad::kernels::reference {
namespace {

/// Intersection by union of the boxes at a and b.
template <class T>
double overlap(const T* a, const T* b) {
  for (int i = 0; i < 4; ++i)
    if (std::isnan(a[i]) || std::isnan(b[i])) return 0;
  const auto low = [](const T* box, int side) { return static_cast<double>(std::min(box[side], box[side + 2])); };
  const auto high = [](const T* box, int side) { return static_cast<double>(std::max(box[side], box[side + 2])); };
  const auto area = [&](const T* box) { return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1)); };
  const auto shared = [&](int side) {
    return std::max(0.0, std::min(high(a, side), high(b, side)) - std::max(low(a, side), low(b, side)));
  };
  if (!(area(a) > 0) || !(area(b) > 0)) return 0;
  const double both = shared(0) * shared(1), ratio = both / (area(a) + area(b) - both);
  return ratio > 0 ? ratio : 0;  // of infinite areas it is no number
}

template <dtype Type, class T = storage_t<Type>>
void NonMaxSuppression(const suppress_geometry& g, const T* boxes, const T* scores, std::int32_t* numbers,
                       T* taken_scores) {
  scratch<double> left(g.boxes);  // the scores as they are lowered; minus infinity: taken or dropped
  scratch<std::int64_t> compared(g.boxes);
  constexpr double gone = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < g.boxes; ++i) {
    left.data()[i] = static_cast<double>(scores[i]) > g.score_threshold ? static_cast<double>(scores[i]) : gone;
    compared.data()[i] = 0;
  }
  std::int64_t count = 0;
  while (count < g.most) {
    double* const best = std::max_element(left.data(), left.data() + g.boxes);
    if (best == left.data() + g.boxes || *best == gone) break;
    const std::int64_t box = best - left.data();
    double score = *best;
    bool dropped = false;
    for (std::int64_t k = compared.data()[box]; k < count; ++k) {
      const double o = overlap(boxes + 4 * std::int64_t{numbers[k]}, boxes + 4 * box);
      dropped = dropped || o >= g.iou_threshold;
      if (g.sigma > 0) score *= std::exp(-o * o / (2 * g.sigma));
    }
    compared.data()[box] = count;
    const bool stays = !dropped && score != *best && score > g.score_threshold, is_next = !dropped && score == *best;
    *best = stays ? score : gone;
    if (!is_next) continue;
    numbers[count] = static_cast<std::int32_t>(box);
    if (taken_scores) taken_scores[count] = static_cast<T>(score);
    ++count;
  }
  std::fill(numbers + count, numbers + g.capacity, 0);
  if (taken_scores) std::fill(taken_scores + count, taken_scores + g.capacity, T{0});
  *g.selected = count;
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SUPPRESS_KERNELS)

}  // namespace kerngrad::kernels::reference
