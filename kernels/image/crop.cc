// SPDX-License-Identifier: Apache-2.0
// Crops of NHWC images and their adjoint. Rows of crops are interpolated as those of resized images are; positions are
// computed in double precision, the same on every target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/image/crop.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/image/crop.h"
#include "kernels/image/interpolate-inl.h"
#include "kernels/image/taps.h"

#ifndef KERNGRAD_KERNELS_CROP_COMMON
#define KERNGRAD_KERNELS_CROP_COMMON
namespace kerngrad::kernels {
namespace {

/// Position of a sample of a crop along one side; not `inside` if that is no pixel of the image.
template <class T>
struct crop_tap {
  bool inside;
  std::int64_t low = 0, high = 0;
  T share{};

  crop_tap(double position, std::int64_t pixels, bool nearest, bool slope)
      : inside(position >= 0 && position <= static_cast<double>(pixels - 1)) {
    if (!inside) return;
    if (nearest) {
      low = high = static_cast<std::int64_t>(std::floor(position + 0.5));
      return;
    }
    low = static_cast<std::int64_t>(position);
    if (slope && low == pixels - 1) low = std::max<std::int64_t>(low - 1, 0);
    share = static_cast<T>(position - static_cast<double>(low));
    high = std::min(low + (slope || share != 0 ? 1 : 0), pixels - 1);
  }
};

/// The samples of a side of a crop that lie inside of the image: [first, first + list().count).
template <class T>
class crop_taps {
 public:
  explicit crop_taps(std::int64_t samples) : samples_(samples) {
    low_.reach(samples);
    high_.reach(samples);
    share_.reach(samples);
  }
  /// For the box with these ends.
  void set(double from, double to, std::int64_t pixels, bool nearest, bool slope) {
    first_ = count_ = 0;
    for (std::int64_t i = 0; i < samples_; ++i) {
      const crop_tap<T> tap(crop_position(from, to, pixels, samples_, i), pixels, nearest, slope);
      if (!tap.inside) continue;
      if (count_ == 0) first_ = i;
      low_.data()[count_] = tap.low;
      high_.data()[count_] = tap.high;
      share_.data()[count_++] = tap.share;
    }
  }
  std::int64_t first() const { return first_; }
  /// The pixels that are read lie between these, the second of them included; a box may be turned over.
  std::int64_t lowest() { return count_ == 0 ? 0 : std::min(low_.data()[0], low_.data()[count_ - 1]); }
  std::int64_t highest() { return count_ == 0 ? -1 : std::max(high_.data()[0], high_.data()[count_ - 1]); }
  std::int64_t reach() { return highest() - lowest() + 1; }
  tap_list<T> list() { return {low_.data(), high_.data(), share_.data(), count_}; }

