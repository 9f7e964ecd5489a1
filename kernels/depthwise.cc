// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution over vectors of channels. A multiplier above 1 is reduced to 1 by repeating the channels of
// the input: the filter [filter_h, filter_w, in_c, multiplier] is [filter_h, filter_w, out_c] as it lies.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/depthwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "kernels/depthwise.h"
#include "kernels/window-inl.h"

#ifndef KERNGRAD_KERNELS_DEPTHWISE_COMMON
#define KERNGRAD_KERNELS_DEPTHWISE_COMMON
namespace kerngrad::kernels {
namespace {

/// Output positions [low, high) of one axis whose windows lie wholly inside the image.
struct interior {
  std::int64_t low, high;
  interior(std::int64_t out, std::int64_t in, std::int64_t filter, std::int64_t stride, std::int64_t dilation,
           std::int64_t pad) {
    const std::int64_t last_start = in - 1 - (filter - 1) * dilation + pad;  // of a window inside, pad added
    low = std::clamp<std::int64_t>(pad > 0 ? (pad + stride - 1) / stride : 0, 0, out);
    high = std::clamp<std::int64_t>(last_start < 0 ? 0 : last_start / stride + 1, low, out);
  }
};

/// The input with every channel repeated `multiplier` times.
template <class T>
std::vector<T> repeated(const T* x, std::int64_t count, std::int64_t multiplier) {
  std::vector<T> wide(static_cast<std::size_t>(count * multiplier));
  T* to = wide.data();
  for (std::int64_t i = 0; i < count; ++i) to = std::fill_n(to, multiplier, x[i]);
  return wide;
}

std::int64_t input_count(const window_geometry& g) { return g.batch * g.in_h * g.in_w * g.in_c; }

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_DEPTHWISE_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

inline constexpr int block = 4;  // pixels whose sums are in registers together

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

/// kPixels neighbouring pixels whose windows are not cut.
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

/// The same for three neighbouring columns with stride 1: each element is loaded once for all its windows.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void WholePixelsOfThree(D d, const pixel_row<T>& r, std::ptrdiff_t ox, std::ptrdiff_t c) {
  const std::ptrdiff_t channels = r.g.in_c;
  hn::Vec<D> sum[block];
  for (auto& v : sum) v = hn::Zero(d);
  for (std::ptrdiff_t ky = r.rows.low; ky < r.rows.high; ++ky) {
    const T* from = r.input(ky) + (ox - r.g.pad_left) * channels + c;
    const T* weight = r.weights(ky) + c;
    hn::Vec<D> factor[3];
    for (int k = 0; k < 3; ++k) factor[k] = hn::LoadU(d, weight + k * channels);
#pragma clang loop unroll(full)
    for (int i = 0; i < block + 2; ++i) {
      const auto element = hn::LoadU(d, from + i * channels);
#pragma clang loop unroll(full)
      for (int k = 0; k < 3; ++k) {
        if (i - k >= 0 && i - k < block) sum[i - k] = hn::MulAdd(element, factor[k], sum[i - k]);
      }
    }
  }
  for (int i = 0; i < block; ++i) hn::StoreU(sum[i], d, r.y + (ox + i) * channels + c);
}

template <class T>
void ForwardRow(const pixel_row<T>& r, const interior& whole) {
  const window_geometry& g = r.g;
  const auto edge = [&](std::ptrdiff_t ox) HWY_ATTR {
    ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { EdgePixel(d, r, ox, c); });
  };
  std::ptrdiff_t ox = 0;
  for (; ox < whole.low; ++ox) edge(ox);
  const bool three = g.filter_w == 3 && g.stride_w == 1 && g.dilation_w == 1;
  for (; ox + block <= whole.high; ox += block) {
    if (three) {
      ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { WholePixelsOfThree(d, r, ox, c); });
    } else {
      ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { WholePixels<block>(d, r, ox, c); });
    }
  }
  for (; ox < whole.high; ++ox) {
    ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { WholePixels<1>(d, r, ox, c); });
  }
  for (; ox < g.out_w; ++ox) edge(ox);
}

