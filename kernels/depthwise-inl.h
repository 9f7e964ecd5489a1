// SPDX-License-Identifier: Apache-2.0
// The register blocks of the depthwise convolution: sums of neighbouring pixels, or of the taps of a filter, for one
// vector of channels. Private to kernels/; included once per target. However a pixel is reached, its sum runs over
// the taps row by row, so that blocks may be cut and overlapped freely.
#if defined(KERNGRAD_KERNELS_DEPTHWISE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_DEPTHWISE_INL
#undef KERNGRAD_KERNELS_DEPTHWISE_INL
#else
#define KERNGRAD_KERNELS_DEPTHWISE_INL
#endif

#include <algorithm>
#include <cstddef>
#include <span>

#include "hwy/highway.h"
#include "kernels/target-inl.h"
#include "kernels/window.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Pixels of a row whose sums are in registers together. Two rows of them, the factors of two filter rows and an
// element fit into the 32 registers of AVX-512 and NEON; on older x86 some factors are read from memory.
#if KG_MANY_REGISTERS
inline constexpr int block = 7;  // images are often a multiple of 7 wide
#else
inline constexpr int block = 4;
#endif

/// One row of output pixels: `x` is the input image, `top` the input row under filter row 0, `y` the output row.
template <class T>
struct pixel_row {
  const window_geometry& g;
  const T* x;
  const T* w;
  T* y;
  std::ptrdiff_t top;
  clipped_axis rows;

  const T* input(std::ptrdiff_t ky) const { return x + (top + ky * g.dilation_h) * g.in_w * g.in_c; }
  const T* weights(std::ptrdiff_t ky) const { return w + ky * g.filter_w * g.in_c; }
};

/// A pixel whose window is cut by the left or right edge, for one vector of channels from c on.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void EdgePixel(D d, const pixel_row<T>& r, std::ptrdiff_t ox, std::ptrdiff_t c) {
  const window_geometry& g = r.g;
  const std::ptrdiff_t left = ox * g.stride_w - g.pad_left;
  const clipped_axis columns(left, g.filter_w, g.dilation_w, g.in_w);
  auto sum = hn::Zero(d);
  for (std::ptrdiff_t ky = r.rows.low; ky < r.rows.high; ++ky) {
    for (std::ptrdiff_t kx = columns.low; kx < columns.high; ++kx) {
      const auto element = hn::LoadU(d, r.input(ky) + (left + kx * g.dilation_w) * g.in_c + c);
      sum = hn::MulAdd(element, hn::LoadU(d, r.weights(ky) + kx * g.in_c + c), sum);
    }
  }
  hn::StoreU(sum, d, r.y + ox * g.in_c + c);
}

/// kPixels neighbouring pixels whose windows are not cut by the left or right edge.
template <int kPixels, class D, class T = hn::TFromD<D>>
HWY_INLINE void WholePixels(D d, const pixel_row<T>& r, std::ptrdiff_t ox, std::ptrdiff_t c) {
  const window_geometry& g = r.g;
  hn::Vec<D> sum[kPixels];
  for (auto& v : sum) v = hn::Zero(d);
  const std::ptrdiff_t pixel = g.stride_w * g.in_c;
  for (std::ptrdiff_t ky = r.rows.low; ky < r.rows.high; ++ky) {
    const T* from = r.input(ky) + (ox * g.stride_w - g.pad_left) * g.in_c + c;
    const T* weight = r.weights(ky) + c;
    for (std::ptrdiff_t kx = 0; kx < g.filter_w; ++kx, from += g.dilation_w * g.in_c, weight += g.in_c) {
      const auto factor = hn::LoadU(d, weight);
      for (int i = 0; i < kPixels; ++i) sum[i] = hn::MulAdd(hn::LoadU(d, from + i * pixel), factor, sum[i]);
    }
  }
  for (int i = 0; i < kPixels; ++i) hn::StoreU(sum[i], d, r.y + (ox + i) * g.in_c + c);
}

/// Adds to two rows of sums what one row of the input owes them; kFirst and kSecond say which of them it touches. Each
/// element is loaded once for all its windows. With kCut only columns [low, high) are inside the image.
template <bool kCut, bool kFirst, bool kSecond, int kWidth, int kStride, class D, class T = hn::TFromD<D>>
HWY_INLINE void AddInputRow(D d, const T* HWY_RESTRICT from, std::ptrdiff_t channels, std::ptrdiff_t low,
                            std::ptrdiff_t high, const T* HWY_RESTRICT first, const T* HWY_RESTRICT second,
                            hn::Vec<D> (&sum)[2][block]) {
  hn::Vec<D> factor[2][kWidth];
  for (int kx = 0; kx < kWidth; ++kx) {
    if constexpr (kFirst) factor[0][kx] = hn::LoadU(d, first + kx * channels);
    if constexpr (kSecond) factor[1][kx] = hn::LoadU(d, second + kx * channels);
  }
#pragma clang loop unroll(full)
  for (int column = 0; column < (block - 1) * kStride + kWidth; ++column) {
    if (kCut && (column < low || column >= high)) continue;
    const auto element = hn::LoadU(d, from + column * channels);
#pragma clang loop unroll(full)
    for (int kx = 0; kx < kWidth; ++kx) {
      const int i = (column - kx) / kStride;
      if (column < kx || (column - kx) % kStride != 0 || i >= block) continue;
      if constexpr (kFirst) sum[0][i] = hn::MulAdd(element, factor[0][kx], sum[0][i]);
      if constexpr (kSecond) sum[1][i] = hn::MulAdd(element, factor[1][kx], sum[1][i]);
    }
  }
}

