// SPDX-License-Identifier: Apache-2.0
// Entry points of non-maximum suppression.
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// Boxes [boxes, 4], two opposite corners (y, x, y, x) each, in any order, and their scores [boxes].
///
/// Boxes are taken from the highest score downwards, of equal scores the one of the lowest number first; those whose
/// score is not above `score_threshold` never, nor those of score NaN. A box that overlaps one that was taken before,
/// by `iou_threshold` or more, is dropped. With `sigma` above 0 each other overlap o multiplies the score with exp(-o^2
/// / (2 sigma)), and the box waits for its new turn. The overlap is that of intersection and union of the areas; boxes
/// without an area, and those with NaN, overlap nothing. At a threshold of 0 only one box is taken.
struct suppress_geometry {
  std::int64_t boxes;
  std::int64_t most;      ///< so many boxes are taken at most
  std::int64_t capacity;  ///< elements of the results; those after the boxes that were taken become 0
  double iou_threshold;   ///< from 0 to 1
  double score_threshold;
  double sigma;            ///< 0 or more
  std::int64_t* selected;  ///< how many were taken
};

/// A box that has not been taken or dropped.
struct box_candidate {
  double score;
  std::int32_t box;
  std::int32_t compared;  ///< the score has regard to so many of the boxes taken
};
/// The order of a heap whose first candidate is the next: the highest score, then the lowest number.
inline bool comes_later(const box_candidate& a, const box_candidate& b) {
  return a.score < b.score || (a.score == b.score && a.box > b.box);
}

/// A box as an area, its lower corner first.
struct box_area {
  double y1, x1, y2, x2, area;
  template <class T>
  explicit box_area(const T* corners)
      : y1(static_cast<double>(std::min(corners[0], corners[2]))),
        x1(static_cast<double>(std::min(corners[1], corners[3]))),
        y2(static_cast<double>(std::max(corners[0], corners[2]))),
        x2(static_cast<double>(std::max(corners[1], corners[3]))),
        area((y2 - y1) * (x2 - x1)) {
    for (int i = 0; i < 4; ++i)
      if (corners[i] != corners[i]) area = 0;
  }
  /// True if it can overlap anything.
  bool extends() const { return area > 0; }
};

//   NonMaxSuppressionV3, V4, V5   in = {boxes, scores}   out = {numbers int32, scores of the boxes taken or null}
#define KG_SUPPRESS_KERNELS(X) KG_FLOATS(X, NonMaxSuppression)
#define KG_SUPPRESS_OPS(X)                               \
  KG_FLOATS(X, (NonMaxSuppressionV3, NonMaxSuppression)) \
  KG_FLOATS(X, (NonMaxSuppressionV4, NonMaxSuppression)) \
  KG_FLOATS(X, (NonMaxSuppressionV5, NonMaxSuppression))

KG_DECLARE_SHARED_KERNELS(suppress, KG_SUPPRESS_KERNELS, KG_SUPPRESS_OPS)

}  // namespace kerngrad::kernels