/// The convolution for multiplier 1: g.in_c channels in and out.
template <class T>
void Forward(const window_geometry& g, const T* x, const T* w, T* y) {
  if (input_count(g) * g.filter_h * g.filter_w == 0) {
    std::fill_n(y, g.batch * g.out_h * g.out_w * g.in_c, T{0});
    return;
  }
  const interior whole(g.out_w, g.in_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    const T* image = x + b * g.in_h * g.in_w * g.in_c;
    for (std::ptrdiff_t oy = 0; oy < g.out_h; ++oy) {
      T* row = y + (b * g.out_h + oy) * g.out_w * g.in_c;
      const std::ptrdiff_t top = oy * g.stride_h - g.pad_top;
      const clipped_axis rows(top, g.filter_h, g.dilation_h, g.in_h);
      ForwardRow(pixel_row<T>{g, image, w, row, top, rows}, whole);
    }
  }
}

/// The gradient for multiplier 1 and stride 1: the convolution of dy with the filter turned round.
template <class T>
void TurnedForward(const window_geometry& forward, const T* dy, const T* w, T* dx) {
  window_geometry g = forward;
  std::vector<T> turned(static_cast<std::size_t>(g.filter_h * g.filter_w * g.in_c));
  T* to = turned.data();
  for (std::ptrdiff_t tap = g.filter_h * g.filter_w - 1; tap >= 0; --tap) {
    to = std::copy_n(w + tap * g.in_c, g.in_c, to);
  }
  std::swap(g.in_h, g.out_h);
  std::swap(g.in_w, g.out_w);
  g.pad_top = (g.filter_h - 1) * g.dilation_h - g.pad_top;
  g.pad_left = (g.filter_w - 1) * g.dilation_w - g.pad_left;
  Forward(g, dy, turned.data(), dx);
}

/// Output positions that one input position reaches along an axis, as pairs of output position and filter position.
struct reach {
  std::ptrdiff_t output, tap;
};
void FindReach(std::vector<reach>& found, std::ptrdiff_t position, std::ptrdiff_t out, std::ptrdiff_t filter,
               std::ptrdiff_t stride, std::ptrdiff_t dilation, std::ptrdiff_t pad) {
  found.clear();
  for (std::ptrdiff_t k = 0; k < filter; ++k) {
    const std::ptrdiff_t distance = position + pad - k * dilation;
    if (distance < 0 || distance % stride != 0 || distance / stride >= out) continue;
    found.push_back({distance / stride, k});
  }
}

/// The gradient for multiplier 1 and any stride: every input pixel gathers from the output pixels it reached.
template <class T>
void GatherGradient(const window_geometry& g, const T* dy, const T* w, T* dx) {
  std::vector<reach> rows, columns;
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    for (std::ptrdiff_t iy = 0; iy < g.in_h; ++iy) {
      FindReach(rows, iy, g.out_h, g.filter_h, g.stride_h, g.dilation_h, g.pad_top);
      for (std::ptrdiff_t ix = 0; ix < g.in_w; ++ix) {
        FindReach(columns, ix, g.out_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
        T* to = dx + ((b * g.in_h + iy) * g.in_w + ix) * g.in_c;
        ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
          auto sum = hn::Zero(d);
          for (const reach& row : rows) {
            for (const reach& column : columns) {
              const T* from = dy + ((b * g.out_h + row.output) * g.out_w + column.output) * g.in_c + c;
              const T* weight = w + (row.tap * g.filter_w + column.tap) * g.in_c + c;
              sum = hn::MulAdd(hn::LoadU(d, from), hn::LoadU(d, weight), sum);
            }
          }
          hn::StoreU(sum, d, to + c);
        });
      }
    }
  }
}

/// Adds to dw[kx] the products of one row of x and one row of dy. Sums of a row are formed in four registers.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void AddRowOfProducts(D d, const window_geometry& g, const T* x, const T* dy, T* dw) {
  using V = hn::Vec<D>;
  for (std::ptrdiff_t kx = 0; kx < g.filter_w; ++kx, dw += g.in_c) {
    const std::ptrdiff_t start = kx * g.dilation_w - g.pad_left;  // input column of output column 0
    const clipped_axis inside(start, g.out_w, g.stride_w, g.in_w);
    if (inside.count() == 0) continue;
    const T* left = x + (start + inside.low * g.stride_w) * g.in_c;
    const T* right = dy + inside.low * g.in_c;
    V sum[4];
    for (V& v : sum) v = hn::Zero(d);
    std::ptrdiff_t i = 0;
    const std::ptrdiff_t count = inside.count(), pixel = g.stride_w * g.in_c;
    for (; i + 4 <= count; i += 4) {
      for (int q = 0; q < 4; ++q) {
        sum[q] = hn::MulAdd(hn::LoadU(d, left + (i + q) * pixel), hn::LoadU(d, right + (i + q) * g.in_c), sum[q]);
      }
    }
    for (; i < count; ++i) {
      sum[0] = hn::MulAdd(hn::LoadU(d, left + i * pixel), hn::LoadU(d, right + i * g.in_c), sum[0]);
    }
    const V row = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
    hn::StoreU(hn::Add(hn::LoadU(d, dw), row), d, dw);
  }
}

