// SPDX-License-Identifier: Apache-2.0
// The depthwise convolution for a multiplier of 1, by register blocks of neighbouring pixels for one vector of
// channels. Private to kernels/; included once per target. However a pixel is reached, its sum runs over the taps row
// by row, so that blocks may be cut and overlapped freely.
#if defined(KERNGRAD_KERNELS_DEPTHWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_DEPTHWISE_INL_H_
#undef KERNGRAD_KERNELS_DEPTHWISE_INL_H_
#else
#define KERNGRAD_KERNELS_DEPTHWISE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "kernels/window/depthwise_plan.h"
#include "kernels/common/each_thread.h"
#include "kernels/common/scratch.h"
#include "kernels/common/target-inl.h"
#include "kernels/common/vectors-inl.h"
#include "kernels/window/window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Pixels of a row whose sums are in registers together, and how many serve the end of a row. Two rows of them, the
// factors of two filter rows and an element fit into the 32 registers that many targets have, or the 16 of older x86.
#if KG_MANY_REGISTERS
inline constexpr int block = 8, short_block = 4;
#else
inline constexpr int block = 4, short_block = 4;
#endif

/// Hides from the compiler what a value is made of. It would compute the address of each element of a block by a
/// product of its own, which takes longer than the block.
template <class V>
HWY_INLINE void hide(V& value) {
  asm("" : "+r"(value));
}

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
HWY_INLINE void edge_pixel(D d, const pixel_row<T>& r, std::ptrdiff_t ox, std::ptrdiff_t c) {
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
HWY_INLINE void whole_pixels(D d, const pixel_row<T>& r, std::ptrdiff_t ox, std::ptrdiff_t c) {
  const window_geometry& g = r.g;
  const std::ptrdiff_t pixel = g.stride_w * g.in_c;
  with_vectors<kPixels>(d, [&](auto sum) KG_INLINED {
    for (std::ptrdiff_t ky = r.rows.low; ky < r.rows.high; ++ky) {
      const T* from = r.input(ky) + (ox * g.stride_w - g.pad_left) * g.in_c + c;
      const T* weight = r.weights(ky) + c;
      for (std::ptrdiff_t kx = 0; kx < g.filter_w; ++kx, from += g.dilation_w * g.in_c, weight += g.in_c) {
        const auto factor = hn::LoadU(d, weight);
        for (int i = 0; i < kPixels; ++i) sum[i] = hn::MulAdd(hn::LoadU(d, from + i * pixel), factor, sum[i]);
      }
    }
    for (int i = 0; i < kPixels; ++i) hn::StoreU(sum[i], d, r.y + (ox + i) * g.in_c + c);
  });
}

/// The filter in the order in which blocks read it: for a vector of L channels from c on, tap t is at taps * c + t * L.
template <class T>
class packed_filter {
 public:
  /// Packs it, unless it has been.
  void pack(const window_geometry& g, const T* w) {
    if (taps_ != 0) return;
    taps_ = g.filter_h * g.filter_w;
    T* to = room_.reach(product_of(taps_, g.in_c));
    for_channels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
      for (std::ptrdiff_t tap = 0; tap < taps_; ++tap, to += hn::Lanes(d)) {
        hn::StoreU(hn::LoadU(d, w + tap * g.in_c + c), d, to);
      }
    });
  }
  const T* at(std::ptrdiff_t c) { return room_.data() + taps_ * c; }

 private:
  std::ptrdiff_t taps_ = 0;
  scratch<T> room_;
};

/// An image, its result and the filter in its own order, with the filter in that of blocks.
template <class T>
struct image_job {
  const window_geometry& g;
  const T* x;
  const T* w;
  T* y;
  packed_filter<T>& packed;
  const interior& whole;
};

/// A block of pixels of row oy and, with `both`, of the one under it: what is the same for all its channels.
template <class T>
struct pixel_block {
  const T* x;  // under the first pixel, in the row of the upper window's first tap
  T *upper, *lower;
  std::ptrdiff_t channels, pitch;
  std::ptrdiff_t top, bottom, left, right;  // rows and columns under the windows that are inside the image

  pixel_block(const image_job<T>& of, std::ptrdiff_t oy, bool both, std::ptrdiff_t ox)
      : channels(of.g.in_c), pitch(of.g.in_w * channels) {
    const window_geometry& g = of.g;
    top = g.pad_top - oy * g.stride_h;
    left = g.pad_left - ox * g.stride_w;
    bottom = std::min(g.in_h + top, g.filter_h + (both ? g.stride_h : 0));
    right = g.in_w + left;
    x = of.x - (top * g.in_w + left) * channels;
    upper = of.y + (oy * g.out_w + ox) * channels;
    lower = both ? upper + g.out_w * channels : nullptr;
  }
};

