// SPDX-License-Identifier: Apache-2.0
// Resizing NHWC images. Rows of y are independent; each is interpolated between two rows of x first, then along the
// row. The blended row is kept in memory where that saves work: in images of few channels, of which a vector holds
// parts of several pixels, and where pixels are read several times. Others go from the four pixels to the result at
// once. Both do the same operations in the same order, none of them fused, so bits depend neither on the way nor on the
// target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/image/resize.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/common/chunks.h"
#include "kernels/common/sizes.h"
#include "kernels/image/interpolate-inl.h"
#include "kernels/image/resize.h"
#include "kernels/image/taps.h"
#include "kernels/move/copy-run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

// ------------------------------------------------------------------------------------------ bilinear

/// ResizeBilinear: |error| <= 6 * eps * the largest of the four elements. Infinite elements make NaN where they are
/// mixed with others. Reference: kernels/image/reference_resize.cc.
template <dtype Type, class T = storage_t<Type>>
void ResizeBilinear(const resize_geometry& g, const T* x, T* y) {
  taps<T> down_taps(g.in_h, g.out_h, linear_positions(g, g.in_h, g.out_h));
  taps<T> across_taps(g.in_w, g.out_w, linear_positions(g, g.in_w, g.out_w));
  const tap_list<T> down = down_taps.list(), across = across_taps.list();
  const std::int64_t in_row = g.in_w * g.channels, out_row = g.out_w * g.channels;
  // Blending whole rows does not pay where few of their pixels are read.
  const bool blends = g.channels <= 4 ? g.in_w <= 4 * g.out_w : 2 * g.in_w <= 3 * g.out_w;
  const row_chunks chunks(g.batch * g.out_h, out_row);
  const std::int64_t products = saturated_product(chunks.rows, out_row, products_of_blend);
  run_in_chunks(chunks.count(), products, [&](std::ptrdiff_t chunk) HWY_ATTR {
    scratch<T> blended(blends ? sum_of(in_row, 4) : 0);  // vectors of the last pixel read beyond it
    if (blends) std::fill_n(blended.data() + in_row, 4, T{0});
    for (std::int64_t r = chunks.begin(chunk); r < chunks.end(chunk); ++r) {
      const T* image = x + r / g.out_h * g.in_h * in_row;
      const std::int64_t row = r % g.out_h;
      const T* top = image + down.low[row] * in_row;
      const T* bottom = image + down.high[row] * in_row;
      if (!blends) {
        interpolate(top, bottom, {down.share[row]}, g.channels, across, y + r * out_row);
        continue;
      }
      blend_rows(top, bottom, down.share[row], in_row, blended.data());
      stretch(g.channels, blended.data(), across, y + r * out_row);
    }
  });
}

// ------------------------------------------------------------------------------------------ nearest

/// A row of y out of one of x: kChannels elements of each pixel, or `channels` of them where kChannels is 0.
template <int kChannels, class T>
HWY_INLINE void pick_pixels(const T* row, std::int64_t channels, const tap_list<float>& across, T* y) {
  if constexpr (kChannels > 0) channels = kChannels;
  for (std::int64_t x = 0; x < across.count; ++x, y += channels) {
    const T* from = row + across.low[x] * channels;
    if constexpr (kChannels == 0) {
      copy_run(from, y, static_cast<std::size_t>(channels));
    } else {
      for (int c = 0; c < kChannels; ++c) put(get(from + c), y + c);
    }
  }
}
template <class T>
HWY_INLINE void pick(const T* row, std::int64_t channels, const tap_list<float>& across, T* y) {
  switch (channels) {
    case 1: return pick_pixels<1>(row, channels, across, y);
    case 2: return pick_pixels<2>(row, channels, across, y);
    case 3: return pick_pixels<3>(row, channels, across, y);
    case 4: return pick_pixels<4>(row, channels, across, y);
    default: return pick_pixels<0>(row, channels, across, y);
  }
}

/// ResizeNearestNeighbor, exact. A row that is taken twice is copied. Reference: kernels/image/reference_resize.cc.
template <dtype Type, class T = cell_t<Type>>
void ResizeNearestNeighbor(const resize_geometry& g, const T* x, T* y) {
  taps<float> down_taps(g.in_h, g.out_h, nearest_positions(g, g.in_h, g.out_h));
  taps<float> across_taps(g.in_w, g.out_w, nearest_positions(g, g.in_w, g.out_w));
  const tap_list<float> down = down_taps.list(), across = across_taps.list();
  const std::int64_t in_row = g.in_w * g.channels, out_row = g.out_w * g.channels;
  const row_chunks chunks(g.batch * g.out_h, out_row);
  run_in_chunks(chunks.count(), saturated_product(chunks.rows, out_row), [&](std::ptrdiff_t chunk) HWY_ATTR {
    std::int64_t taken = -1;  // the row of x that the last row of y was made of
    for (std::int64_t r = chunks.begin(chunk); r < chunks.end(chunk); ++r) {
      const std::int64_t source = r / g.out_h * g.in_h + down.low[r % g.out_h];
      T* to = y + r * out_row;
      if (source == taken) copy_run(to - out_row, to, static_cast<std::size_t>(out_row));
      else pick(x + source * in_row, g.channels, across, to);
      taken = source;
    }
  });
}