template <class T>
void FilterGradient(const window_geometry& g, const T* x, const T* dy, T* dw) {
  std::fill_n(dw, g.filter_h * g.filter_w * g.in_c, T{0});
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    for (std::ptrdiff_t oy = 0; oy < g.out_h; ++oy) {
      const std::ptrdiff_t top = oy * g.stride_h - g.pad_top;
      const clipped_axis rows(top, g.filter_h, g.dilation_h, g.in_h);
      const T* gradient = dy + (b * g.out_h + oy) * g.out_w * g.in_c;
      for (std::ptrdiff_t ky = rows.low; ky < rows.high; ++ky) {
        const T* row = x + (b * g.in_h + top + ky * g.dilation_h) * g.in_w * g.in_c;
        ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
          AddRowOfProducts(d, g, row + c, gradient + c, dw + ky * g.filter_w * g.in_c + c);
        });
      }
    }
  }
}

/// The geometry with the channels of the output on both sides.
window_geometry Widened(window_geometry g) {
  g.in_c = g.out_c;
  return g;
}

/// DepthwiseConv2dNative. Sums in the type itself by fused multiply-add where the target has it, taps row by row,
/// padding left out; |error| <= k * eps * sum |x * w| with k = filter_h * filter_w.
/// Reference: kernels/reference/depthwise.cc.
template <class T>
void DepthwiseConv2dNative(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  if (g.in_c == g.out_c) {
    Forward(g, x, w, y);
  } else if (g.out_c > 0) {
    Forward(Widened(g), repeated(x, input_count(g), g.out_c / g.in_c).data(), w, y);
  }
}

/// DepthwiseConv2dNativeBackpropInput. Numerics as for the convolution with k = filter_h * filter_w * multiplier.
/// Reference: kernels/reference/depthwise.cc.
template <class T>
void DepthwiseConv2dNativeBackpropInput(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* dx = static_cast<T*>(out[0]);
  const auto gradient = g.stride_h == 1 && g.stride_w == 1 ? TurnedForward<T> : GatherGradient<T>;
  if (g.in_c == g.out_c) {
    gradient(g, dy, w, dx);
    return;
  }
  const std::ptrdiff_t multiplier = g.in_c == 0 ? 0 : g.out_c / g.in_c;
  std::vector<T> wide(static_cast<std::size_t>(input_count(g) * multiplier));
  if (!wide.empty()) gradient(Widened(g), dy, w, wide.data());
  for (std::ptrdiff_t i = 0; i < input_count(g); ++i) {
    T sum = 0;
    for (std::ptrdiff_t q = 0; q < multiplier; ++q) sum += wide[static_cast<std::size_t>(i * multiplier + q)];
    dx[i] = sum;
  }
}

/// DepthwiseConv2dNativeBackpropFilter: sums of a row of pixels, added up row after row.
/// |error| <= k * eps * sum |x * dy| with k = batch * out_h * out_w. Reference: kernels/reference/depthwise.cc.
template <class T>
void DepthwiseConv2dNativeBackpropFilter(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const T* dy = static_cast<const T*>(in[1]);
  T* dw = static_cast<T*>(out[0]);
  if (g.in_c == g.out_c) {
    FilterGradient(g, x, dy, dw);
  } else if (g.out_c > 0) {
    FilterGradient(Widened(g), repeated(x, input_count(g), g.out_c / g.in_c).data(), dy, dw);
  }
}

}  // namespace

#define KG_DEFINE_DEPTHWISE(Name, type)                                               \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_DEPTHWISE_KERNELS(KG_DEFINE_DEPTHWISE)
#undef KG_DEFINE_DEPTHWISE

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {
#define KG_DISPATCH_DEPTHWISE(Name, type)                                             \
  HWY_EXPORT(Name##_##type);                                                          \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    HWY_DYNAMIC_DISPATCH(Name##_##type)(in, out, geometry);                           \
  }
KG_DEPTHWISE_KERNELS(KG_DISPATCH_DEPTHWISE)
#undef KG_DISPATCH_DEPTHWISE
}  // namespace kerngrad::kernels
#endif