/// Adds to two rows of sums what row kRow under their windows owes them. Each element is loaded once for all its
/// windows. kCut: of the columns that the first or the last window alone sees, some may be outside the image.
template <bool kCut, int kRow, int kPixels, int kSize, int kStride, class D, class T = hn::TFromD<D>>
HWY_INLINE void add_input_row(D d, const pixel_block<T>& b, std::ptrdiff_t channels, const T* HWY_RESTRICT from,
                              const T* HWY_RESTRICT w, vectors<hn::Vec<D>, kPixels> upper,
                              vectors<hn::Vec<D>, kPixels> lower) {
  constexpr bool in_upper = kRow < kSize, in_lower = kRow >= kStride;
  constexpr int columns = (kPixels - 1) * kStride + kSize;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  with_vectors<2 * kSize>(d, [&](auto factors) KG_INLINED {
    const auto of_upper = factors.template row<kSize>(0), of_lower = factors.template row<kSize>(1);
    for (int kx = 0; kx < kSize; ++kx) {
      if constexpr (in_upper) of_upper[kx] = hn::LoadU(d, w + (kRow * kSize + kx) * lanes);
      if constexpr (in_lower) of_lower[kx] = hn::LoadU(d, w + ((kRow - kStride) * kSize + kx) * lanes);
    }
#pragma clang loop unroll(full)
    for (int column = 0; column < columns; ++column) {
      if (kCut && column < kSize - 1 && column < b.left) continue;
      if (kCut && column > columns - kSize && column >= b.right) continue;
      const auto element = hn::LoadU(d, from + column * channels);
#pragma clang loop unroll(full)
      for (int kx = 0; kx < kSize; ++kx) {
        const int i = (column - kx) / kStride;
        if (column < kx || (column - kx) % kStride != 0 || i >= kPixels) continue;
        if constexpr (in_upper) upper[i] = hn::MulAdd(element, of_upper[kx], upper[i]);
        if constexpr (in_lower) lower[i] = hn::MulAdd(element, of_lower[kx], lower[i]);
      }
    }
  });
}

/// kPixels neighbouring pixels of two rows for one vector of channels from c on, for a filter of kSize x kSize without
/// dilation whose weights for them are at w. There is no loop and hardly a branch in it: with either, a block takes
/// twice the time. kCut: the left or right edge of the image may cut the windows.
template <bool kCut, int kPixels, int kSize, int kStride, class D, class T = hn::TFromD<D>>
HWY_INLINE void pixels_of_two_rows(D d, const pixel_block<T>& b, std::ptrdiff_t channels, const T* w,
                                   std::ptrdiff_t c) {
  with_vectors<2 * kPixels>(d, [&](auto sums) KG_INLINED {
    const auto upper = sums.template row<kPixels>(0), lower = sums.template row<kPixels>(1);
    const T* from = b.x + c;
    [&]<int... kRow>(std::integer_sequence<int, kRow...>) KG_INLINED {
      (
          [&]() KG_INLINED {
            hide(from);
            if (kRow >= b.top && kRow < b.bottom) {
              add_input_row<kCut, kRow, kPixels, kSize, kStride>(d, b, channels, from, w, upper, lower);
            }
            from += b.pitch;
          }(),
          ...);
    }(std::make_integer_sequence<int, kSize + kStride>());
    T* to = b.upper + c;
    hide(to);
    for (int i = 0; i < kPixels; ++i) hn::StoreU(upper[i], d, to + i * channels);
    if (b.lower == nullptr) return;
    to = b.lower + c;
    hide(to);
    for (int i = 0; i < kPixels; ++i) hn::StoreU(lower[i], d, to + i * channels);
  });
}

/// Row oy of the output image y, for the input image x.
template <class T>
pixel_row<T> row_of(const window_geometry& g, const T* x, const T* w, T* y, std::ptrdiff_t oy) {
  const std::ptrdiff_t top = oy * g.stride_h - g.pad_top;
  return {g, x, w, y + oy * g.out_w * g.in_c, top, rows_inside(g, top)};
}

/// Pixels [low, high) of a row, whose windows the edges of the image cut.
template <class T>
void edge_pixels(const pixel_row<T>& r, std::ptrdiff_t low, std::ptrdiff_t high) {
  for (std::ptrdiff_t ox = low; ox < high; ++ox) {
    for_channels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { edge_pixel(d, r, ox, c); });
  }
}

template <class T>
void forward_row(const pixel_row<T>& r, const interior& whole) {
  edge_pixels(r, 0, whole.low);
  std::ptrdiff_t ox = whole.low;
  for (; ox + short_block <= whole.high; ox += short_block) {
    for_channels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { whole_pixels<short_block>(d, r, ox, c); });
  }
  for (; ox < whole.high; ++ox) {
    for_channels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { whole_pixels<1>(d, r, ox, c); });
  }
  edge_pixels(r, whole.high, r.g.out_w);
}

