// SPDX-License-Identifier: Apache-2.0
// Positions at which a result's pixels are read along one axis, computed once for all rows. Plain C++.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/common/scratch.h"
#include "kernels/image/resize.h"

namespace kerngrad::kernels {

/// Positions (first + i * step) / denominator of an axis, exact: nothing overflows for sizes up to 2^30.
struct exact_positions {
  std::int64_t first, step, denominator;
  bool interpolates;  ///< between the pixels on both sides, or the pixel of the whole part alone
  std::int64_t numerator(std::int64_t i) const { return first + i * step; }
};

/// The positions between which ResizeBilinear interpolates; those below 0 are at the edge.
inline exact_positions linear_positions(const resize_geometry& g, std::int64_t in, std::int64_t out) {
  if (g.align_corners && out > 1) return {0, in - 1, out - 1, true};
  if (g.half_pixel_centers) return {in - out, 2 * in, 2 * out, true};
  return {0, in, out, true};
}
/// Those whose whole part is the pixel that ResizeNearestNeighbor takes.
inline exact_positions nearest_positions(const resize_geometry& g, std::int64_t in, std::int64_t out) {
  if (g.align_corners && out > 1) return {out - 1, 2 * (in - 1), 2 * (out - 1), false};
  if (g.half_pixel_centers) return {in, 2 * in, 2 * out, false};
  return {0, in, out, false};
}

/// For each of `count` pixels of a result two pixels of x, and the share of the second.
template <class T>
struct tap_list {
  const std::int64_t *low, *high;
  const T* share;
  std::int64_t count;
};

/// For each pixel of an axis of y two pixels of x, neighbours or one pixel twice, and the share of the second, which is
/// 0 when they are one. Both never decrease along the axis.
template <class T>
class taps {
 public:
  taps(std::int64_t in, std::int64_t out, const exact_positions& at) : count_(out) {
    low_.reach(out);
    high_.reach(out);
    share_.reach(out);
    for (std::int64_t i = 0; i < out; ++i) set(i, std::max<std::int64_t>(at.numerator(i), 0), at, in - 1);
  }

  /// As long as this lives.
  tap_list<T> list() { return {low_.data(), high_.data(), share_.data(), count_}; }

 private:
  void set(std::int64_t i, std::int64_t numerator, const exact_positions& at, std::int64_t most) {
    const std::int64_t whole = numerator / at.denominator, rest = numerator % at.denominator;
    const bool between = at.interpolates && rest != 0 && whole < most;
    low_.data()[i] = whole;
    high_.data()[i] = whole + (between ? 1 : 0);
    share_.data()[i] = between ? static_cast<T>(rest) / static_cast<T>(at.denominator) : T{0};
  }

  std::int64_t count_;
  scratch<std::int64_t> low_, high_;
  scratch<T> share_;
};

/// For each of `pixels` pixels of x those of the result that read it: [first, last) without gaps, because taps never
/// decrease.
class readers {
 public:
  template <class T>
  readers(const tap_list<T>& taps, std::int64_t pixels) {
    first_.reach(pixels);
    last_.reach(pixels);
    std::int64_t first = 0, last = 0;
    for (std::int64_t at = 0; at < pixels; ++at) {
      while (first < taps.count && taps.high[first] < at) ++first;
      while (last < taps.count && taps.low[last] <= at) ++last;
      first_.data()[at] = first;
      last_.data()[at] = last;
    }
  }
  std::int64_t first(std::int64_t at) { return first_.data()[at]; }
  std::int64_t last(std::int64_t at) { return last_.data()[at]; }

 private:
  scratch<std::int64_t> first_, last_;
};
/// The share that pixel i of the result takes of pixel `at` of x, which it reads.
template <class T>
T share_of(const tap_list<T>& taps, std::int64_t i, std::int64_t at) {
  return taps.low[i] == at ? 1 - taps.share[i] : taps.share[i];
}

/// Rows of all images of a result, cut into chunks for threads. The cuts follow from the sizes alone.
struct row_chunks {
  static constexpr std::int64_t elements = 1 << 13;  // of a chunk, roughly
  std::int64_t rows, each;
  row_chunks(std::int64_t all, std::int64_t row_elements)
      : rows(all), each(std::clamp<std::int64_t>(elements / row_elements, 1, all)) {}
  std::ptrdiff_t count() const { return (rows + each - 1) / each; }
  std::int64_t begin(std::ptrdiff_t chunk) const { return chunk * each; }
  std::int64_t end(std::ptrdiff_t chunk) const { return std::min(rows, (chunk + 1) * each); }
};

/// Cost of reading and blending an element, in products.
inline constexpr std::int64_t products_of_blend = 4;

}  // namespace kerngrad::kernels