/// `block` neighbouring pixels of row r and, with `both`, of the row under it, for a filter kWidth wide without
/// dilation. kCut: the left or right edge of the image may cut their windows.
template <bool kCut, int kWidth, int kStride, class D, class T = hn::TFromD<D>>
HWY_INLINE void PixelsOfTwoRows(D d, const pixel_row<T>& r, bool both, std::ptrdiff_t ox, std::ptrdiff_t c) {
  const window_geometry& g = r.g;
  hn::Vec<D> sum[2][block];
  for (auto& row : sum) {
    for (auto& v : row) v = hn::Zero(d);
  }
  const std::ptrdiff_t pitch = g.in_w * g.in_c, left = ox * kStride - g.pad_left;
  const std::ptrdiff_t last = std::min(both ? g.stride_h + g.filter_h : g.filter_h, g.in_h - r.top);
  for (std::ptrdiff_t row = std::max<std::ptrdiff_t>(0, -r.top); row < last; ++row) {
    const T* from = r.x + (r.top + row) * pitch + left * g.in_c + c;
    const bool sees_first = row < g.filter_h, sees_second = both && row >= g.stride_h;
    const T* first = sees_first ? r.weights(row) + c : nullptr;
    const T* second = sees_second ? r.weights(row - g.stride_h) + c : nullptr;
    if (sees_first && sees_second) {
      AddInputRow<kCut, true, true, kWidth, kStride>(d, from, g.in_c, -left, g.in_w - left, first, second, sum);
    } else if (sees_first) {
      AddInputRow<kCut, true, false, kWidth, kStride>(d, from, g.in_c, -left, g.in_w - left, first, second, sum);
    } else if (sees_second) {
      AddInputRow<kCut, false, true, kWidth, kStride>(d, from, g.in_c, -left, g.in_w - left, first, second, sum);
    }
  }
  T* to = r.y + ox * g.in_c + c;
  for (int i = 0; i < block; ++i) hn::StoreU(sum[0][i], d, to + i * g.in_c);
  if (!both) return;
  for (int i = 0; i < block; ++i) hn::StoreU(sum[1][i], d, to + (g.out_w + i) * g.in_c);
}

/// Output positions that one input position reaches along an axis, as pairs of output position and filter position.
struct reach {
  std::ptrdiff_t output, tap;
};

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

/// Gradients of kPixels input pixels from q on; with kCut columns outside the output are left out.
template <int kPixels, bool kCut, class D, class T = hn::TFromD<D>>
HWY_INLINE void GatherPixels(D d, const gathered_row<T>& r, std::ptrdiff_t q, std::ptrdiff_t c) {
  const window_geometry& g = r.g;
  hn::Vec<D> sum[kPixels];
  for (auto& v : sum) v = hn::Zero(d);
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
}

/// Adds to `sum` the products of kPixels output pixels and kHeight rows of the input, `pitch` apart.
template <int kPixels, int kHeight, int kWidth, int kStride, class D, class T = hn::TFromD<D>>
HWY_INLINE void AddProducts(D d, const T* HWY_RESTRICT x, std::ptrdiff_t pitch, const T* HWY_RESTRICT dy,
                            std::ptrdiff_t channels, hn::Vec<D> (&sum)[kHeight][kWidth]) {
  hn::Vec<D> right[kPixels];
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
        sum[ky][kx] = hn::MulAdd(element, right[i], sum[ky][kx]);
      }
    }
  }
}

/// Adds to kHeight filter rows, for one vector of channels, the products of one row of dy and the rows of x under them:
/// x is the first such row. Output pixels `inside` have windows that are not cut by the left or right edge.
template <int kHeight, int kWidth, int kStride, class D, class T = hn::TFromD<D>>
HWY_INLINE void AddFilterRows(D d, const window_geometry& g, std::int64_t inside_low, std::int64_t inside_high,
                              const T* x, const T* dy, T* dw) {
  const std::ptrdiff_t channels = g.in_c, pitch = g.dilation_h * g.in_w * channels;
  hn::Vec<D> sum[kHeight][kWidth];
  for (auto& row : sum) {
    for (auto& v : row) v = hn::Zero(d);
  }
  const auto edge = [&](std::ptrdiff_t ox) HWY_ATTR {
    const auto right = hn::LoadU(d, dy + ox * channels);
#pragma clang loop unroll(full)
    for (int kx = 0; kx < kWidth; ++kx) {
      const std::ptrdiff_t column = ox * kStride - g.pad_left + kx;
      if (column < 0 || column >= g.in_w) continue;
#pragma clang loop unroll(full)
      for (int ky = 0; ky < kHeight; ++ky) {
        sum[ky][kx] = hn::MulAdd(hn::LoadU(d, x + ky * pitch + column * channels), right, sum[ky][kx]);
      }
    }
  };
  std::ptrdiff_t ox = 0;
  for (; ox < inside_low; ++ox) edge(ox);
  for (; ox + 4 <= inside_high; ox += 4) {
    AddProducts<4, kHeight, kWidth, kStride>(d, x + (ox * kStride - g.pad_left) * channels, pitch, dy + ox * channels,
                                             channels, sum);
  }
  for (; ox < g.out_w; ++ox) edge(ox);
  for (int ky = 0; ky < kHeight; ++ky) {
    for (int kx = 0; kx < kWidth; ++kx) {
      T* to = dw + (ky * kWidth + kx) * channels;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sum[ky][kx]), d, to);
    }
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
