// SPDX-License-Identifier: Apache-2.0
// Projective transforms of NHWC images and their adjoint, pixel by pixel: positions in double precision, the same on
// every target, then the channels of up to four pixels as vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/image/warp.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/common/chunks.h"
#include "kernels/common/sizes.h"
#include "kernels/image/taps.h"
#include "kernels/image/warp.h"
#include "kernels/window/channels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Positions are worked out here, once per target, because most have an instruction that rounds.

/// Weights of the two pixels next to a position on one side, `low` and the next one; they may be no pixels.
struct warp_tap {
  std::int64_t low;
  double of_low, of_high;
  bool low_inside, high_inside;

  warp_tap(double position, std::int64_t pixels, const warp_geometry& g, bool slope) {
    const mapped_position in = mapped(position, pixels, g.mode);
    const double floor = std::floor(g.nearest ? in.at + 0.5 : in.at);
    // Far outside a position may be no integer.
    const bool beside = floor >= -1 && floor < static_cast<double>(pixels);
    low = beside ? static_cast<std::int64_t>(floor) : -2;
    low_inside = beside && low >= 0;
    high_inside = beside && !g.nearest && low + 1 < pixels;
    const double share = g.nearest ? 0 : in.at - floor;
    const double side = g.nearest ? 0 : in.direction;
    of_low = slope ? -side : 1 - share;
    of_high = slope ? side : share;
  }
};

/// The two taps of a pixel of y; `none` where it has no position.
struct warp_position {
  bool none;
  double row, column;

  warp_position(const double* t, std::int64_t i, std::int64_t j) {
    const double down = static_cast<double>(i), across = static_cast<double>(j);
    const double p = t[6] * across + t[7] * down + 1;
    row = t[3] * across + t[4] * down + t[5];
    column = t[0] * across + t[1] * down + t[2];
    if (p != 1) {  // an affine map divides nothing
      row /= p;
      column /= p;
    }
    none = p == 0 || !std::isfinite(row) || !std::isfinite(column);
  }
};

/// Calls take(pixel, weight) for the four pixels around a position; the pixel is -1 outside of the image.
template <class T, class Take>
HWY_INLINE void for_each_corner(const warp_geometry& g, const warp_position& at, Take take) {
  const warp_tap down(at.row, g.in_h, g, g.slope_down), across(at.column, g.in_w, g, g.slope_across);
  const auto corner = [&](std::int64_t row, std::int64_t column, bool inside, double weight) HWY_ATTR {
    if (weight != 0) take(inside ? (row * g.in_w + column) * g.channels : -1, static_cast<T>(weight));
  };
  corner(down.low, across.low, down.low_inside && across.low_inside, down.of_low * across.of_low);
  corner(down.low, across.low + 1, down.low_inside && across.high_inside, down.of_low * across.of_high);
  corner(down.low + 1, across.low, down.high_inside && across.low_inside, down.of_high * across.of_low);
  corner(down.low + 1, across.low + 1, down.high_inside && across.high_inside, down.of_high * across.of_high);
}

/// Pixels that a result takes, with their weights: at most four.
template <class T>
struct pixel_mean {
  const T* pixels[4];
  T weights[4];
  int count = 0;
  T of_fill = 0;  // what comes from outside of the image
};

/// The channels of a pixel of y: kChannels of them, one by one, which is faster than parts of vectors.
template <int kChannels, class T>
HWY_INLINE void add_few(const pixel_mean<T>& from, T* y) {
  T sum[kChannels];
  std::fill_n(sum, kChannels, from.of_fill);
  for (int i = 0; i < from.count; ++i)
    for (int c = 0; c < kChannels; ++c) sum[c] += from.pixels[i][c] * from.weights[i];
  std::copy_n(sum, kChannels, y);
}
template <class T>
HWY_INLINE void add_pixels(const pixel_mean<T>& from, std::int64_t channels, T* y) {
  switch (channels) {
    case 1: return add_few<1>(from, y);
    case 2: return add_few<2>(from, y);
    case 3: return add_few<3>(from, y);
    case 4: return add_few<4>(from, y);
    default: break;
  }
  each_channels<T>(channels, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
    auto sum = hn::Set(d, from.of_fill);
    for (int i = 0; i < from.count; ++i)
      sum = hn::Add(sum, hn::Mul(a.load(d, from.pixels[i] + c), hn::Set(d, from.weights[i])));
    a.store(d, sum, y + c);
  });
}

/// Transform: |error| <= 8 * eps * the largest of the four elements. Reference: kernels/image/reference_warp.cc.
template <dtype Type, class T = storage_t<Type>>
void Transform(const warp_geometry& g, const T* x, T* y) {
  const bool slope = g.slope_down || g.slope_across;
  const T fill = static_cast<T>(g.fill);
  const std::int64_t out_row = g.out_w * g.channels;
  const row_chunks chunks(g.batch * g.out_h, out_row);
  const std::int64_t products = saturated_product(chunks.rows, out_row, products_of_blend);
  run_in_chunks(chunks.count(), products, [&](std::ptrdiff_t chunk) HWY_ATTR {
    for (std::int64_t r = chunks.begin(chunk); r < chunks.end(chunk); ++r) {
      const std::int64_t b = r / g.out_h;
      const T* image = x + b * g.in_h * g.in_w * g.channels;
      T* to = y + r * out_row;
      for (std::int64_t j = 0; j < g.out_w; ++j, to += g.channels) {
        const warp_position at(g.transforms + b * g.stride, r % g.out_h, j);
        pixel_mean<T> mean;
        if (at.none) mean.of_fill = slope ? T{0} : fill;
        else
          for_each_corner<T>(g, at, [&](std::int64_t pixel, T weight) HWY_ATTR {
            if (pixel < 0) {
              mean.of_fill += weight * fill;
              return;
            }
            mean.pixels[mean.count] = image + pixel;
            mean.weights[mean.count++] = weight;
          });
        add_pixels(mean, g.channels, to);
      }
    }
  });
}

/// TransformGrad: sums in the type itself, in the order of the elements of dy; |error| <= (k + 4) * eps * the sum of
/// |share * dy|, with k the number of terms. Reference: kernels/image/reference_warp.cc.
template <dtype Type, class T = storage_t<Type>>
void TransformGrad(const warp_geometry& g, const T* dy, T* dx) {
  const std::int64_t image = g.in_h * g.in_w * g.channels, result = g.out_h * g.out_w * g.channels;
  const std::int64_t products = saturated_product(g.batch, result, products_of_blend);
  run_in_chunks(g.batch, products, [&](std::ptrdiff_t b) HWY_ATTR {
    T* to = dx + b * image;
    const T* from = dy + b * result;
    std::fill_n(to, image, T{0});
    for (std::int64_t i = 0; i < g.out_h; ++i) {
      for (std::int64_t j = 0; j < g.out_w; ++j, from += g.channels) {
        const warp_position at(g.transforms + b * g.stride, i, j);
        if (at.none) continue;
        for_each_corner<T>(g, at, [&](std::int64_t pixel, T weight) HWY_ATTR {
          if (pixel < 0) return;
          each_channels<T, false>(g.channels, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
            const auto given = hn::Mul(a.load(d, from + c), hn::Set(d, weight));
            a.store(d, hn::Add(a.load(d, to + pixel + c), given), to + pixel + c);
          });
        });
      }
    }
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_WARP_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_WARP_KERNELS)
}  // namespace kerngrad::kernels
#endif