// ------------------------------------------------------------------------------------------ adjoints

/// A row of dx from sums of rows of dy: kChannels values of each pixel, which collects what its readers took of it.
template <int kChannels, class T>
HWY_INLINE void collect_few(const T* HWY_RESTRICT sums, const tap_list<T>& across, readers& of, std::int64_t pixels,
                            T* HWY_RESTRICT dx) {
  std::int64_t p = 0;
  if constexpr (kChannels >= 3) {
    const hn::CappedTag<T, 4> d;
    if (hn::Lanes(d) == 4) {
      for (; p + 1 < pixels; ++p) {
        auto sum = hn::Zero(d);
        for (std::int64_t i = of.first(p); i < of.last(p); ++i)
          sum = hn::Add(sum, hn::Mul(hn::LoadU(d, sums + i * kChannels), hn::Set(d, share_of(across, i, p))));
        hn::StoreU(sum, d, dx + p * kChannels);  // what it writes too far the next pixel overwrites
      }
    }
  }
  for (; p < pixels; ++p) {
    T sum[kChannels] = {};
    for (std::int64_t i = of.first(p); i < of.last(p); ++i)
      for (int c = 0; c < kChannels; ++c) sum[c] += sums[i * kChannels + c] * share_of(across, i, p);
    std::copy_n(sum, kChannels, dx + p * kChannels);
  }
}
template <class T>
HWY_INLINE void collect(const T* sums, std::int64_t channels, const tap_list<T>& across, readers& of,
                        std::int64_t pixels, T* dx) {
  switch (channels) {
    case 1: return collect_few<1>(sums, across, of, pixels, dx);
    case 2: return collect_few<2>(sums, across, of, pixels, dx);
    case 3: return collect_few<3>(sums, across, of, pixels, dx);
    case 4: return collect_few<4>(sums, across, of, pixels, dx);
    default: break;
  }
  for (std::int64_t p = 0; p < pixels; ++p, dx += channels) {
    each_channels<T>(channels, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (std::int64_t i = of.first(p); i < of.last(p); ++i)
        sum = hn::Add(sum, hn::Mul(a.load(d, sums + i * channels + c), hn::Set(d, share_of(across, i, p))));
      a.store(d, sum, dx + c);
    });
  }
}

/// The adjoint of reading by `down` and `across`: a row of dx collects the rows of dy that read it, in their order, and
/// a pixel of it those of their sum's pixels that read it.
template <class T>
void give_gradient(const T* dy, const resize_geometry& g, const tap_list<T>& down, const tap_list<T>& across, T* dx) {
  const std::int64_t in_row = g.in_w * g.channels, out_row = g.out_w * g.channels;
  readers rows(down, g.in_h), columns(across, g.in_w);
  const row_chunks chunks(g.batch * g.in_h, in_row);
  const std::int64_t products =
      saturated_product(g.batch, saturated_sum(g.in_h, g.out_h), saturated_sum(in_row, out_row));
  run_in_chunks(chunks.count(), products, [&](std::ptrdiff_t chunk) HWY_ATTR {
    scratch<T> sums(sum_of(out_row, 4));  // vectors of the last pixel read beyond it
    std::fill_n(sums.data() + out_row, 4, T{0});
    for (std::int64_t r = chunks.begin(chunk); r < chunks.end(chunk); ++r) {
      const T* image = dy + r / g.in_h * g.out_h * out_row;
      const std::int64_t row = r % g.in_h, first = rows.first(row), last = rows.last(row);
      if (first >= last) {
        std::fill_n(dx + r * in_row, in_row, T{0});
        continue;
      }
      add_share<false>(image + first * out_row, share_of(down, first, row), out_row, sums.data());
      for (std::int64_t i = first + 1; i < last; ++i)
        add_share<true>(image + i * out_row, share_of(down, i, row), out_row, sums.data());
      collect(sums.data(), g.channels, across, columns, g.in_w, dx + r * in_row);
    }
  });
}

/// ResizeBilinearGrad: sums in the type itself, |error| <= (k + 4) * eps * the sum of |share * dy|, with k the number
/// of terms. Reference: kernels/image/reference_resize.cc.
template <dtype Type, class T = storage_t<Type>>
void ResizeBilinearGrad(const resize_geometry& g, const T* dy, T* dx) {
  taps<T> down(g.in_h, g.out_h, linear_positions(g, g.in_h, g.out_h));
  taps<T> across(g.in_w, g.out_w, linear_positions(g, g.in_w, g.out_w));
  give_gradient(dy, g, down.list(), across.list(), dx);
}

/// ResizeNearestNeighborGrad: sums in the type itself, by rows first. Reference: kernels/image/reference_resize.cc.
template <dtype Type, class T = storage_t<Type>>
void ResizeNearestNeighborGrad(const resize_geometry& g, const T* dy, T* dx) {
  taps<T> down(g.in_h, g.out_h, nearest_positions(g, g.in_h, g.out_h));
  taps<T> across(g.in_w, g.out_w, nearest_positions(g, g.in_w, g.out_w));
  give_gradient(dy, g, down.list(), across.list(), dx);
}

}  // namespace

KG_DEFINE_KERNELS(KG_RESIZE_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_RESIZE_KERNELS)
}  // namespace kerngrad::kernels
#endif
