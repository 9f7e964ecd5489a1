// SPDX-License-Identifier: Apache-2.0
// The parts of the depthwise convolution's gradients: input pixels gather from the output pixels that they reached, the
// taps of a filter add up products. Private to kernels/; included once per target.
#if defined(KERNGRAD_KERNELS_DEPTHWISE_GRAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_DEPTHWISE_GRAD_INL_H_
#undef KERNGRAD_KERNELS_DEPTHWISE_GRAD_INL_H_
#else
#define KERNGRAD_KERNELS_DEPTHWISE_GRAD_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <span>

#include "hwy/highway.h"
#include "kernels/window/depthwise-inl.h"
#include "kernels/window/depthwise_plan.h"
#include "kernels/window/window-inl.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The output pixels that a row of input pixels of one phase reaches: input column `phase` + q * stride_w, for output
/// column q + columns[i].output. All pointers are those of one image.
template <class T>
struct gathered_row {
  const window_geometry& g;
  const T* dy;
  const T* w;
  T* dx;
  std::span<const reach> rows, columns;
};

/// Gradients of kPixels input pixels from q on; with kCut columns outside the output are skipped.
template <int kPixels, bool kCut, class D, class T = hn::TFromD<D>>
HWY_INLINE void gather_pixels(D d, const gathered_row<T>& r, std::ptrdiff_t q, std::ptrdiff_t c) {
  const window_geometry& g = r.g;
  with_vectors<kPixels>(d, [&](auto sum) KG_INLINED {
    for (const reach& row : r.rows) {
      for (const reach& column : r.columns) {
        const std::ptrdiff_t first = q + column.output;
        if (kCut && (first < 0 || first >= g.out_w)) continue;
        const T* from = r.dy + (row.output * g.out_w + first) * g.in_c + c;
        const auto weight = hn::LoadU(d, r.w + (row.tap * g.filter_w + column.tap) * g.in_c + c);
        for (int i = 0; i < kPixels; ++i) sum[i] = hn::MulAdd(hn::LoadU(d, from + i * g.in_c), weight, sum[i]);
      }
    }
    for (int i = 0; i < kPixels; ++i) hn::StoreU(sum[i], d, r.dx + (q + i) * g.stride_w * g.in_c + c);
  });
}

/// Input columns of one phase, `count` of them, in one row.
template <class T>
void gather_row(const gathered_row<T>& r, std::ptrdiff_t count) {
  std::ptrdiff_t low = 0, high = count;  // q whose columns are all inside the output
  for (const reach& column : r.columns) {
    low = std::max(low, -column.output);
    high = std::min(high, r.g.out_w - column.output);
  }
  low = std::min(low, count);
  const auto edge = [&](std::ptrdiff_t q) HWY_ATTR {
    for_channels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { gather_pixels<1, true>(d, r, q, c); });
  };
  if (high - low < short_block) high = low;  // too few for a block
  for (std::ptrdiff_t q = 0; q < low; ++q) edge(q);
  for (std::ptrdiff_t next = low; next < high; next += short_block) {  // the last block overlaps its neighbour
    const std::ptrdiff_t q = std::min(next, high - short_block);
    for_channels<T>(r.g.in_c,
                    [&](auto d, std::ptrdiff_t c) HWY_ATTR { gather_pixels<short_block, false>(d, r, q, c); });
  }
  for (std::ptrdiff_t q = high; q < count; ++q) edge(q);
}

/// Adds to `sum` the products of kPixels output pixels and kHeight rows of the input, `pitch` apart.
template <int kPixels, int kHeight, int kWidth, int kStride, class D, class T = hn::TFromD<D>>
HWY_INLINE void add_products(D d, const T* HWY_RESTRICT x, std::ptrdiff_t pitch, const T* HWY_RESTRICT dy,
                             std::ptrdiff_t channels, vectors<hn::Vec<D>, kHeight * kWidth> sums) {
  with_vectors<kPixels>(d, [&](auto right) KG_INLINED {
    for (int i = 0; i < kPixels; ++i) right[i] = hn::LoadU(d, dy + i * channels);
#pragma clang loop unroll(full)
    for (int ky = 0; ky < kHeight; ++ky) {
      const T* from = x + ky * pitch;
#pragma clang loop unroll(full)
      for (int column = 0; column < (kPixels - 1) * kStride + kWidth; ++column, from += channels) {
        const auto element = hn::LoadU(d, from);
#pragma clang loop unroll(full)
        for (int kx = 0; kx < kWidth; ++kx) {
          const int i = (column - kx) / kStride;
          if (column < kx || (column - kx) % kStride != 0 || i >= kPixels) continue;
          auto& sum = sums[ky * kWidth + kx];
          sum = hn::MulAdd(element, right[i], sum);
        }
      }
    }
  });
}