/// kPixels pixels from ox on of row oy and, with `both`, of the one under it.
template <int kPixels, int kSize, int kStride, class T>
HWY_INLINE void block_of_two_rows(const image_job<T>& of, std::ptrdiff_t oy, bool both, std::ptrdiff_t ox) {
  constexpr int columns = (kPixels - 1) * kStride + kSize;
  const pixel_block<T> b(of, oy, both, ox);
  if (b.left >= kSize || b.right <= columns - kSize) {  // windows without any pixel: padding wider than it need be
    for (std::ptrdiff_t row = oy; row <= oy + both; ++row)
      edge_pixels(row_of(of.g, of.x, of.w, of.y, row), ox, ox + kPixels);
    return;
  }
  std::ptrdiff_t channels = b.channels;
  hide(channels);
  const auto run = [&](auto cut) HWY_ATTR {
    for_channels<T>(channels, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
      // The remaining channels are not worth code for either case.
      constexpr bool is_rest = hn::MaxLanes(decltype(d)()) < hn::MaxLanes(hn::ScalableTag<T>());
      pixels_of_two_rows<cut() || is_rest, kPixels, kSize, kStride>(d, b, channels, of.packed.at(c), c);
    });
  };
  if (ox >= of.whole.low && ox + kPixels <= of.whole.high) run(std::false_type());
  else run(std::true_type());
}

/// Pixels [begin, end) of row oy and, with `both`, of the one under it. The last block may overlap its neighbour.
template <int kSize, int kStride, class T>
void forward_two_rows(const image_job<T>& of, std::ptrdiff_t oy, bool both, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const std::ptrdiff_t width = of.g.out_w;
  for (std::ptrdiff_t ox = begin; ox < end;) {
    const bool is_short = width < block || end - ox <= short_block;
    const std::ptrdiff_t pixels = is_short ? short_block : block, at = std::min(ox, width - pixels);
    if (is_short) block_of_two_rows<short_block, kSize, kStride>(of, oy, both, at);
    else block_of_two_rows<block, kSize, kStride>(of, oy, both, at);
    ox += pixels;
  }
}

template <class T>
using two_rows_fn = void (*)(const image_job<T>&, std::ptrdiff_t, bool, std::ptrdiff_t, std::ptrdiff_t);

/// The way to compute two rows at once, if there is one for the filter.
template <class T>
two_rows_fn<T> two_rows_way(const window_geometry& g) {
  const bool is_square = g.filter_h == g.filter_w && g.stride_h == g.stride_w;
  if (!is_square || g.out_w < short_block || g.dilation_h != 1 || g.dilation_w != 1) return nullptr;
  if (g.filter_w == 3 && g.stride_w == 1) return forward_two_rows<3, 1, T>;
  if (g.filter_w == 3 && g.stride_w == 2) return forward_two_rows<3, 2, T>;
  if (g.filter_w == 5 && g.stride_w == 1) return forward_two_rows<5, 1, T>;
  return nullptr;
}

/// How many pixels of two rows have their input in half of a first-level cache, so that the next two rows find it
/// there: whole blocks.
template <class T>
std::ptrdiff_t strip_pixels(const window_geometry& g) {
  constexpr std::int64_t half_of_cache = 16 << 10;
  const std::int64_t bytes = saturated_product(saturated_sum(g.filter_h, g.stride_h), g.stride_w, g.in_c,
                                               static_cast<std::int64_t>(sizeof(T)));
  return std::max<std::ptrdiff_t>(1, half_of_cache / bytes / block) * block;
}

/// Rows [low, high) of the output, counted through all images, for multiplier 1: g.in_c channels in and out. `packed`
/// is this thread's.
template <class T>
void forward_rows(const window_geometry& g, const T* x, const T* w, T* y, std::ptrdiff_t low, std::ptrdiff_t high,
                  packed_filter<T>& packed) {
  const interior whole(g.out_w, g.in_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  const std::ptrdiff_t image_in = g.in_h * g.in_w * g.in_c, image_out = g.out_h * g.out_w * g.in_c;
  const two_rows_fn<T> two_rows = two_rows_way<T>(g);
  if (two_rows == nullptr) {
    for_rows_of_images(low, high, g.out_h, [&](std::ptrdiff_t image, std::ptrdiff_t oy, std::ptrdiff_t) {
      forward_row(row_of(g, x + image * image_in, w, y + image * image_out, oy), whole);
      return 1;
    });
    return;
  }
  packed.pack(g, w);
  const std::ptrdiff_t strip = strip_pixels<T>(g);
  for (std::ptrdiff_t begin = 0; begin < g.out_w; begin += strip) {
    const std::ptrdiff_t end = std::min(g.out_w, begin + strip);
    for_rows_of_images(low, high, g.out_h, [&](std::ptrdiff_t image, std::ptrdiff_t oy, std::ptrdiff_t most) {
      const bool both = most > 1;
      two_rows({g, x + image * image_in, w, y + image * image_out, packed, whole}, oy, both, begin, end);
      return both ? 2 : 1;
    });
  }
}

/// The convolution for multiplier 1.
template <class T>
void depthwise_forward(const window_geometry& g, const T* x, const T* w, T* y) {
  if (input_count(g) == 0 || g.filter_h == 0 || g.filter_w == 0) {
    std::fill_n(y, output_count(g), T{0});
    return;
  }
  const pixel_row_chunks chunks(g.batch * g.out_h, saturated_product(g.out_w, g.in_c, g.filter_h, g.filter_w));
  of_each_thread<packed_filter<T>> packed;
  run_in_chunks(chunks.count, chunks.products,
                [&](std::ptrdiff_t i) { forward_rows(g, x, w, y, chunks.low(i), chunks.high(i), packed.mine()); });
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
