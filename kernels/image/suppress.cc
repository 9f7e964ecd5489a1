// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression: a heap of candidates, each of which is compared with all boxes taken before it, as many at
// once as a vector has doubles. The sides of the boxes taken stand in arrays of their own.
//
// Overlaps are computed in double precision, so that they decide as the definition does, and no lane depends on
// another; the squares of soft suppression are added up in a fixed order. So every target takes the same boxes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/image/suppress.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/image/suppress.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The boxes that were taken. Entries after them, up to a whole vector, and those without an area overlap nothing.
class taken_boxes {
 public:
  explicit taken_boxes(std::int64_t most) {
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    room_ = sum_of(most, lanes - 1) / lanes * lanes;
    sides_.reach(product_of(sides, room_));
    overlaps_.reach(room_);
    constexpr double nowhere = std::numeric_limits<double>::infinity();
    for (int side = 0; side < sides; ++side)
      std::fill_n(side_at(side), room_, side < 2 ? nowhere : side < 4 ? -nowhere : 0.0);
  }

  void add(const box_area& box) {
    const double values[sides] = {box.y1, box.x1, box.y2, box.x2, box.area};
    for (int side = 0; side < sides && box.extends(); ++side) side_at(side)[count_] = values[side];
    ++count_;
  }
  std::int64_t count() const { return count_; }

  /// True if the box overlaps one of them by `threshold`, which is above 0, or more. The comparison without a quotient
  /// takes all that the one with it does: a product with a slightly lower threshold is rounded once.
  bool any_over(const box_area& box, double threshold) {
    if (!box.extends()) return false;
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto low = hn::Set(d, threshold * (1 - 0x1p-50)), least = hn::Set(d, threshold);
    for (std::int64_t i = 0; i < count_; i += lanes) {
      auto both = hn::Zero(d);
      const auto all = areas(d, box, i, both);
      if (HWY_LIKELY(hn::AllFalse(d, hn::Ge(both, hn::Mul(low, all))))) continue;
      if (!hn::AllFalse(d, hn::Ge(hn::Div(both, all), least))) return true;
    }
    return false;
  }

  /// The sum of the squared overlaps with those from `first` on; negative when one is `threshold` or more.
  double squared_overlap(const box_area& box, std::int64_t first, double threshold) {
    if (!box.extends()) return 0;
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto zero = hn::Zero(d);
    double* overlaps = overlaps_.data();
    for (std::int64_t i = first / lanes * lanes; i < count_; i += lanes) {
      auto both = hn::Zero(d);
      const auto all = areas(d, box, i, both);
      const auto ratio = hn::Div(both, all);
      hn::StoreU(hn::IfThenElse(hn::Gt(ratio, zero), ratio, zero), d, overlaps + i);  // no number: infinite areas
    }
    double sums[4] = {};
    for (std::int64_t i = first; i < count_; ++i) {
      if (overlaps[i] >= threshold) return -1;
      sums[(i - first) % 4] += overlaps[i] * overlaps[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

 private:
  static constexpr int sides = 5;
  double* side_at(int side) { return sides_.data() + side * room_; }

  // The areas that the box has in common with those from i on, and of both together.
  template <class D, class V>
  HWY_INLINE V areas(D d, const box_area& box, std::int64_t i, V& both) {
    const auto edge = [&](int side) HWY_ATTR { return hn::LoadU(d, side_at(side) + i); };
    const auto y1 = hn::Max(hn::Set(d, box.y1), edge(0)), x1 = hn::Max(hn::Set(d, box.x1), edge(1));
    const auto y2 = hn::Min(hn::Set(d, box.y2), edge(2)), x2 = hn::Min(hn::Set(d, box.x2), edge(3));
    both = hn::Mul(hn::Max(hn::Sub(y2, y1), hn::Zero(d)), hn::Max(hn::Sub(x2, x1), hn::Zero(d)));
    return hn::Sub(hn::Add(hn::Set(d, box.area), edge(4)), both);
  }

  std::int64_t room_ = 0, count_ = 0;
  scratch<double> sides_, overlaps_;
};

/// NonMaxSuppression: the boxes are those of the definition; scores to 4 eps. Reference:
/// kernels/image/reference_suppress.cc.
template <dtype Type, class T = storage_t<Type>>
void NonMaxSuppression(const suppress_geometry& g, const T* boxes, const T* scores, std::int32_t* numbers,
                       T* taken_scores) {
  scratch<box_candidate> heap(g.boxes);
  box_candidate* const first = heap.data();
  box_candidate* last = first;
  for (std::int64_t i = 0; i < g.boxes; ++i)
    if (static_cast<double>(scores[i]) > g.score_threshold)
      *last++ = {static_cast<double>(scores[i]), static_cast<std::int32_t>(i), 0};
  std::make_heap(first, last, comes_later);
  // Every overlap is at least 0.
  const std::int64_t most = g.iou_threshold > 0 ? g.most : std::min<std::int64_t>(g.most, 1);
  taken_boxes taken(std::min<std::int64_t>(most, last - first));
  while (taken.count() < most && first != last) {
    std::pop_heap(first, last, comes_later);
    box_candidate& next = *--last;
    const box_area box(boxes + 4 * std::int64_t{next.box});
    if (g.sigma > 0) {
      const double squares = taken.squared_overlap(box, next.compared, g.iou_threshold);
      if (squares < 0) continue;
      const double score = next.score * std::exp(-0.5 / g.sigma * squares);
      if (score != next.score) {
        if (!(score > g.score_threshold)) continue;
        next.score = score;
        next.compared = static_cast<std::int32_t>(taken.count());
        std::push_heap(first, ++last, comes_later);
        continue;
      }
    } else if (taken.any_over(box, g.iou_threshold)) {
      continue;
    }
    numbers[taken.count()] = next.box;
    if (taken_scores) taken_scores[taken.count()] = static_cast<T>(next.score);
    taken.add(box);
  }
  std::fill(numbers + taken.count(), numbers + g.capacity, 0);
  if (taken_scores) std::fill(taken_scores + taken.count(), taken_scores + g.capacity, T{0});
  *g.selected = taken.count();
}

}  // namespace

KG_DEFINE_KERNELS(KG_SUPPRESS_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_SUPPRESS_KERNELS)
}  // namespace kerngrad::kernels
#endif