/// Adds to kHeight filter rows, for one vector of channels, the products of one row of dy and the rows of x under them:
/// x is the first such row. Output pixels `inside` have windows that are not cut by the left or right edge.
template <int kHeight, int kWidth, int kStride, class D, class T = hn::TFromD<D>>
HWY_INLINE void add_filter_rows(D d, const window_geometry& g, std::int64_t inside_low, std::int64_t inside_high,
                                const T* x, const T* dy, T* dw) {
  const std::ptrdiff_t channels = g.in_c, pitch = g.dilation_h * g.in_w * channels;
  with_vectors<kHeight * kWidth>(d, [&](auto sums) KG_INLINED {
    const auto edge = [&](std::ptrdiff_t ox) KG_INLINED {
      const auto right = hn::LoadU(d, dy + ox * channels);
#pragma clang loop unroll(full)
      for (int kx = 0; kx < kWidth; ++kx) {
        const std::ptrdiff_t column = ox * kStride - g.pad_left + kx;
        if (column < 0 || column >= g.in_w) continue;
#pragma clang loop unroll(full)
        for (int ky = 0; ky < kHeight; ++ky) {
          auto& sum = sums[ky * kWidth + kx];
          sum = hn::MulAdd(hn::LoadU(d, x + ky * pitch + column * channels), right, sum);
        }
      }
    };
    std::ptrdiff_t ox = 0;
    for (; ox < inside_low; ++ox) edge(ox);
    for (; ox + 4 <= inside_high; ox += 4) {
      add_products<4, kHeight, kWidth, kStride>(d, x + (ox * kStride - g.pad_left) * channels, pitch,
                                                dy + ox * channels, channels, sums);
    }
    for (; ox < g.out_w; ++ox) edge(ox);
#pragma clang loop unroll(full)
    for (int tap = 0; tap < kHeight * kWidth; ++tap) {
      T* to = dw + tap * channels;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sums[tap]), d, to);
    }
  });
}

/// Adds to dw[kx] the products of one row of x and one row of dy. Sums of a row are formed in four registers.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void add_row_of_products(D d, const window_geometry& g, const T* x, const T* dy, T* dw) {
  for (std::ptrdiff_t kx = 0; kx < g.filter_w; ++kx, dw += g.in_c) {
    const std::ptrdiff_t start = kx * g.dilation_w - g.pad_left;  // input column of output column 0
    const clipped_axis inside(start, g.out_w, g.stride_w, g.in_w);
    if (inside.count() == 0) continue;
    const T* left = x + (start + inside.low * g.stride_w) * g.in_c;
    const T* right = dy + inside.low * g.in_c;
    const std::ptrdiff_t count = inside.count(), pixel = g.stride_w * g.in_c;
    const auto add = [&](std::ptrdiff_t i, auto& sum) KG_INLINED {
      sum = hn::MulAdd(hn::LoadU(d, left + i * pixel), hn::LoadU(d, right + i * g.in_c), sum);
    };
    auto sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    std::ptrdiff_t i = 0;
    for (; i + 4 <= count; i += 4) add(i, sum0), add(i + 1, sum1), add(i + 2, sum2), add(i + 3, sum3);
    for (; i < count; ++i) add(i, sum0);
    const auto row = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
    hn::StoreU(hn::Add(hn::LoadU(d, dw), row), d, dw);
  }
}

/// Adds what one row of dy owes to `count` filter rows from dw on; x is the row of the input under the first of them.
template <class T>
using filter_rows_fn = void (*)(const window_geometry& g, const interior& whole, const T* x, const T* dy, T* dw);

template <class T>
void filter_row(const window_geometry& g, const interior&, const T* x, const T* dy, T* dw) {
  for_channels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { add_row_of_products(d, g, x + c, dy + c, dw + c); });
}

template <int kHeight, int kWidth, int kStride, class T>
void filter_rows(const window_geometry& g, const interior& whole, const T* x, const T* dy, T* dw) {
  for_channels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    add_filter_rows<kHeight, kWidth, kStride>(d, g, whole.low, whole.high, x + c, dy + c, dw + c);
  });
}

/// The way to add to `height` filter rows at once, if there is one: their sums stay in registers for a row of dy.
template <class T>
filter_rows_fn<T> filter_rows_together(const window_geometry& g, std::ptrdiff_t height) {
  if (g.dilation_w == 1 && g.filter_w == 3 && g.stride_w == 1) {
    if (height == 3) return filter_rows<3, 3, 1, T>;
    if (height == 2) return filter_rows<2, 3, 1, T>;
  } else if (g.dilation_w == 1 && g.filter_w == 3 && g.stride_w == 2) {
    if (height == 3) return filter_rows<3, 3, 2, T>;
    if (height == 2) return filter_rows<2, 3, 2, T>;
  } else if (g.dilation_w == 1 && g.filter_w == 5 && g.stride_w == 1) {
    if (height == 2) return filter_rows<2, 5, 1, T>;
  }
  return height == 1 ? filter_row<T> : nullptr;
}

/// Adds to dw what rows [low, high) of dy owe it, counted through all images.
template <class T>
void add_filter_gradient(const window_geometry& g, const T* x, const T* dy, T* dw, std::ptrdiff_t low,
                         std::ptrdiff_t high) {
  const interior whole(g.out_w, g.in_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  for_rows_of_images(low, high, g.out_h, [&](std::ptrdiff_t image, std::ptrdiff_t oy, std::ptrdiff_t) {
    const std::ptrdiff_t top = oy * g.stride_h - g.pad_top;
    const clipped_axis rows = rows_inside(g, top);
    for (std::ptrdiff_t ky = rows.low; ky < rows.high;) {
      std::ptrdiff_t height = std::min<std::ptrdiff_t>(3, rows.high - ky);
      while (filter_rows_together<T>(g, height) == nullptr) --height;
      filter_rows_together<T>(g, height)(g, whole, x + (image * g.in_h + top + ky * g.dilation_h) * g.in_w * g.in_c,
                                         dy + (image * g.out_h + oy) * g.out_w * g.in_c, dw + ky * g.filter_w * g.in_c);
      ky += height;
    }
    return 1;
  });
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
