// SPDX-License-Identifier: Apache-2.0
// Rotated NHWC images and their adjoint. The origins of a row's pixels are computed as vectors of doubles, the
// same on every target; then pixels are moved one by one.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/image/rotate.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/image/rotate.h"
#include "kernels/image/taps.h"
#include "kernels/move/copy-run-inl.h"
#include "kernels/window/channels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Shared by all rows: how far a column moves a pixel to the right and down.
struct column_shares {
  explicit column_shares(const rotate_geometry& g) : cosines_(g.width), sines_(g.width) {
    for (std::int64_t j = 0; j < g.width; ++j) {
      const double across = static_cast<double>(j) - g.center_x;
      cosines_.data()[j] = across * g.cosine;
      sines_.data()[j] = across * g.sine;
    }
    cosines = cosines_.data();
    sines = sines_.data();
  }
  const double *cosines, *sines;

 private:
  scratch<double> cosines_, sines_;
};

/// The next whole number, a half upwards. Adding a half first would round numbers just below it, too.
template <class D, class V>
HWY_INLINE V rounded(D d, V v) {
  const V low = hn::Floor(v), one = hn::Set(d, 1.0);
  return hn::Add(low, hn::IfThenElseZero(hn::Ge(hn::Sub(v, low), hn::Set(d, 0.5)), one));
}

/// The pixels of the image, counted from its first, that a row of the result takes; -1 outside.
template <class D>
HWY_INLINE void pixels_at(D d, const rotate_geometry& g, const column_shares& columns, double down, std::int64_t j,
                          double* pixels) {
  const auto set = [&](double v) HWY_ATTR { return hn::Set(d, v); };
  const auto at_column = hn::Add(hn::Sub(hn::LoadU(d, columns.cosines + j), set(down * g.sine)), set(g.center_x));
  const auto at_row = hn::Add(hn::Add(hn::LoadU(d, columns.sines + j), set(down * g.cosine)), set(g.center_y));
  const auto column = rounded(d, at_column), row = rounded(d, at_row), zero = hn::Zero(d);
  const auto width = set(static_cast<double>(g.width)), height = set(static_cast<double>(g.height));
  const auto inside =
      hn::And(hn::And(hn::Ge(column, zero), hn::Lt(column, width)), hn::And(hn::Ge(row, zero), hn::Lt(row, height)));
  hn::StoreU(hn::IfThenElse(inside, hn::Add(hn::Mul(row, width), column), set(-1.0)), d, pixels + j);
}
HWY_INLINE void pixels_of_row(const rotate_geometry& g, const column_shares& columns, std::int64_t i, double* pixels) {
  const double down = static_cast<double>(i) - g.center_y;
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t j = 0;
  for (; j + lanes <= g.width; j += lanes) pixels_at(d, g, columns, down, j, pixels);
  for (; j < g.width; ++j) pixels_at(one, g, columns, down, j, pixels);
}

/// A row of the result: pixels of kChannels elements, or, where that is 0, of any number.
template <int kChannels, class T>
HWY_INLINE void take_row(const rotate_geometry& g, const T* image, const double* pixels, T* y) {
  const T* fill = static_cast<const T*>(g.fill);
  for (std::int64_t j = 0; j < g.width; ++j, y += g.channels) {
    const T* from = pixels[j] < 0 ? fill : image + static_cast<std::int64_t>(pixels[j]) * g.channels;
    if constexpr (kChannels > 0) std::memcpy(static_cast<void*>(y), from, sizeof(T) * kChannels);
    else copy_run(from, y, static_cast<std::size_t>(g.channels));
  }
}

template <dtype Type, class T = cell_t<Type>>
void RotateWithOffset(const rotate_geometry& g, const T* x, T* y) {
  const column_shares columns(g);
  const std::int64_t row = g.width * g.channels, image = g.height * row;
  const row_chunks chunks(g.batch * g.height, row);
  const std::int64_t products = saturated_product(chunks.rows, row, products_of_blend);
  run_in_chunks(chunks.count(), products, [&](std::ptrdiff_t chunk) HWY_ATTR {
    scratch<double> pixels(g.width);
    for (std::int64_t r = chunks.begin(chunk); r < chunks.end(chunk); ++r) {
      const T* from = x + r / g.height * image;
      T* to = y + r * row;
      pixels_of_row(g, columns, r % g.height, pixels.data());
      switch (g.channels) {
        case 1: take_row<1>(g, from, pixels.data(), to); break;
        case 2: take_row<2>(g, from, pixels.data(), to); break;
        case 3: take_row<3>(g, from, pixels.data(), to); break;
        case 4: take_row<4>(g, from, pixels.data(), to); break;
        default: take_row<0>(g, from, pixels.data(), to);
      }
    }
  });
}

/// RotateWithOffsetGrad: sums in the type itself, in the order of the pixels of dy; |error| <= k eps * the sum of |dy|,
/// with k the number of terms. Reference: kernels/image/reference_rotate.cc.
template <dtype Type, class T = storage_t<Type>>
void RotateWithOffsetGrad(const rotate_geometry& g, const T* dy, T* dx) {
  const column_shares columns(g);
  const std::int64_t row = g.width * g.channels, image = g.height * row;
  const std::int64_t products = saturated_product(g.batch, image, products_of_blend);
  run_in_chunks(g.batch, products, [&](std::ptrdiff_t b) HWY_ATTR {
    scratch<double> pixels(g.width);
    const T* from = dy + b * image;
    T* const image_dx = dx + b * image;
    std::fill_n(image_dx, image, T{0});
    for (std::int64_t i = 0; i < g.height; ++i) {
      pixels_of_row(g, columns, i, pixels.data());
      for (std::int64_t j = 0; j < g.width; ++j, from += g.channels) {
        if (pixels.data()[j] < 0) continue;
        T* to = image_dx + static_cast<std::int64_t>(pixels.data()[j]) * g.channels;
        if (g.channels <= 4) {
          for (std::int64_t c = 0; c < g.channels; ++c) to[c] += from[c];
          continue;
        }
        each_channels<T, false>(g.channels, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
          a.store(d, hn::Add(a.load(d, to + c), a.load(d, from + c)), to + c);
        });
      }
    }
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_ROTATE_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_ROTATE_KERNELS)
}  // namespace kerngrad::kernels
#endif