 private:
  std::int64_t samples_, first_ = 0, count_ = 0;
  scratch<std::int64_t> low_, high_;
  scratch<T> share_;
};

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_CROP_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// The row of crop k that sample i lies in.
template <class T>
HWY_INLINE crop_tap<T> row_of_sample(const crop_geometry& g, std::int64_t k, std::int64_t i) {
  const double* box = g.boxes + 4 * k;
  return {crop_position(box[0], box[2], g.in_h, g.out_h, i), g.in_h, g.nearest, g.slope_down};
}

/// A row of a crop of few channels: the pixels that it reaches over are blended at once.
template <class T>
HWY_INLINE void blend_and_stretch(const T* top, const T* bottom, T share, crop_taps<T>& columns, std::int64_t channels,
                                  T* blended, T* y) {
  const std::int64_t begin = columns.lowest() * channels, count = columns.reach() * channels;
  blend_rows(top + begin, bottom + begin, share, count, blended + begin);
  std::fill_n(blended + begin + count, 4, T{0});  // vectors of the last pixel read beyond it
  stretch(channels, blended, columns.list(), y);
}

/// CropAndResize: |error| <= 6 * eps * the largest of the four elements. Infinite elements make NaN where they are
/// interpolated. Reference: kernels/image/reference_crop.cc.
template <dtype Type, class T = storage_t<Type>>
void CropAndResize(const crop_geometry& g, const T* x, T* y) {
  const T outside = g.slope_down || g.slope_across ? T{0} : static_cast<T>(g.outside);
  const std::int64_t in_row = g.in_w * g.channels, out_row = g.out_w * g.channels;
  const row_chunks chunks(g.crops * g.out_h, out_row);
  const std::int64_t products = saturated_product(chunks.rows, out_row, products_of_blend);
  const bool few = g.channels <= 4 && !g.slope_down && !g.slope_across;
  run_in_chunks(chunks.count(), products, [&](std::ptrdiff_t chunk) HWY_ATTR {
    crop_taps<T> columns(g.out_w);
    scratch<T> blended(few ? sum_of(in_row, 4) : 0);
    std::int64_t current = -1;
    for (std::int64_t r = chunks.begin(chunk); r < chunks.end(chunk); ++r) {
      const std::int64_t k = r / g.out_h;
      const double* box = g.boxes + 4 * k;
      if (k != current) columns.set(box[1], box[3], g.in_w, g.nearest, g.slope_across);
      current = k;
      const crop_tap<T> row = row_of_sample<T>(g, k, r % g.out_h);
      const tap_list<T> across = columns.list();
      T* to = y + r * out_row;
      if (!row.inside || across.count < g.out_w) std::fill_n(to, out_row, outside);
      if (!row.inside) continue;
      const T* top = x + (g.images[k] * g.in_h + row.low) * in_row;
      const T* bottom = x + (g.images[k] * g.in_h + row.high) * in_row;
      to += columns.first() * g.channels;
      if (few && columns.reach() <= 4 * across.count)
        blend_and_stretch(top, bottom, row.share, columns, g.channels, blended.data(), to);
      else interpolate(top, bottom, {row.share, g.slope_down, g.slope_across}, g.channels, across, to);
    }
  });
}

/// Gives the gradient of crop k back to its image.
template <class T>
HWY_INLINE void give_crop_back(const T* dy, const crop_geometry& g, std::int64_t k, crop_taps<T>& columns, T* sums,
                               T* image) {
  const std::int64_t in_row = g.in_w * g.channels;
  const double* box = g.boxes + 4 * k;
  columns.set(box[1], box[3], g.in_w, g.nearest, g.slope_across);
  const tap_list<T> across = columns.list();
  for (std::int64_t i = 0; i < g.out_h; ++i) {
    const crop_tap<T> row = row_of_sample<T>(g, k, i);
    if (!row.inside || (g.slope_down && row.low == row.high)) continue;
    const T* from = dy + ((k * g.out_h + i) * g.out_w + columns.first()) * g.channels;
    add_share<false>(from, g.slope_down ? T{-1} : 1 - row.share, across.count * g.channels, sums);
    give_back(sums, g.channels, across, g.slope_across, image + row.low * in_row);
    if (row.low == row.high) continue;
    add_share<false>(from, g.slope_down ? T{1} : row.share, across.count * g.channels, sums);
    give_back(sums, g.channels, across, g.slope_across, image + row.high * in_row);
  }
}

/// CropAndResizeGrad: sums in the type itself, in the order of the crops and of their rows; |error| <= (k + 4) * eps *
/// the sum of |share * dy|, with k the number of terms. Reference: kernels/image/reference_crop.cc.
template <dtype Type, class T = storage_t<Type>>
void CropAndResizeGrad(const crop_geometry& g, const T* dy, T* dx) {
  const std::int64_t image = g.in_h * g.in_w * g.channels, out_row = g.out_w * g.channels;
  const std::int64_t products = saturated_product(g.crops, g.out_h, out_row, products_of_blend);
  run_in_chunks(g.batch, products, [&](std::ptrdiff_t b) HWY_ATTR {
    T* to = dx + b * image;
    std::fill_n(to, image, T{0});
    crop_taps<T> columns(g.out_w);
    scratch<T> sums(out_row);
    for (std::int64_t k = 0; k < g.crops; ++k)
      if (g.images[k] == b) give_crop_back(dy, g, k, columns, sums.data(), to);
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_CROP_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_CROP_KERNELS)
}  // namespace kerngrad::kernels
#endif
