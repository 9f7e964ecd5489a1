// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution over vectors of channels. A multiplier above 1 is reduced to 1 by repeating the channels of
// the input: the filter [filter_h, filter_w, in_c, multiplier] is [filter_h, filter_w, out_c] as it lies.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/depthwise.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "kernels/chunks.h"
#include "kernels/depthwise-inl.h"
#include "kernels/depthwise.h"
#include "kernels/scratch.h"
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

/// Elements with every one repeated `multiplier` times.
template <class T>
T* repeat(const T* x, std::int64_t count, std::int64_t multiplier, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to = std::fill_n(to, multiplier, x[i]);
  return to;
}

/// Rows of pixels in pairs, in chunks of about a million products. Chunks follow from the shape alone.
struct row_chunks {
  std::int64_t rows, rows_each, products;
  std::ptrdiff_t count;
  row_chunks(std::int64_t all_rows, std::int64_t products_per_row)
      : rows(all_rows), products(saturated_product(all_rows, products_per_row)) {
    rows_each = (products_worth_threads / std::max<std::int64_t>(products_per_row, 1) + 2) & ~std::int64_t{1};
    count = (rows + rows_each - 1) / rows_each;
  }
  std::ptrdiff_t low(std::ptrdiff_t i) const { return i * rows_each; }
  std::ptrdiff_t high(std::ptrdiff_t i) const { return std::min(rows, low(i + 1)); }
};

std::int64_t input_count(const window_geometry& g) { return g.batch * g.in_h * g.in_w * g.in_c; }
std::int64_t output_count(const window_geometry& g) { return g.batch * g.out_h * g.out_w * g.out_c; }

/// The geometry with the channels of the output on both sides.
window_geometry widened(window_geometry g) {
  g.in_c = g.out_c;
  return g;
}

/// Whether the input with repeated channels is small enough to be written down: with strides most of it may lie under
/// no window.
bool repeats_all(const window_geometry& g) {
  return saturated_product(g.batch, g.in_h, g.in_w, g.out_c) <=
         saturated_product(
             4, saturated_sum(input_count(g), output_count(g), saturated_product(g.filter_h, g.filter_w, g.out_c)));
}

/// The rows of the input under one row of the output, with repeated channels, as an image with a convolution of its
/// own: the filter rows that are inside, without dilation.
template <class T>
struct repeated_rows {
  window_geometry g;
  const T* x;
  std::int64_t weights;  // how far into the filter

  repeated_rows(const window_geometry& all, const T* image, std::int64_t oy, scratch<T>& room) : g(widened(all)) {
    const std::int64_t top = oy * all.stride_h - all.pad_top, row = all.in_w * all.in_c;
    const clipped_axis rows(top, all.filter_h, all.dilation_h, all.in_h);
    g.batch = g.out_h = g.stride_h = g.dilation_h = 1;
    g.pad_top = 0;
    g.in_h = g.filter_h = rows.count();
    weights = rows.low * g.filter_w * g.out_c;
    T* to = room.reach(product_of(rows.count(), g.in_w, g.out_c));
    x = to;
    for (std::int64_t ky = rows.low; ky < rows.high; ++ky) {
      to = repeat(image + (top + ky * all.dilation_h) * row, row, all.out_c / all.in_c, to);
    }
  }
};

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_DEPTHWISE_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// Row oy of the output image y, for the input image x.
template <class T>
pixel_row<T> RowOf(const window_geometry& g, const T* x, const T* w, T* y, std::ptrdiff_t oy) {
  const std::ptrdiff_t top = oy * g.stride_h - g.pad_top;
  return {g, x, w, y + oy * g.out_w * g.in_c, top, clipped_axis(top, g.filter_h, g.dilation_h, g.in_h)};
}

/// Pixels [low, high) of a row, whose windows the edges of the image cut.
template <class T>
void EdgePixels(const pixel_row<T>& r, std::ptrdiff_t low, std::ptrdiff_t high) {
  for (std::ptrdiff_t ox = low; ox < high; ++ox) {
    ForChannels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { EdgePixel(d, r, ox, c); });
  }
}

template <class T>
void ForwardRow(const pixel_row<T>& r, const interior& whole) {
  EdgePixels(r, 0, whole.low);
  std::ptrdiff_t ox = whole.low;
  for (; ox + block <= whole.high; ox += block) {
    ForChannels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { WholePixels<block>(d, r, ox, c); });
  }
  for (; ox < whole.high; ++ox) {
    ForChannels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { WholePixels<1>(d, r, ox, c); });
  }
  EdgePixels(r, whole.high, r.g.out_w);
}

/// Row r and, with `both`, the one under it. The last block of pixels overlaps its neighbour.
template <int kWidth, int kStride, class T>
void ForwardTwoRows(const pixel_row<T>& r, bool both, const interior& whole) {
  for (std::ptrdiff_t next = 0; next < r.g.out_w; next += block) {
    const std::ptrdiff_t ox = std::min<std::ptrdiff_t>(next, r.g.out_w - block);
    if (ox >= whole.low && ox + block <= whole.high) {
      ForChannels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c)
                                   HWY_ATTR { PixelsOfTwoRows<false, kWidth, kStride>(d, r, both, ox, c); });
    } else {
      ForChannels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c)
                                   HWY_ATTR { PixelsOfTwoRows<true, kWidth, kStride>(d, r, both, ox, c); });
    }
  }
}

template <class T>
using two_rows_fn = void (*)(const pixel_row<T>&, bool, const interior&);

/// The way to compute two rows at once, if there is one for the filter.
template <class T>
two_rows_fn<T> TwoRows(const window_geometry& g) {
  if (g.out_w < block || g.dilation_h != 1 || g.dilation_w != 1) return nullptr;
  if (g.filter_w == 3 && g.stride_w == 1) return ForwardTwoRows<3, 1, T>;
  if (g.filter_w == 3 && g.stride_w == 2) return ForwardTwoRows<3, 2, T>;
  if (g.filter_w == 5 && g.stride_w == 1) return ForwardTwoRows<5, 1, T>;
  return nullptr;
}

/// Rows [low, high) of the output, counted through all images, for multiplier 1: g.in_c channels in and out.
template <class T>
void ForwardRows(const window_geometry& g, const T* x, const T* w, T* y, std::ptrdiff_t low, std::ptrdiff_t high) {
  const interior whole(g.out_w, g.in_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  const two_rows_fn<T> two_rows = TwoRows<T>(g);
  for (std::ptrdiff_t row = low; row < high; ++row) {
    const std::ptrdiff_t b = row / g.out_h, oy = row % g.out_h;
    const pixel_row<T> r = RowOf(g, x + b * g.in_h * g.in_w * g.in_c, w, y + b * g.out_h * g.out_w * g.in_c, oy);
    if (two_rows == nullptr) {
      ForwardRow(r, whole);
      continue;
    }
    const bool both = row + 1 < high && oy + 1 < g.out_h;
    two_rows(r, both, whole);
    row += both ? 1 : 0;
  }
}

/// The convolution for multiplier 1.
template <class T>
void Forward(const window_geometry& g, const T* x, const T* w, T* y) {
  if (input_count(g) == 0 || g.filter_h == 0 || g.filter_w == 0) {
    std::fill_n(y, output_count(g), T{0});
    return;
  }
  const row_chunks chunks(g.batch * g.out_h, saturated_product(g.out_w, g.in_c, g.filter_h, g.filter_w));
  run_in_chunks(chunks.count, chunks.products,
                [&](std::ptrdiff_t i) { ForwardRows(g, x, w, y, chunks.low(i), chunks.high(i)); });
}

/// The convolution for a larger multiplier.
template <class T>
void ForwardRepeated(const window_geometry& g, const T* x, const T* w, T* y) {
  if (repeats_all(g)) {
    scratch<T> wide(product_of(input_count(g), g.out_c / g.in_c));
    repeat(x, input_count(g), g.out_c / g.in_c, wide.data());
    Forward(widened(g), wide.data(), w, y);
    return;
  }
  const row_chunks chunks(g.batch * g.out_h, saturated_product(g.out_w, g.out_c, g.filter_h, g.filter_w));
  run_in_chunks(chunks.count, chunks.products, [&](std::ptrdiff_t chunk) {
    scratch<T> room;
    for (std::ptrdiff_t row = chunks.low(chunk); row < chunks.high(chunk); ++row) {
      const repeated_rows<T> r(g, x + row / g.out_h * g.in_h * g.in_w * g.in_c, row % g.out_h, room);
      T* to = y + row * g.out_w * g.out_c;
      if (r.g.in_h > 0) ForwardRows(r.g, r.x, w + r.weights, to, 0, 1);
      else std::fill_n(to, g.out_w * g.out_c, T{0});
    }
  });
}

/// sums[i] = the sum of `multiplier` elements.
template <class T>
void AddUp(const T* from, std::ptrdiff_t count, std::ptrdiff_t multiplier, T* sums) {
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    T sum = 0;
    for (std::ptrdiff_t q = 0; q < multiplier; ++q) sum += *from++;
    sums[i] = sum;
  }
}

/// The gradient for multiplier 1 and stride 1: the convolution of dy with the filter turned round.
template <class T>
void TurnedForward(const window_geometry& forward, const T* dy, const T* w, T* dx) {
  window_geometry g = forward;
  scratch<T> turned(product_of(g.filter_h, g.filter_w, g.in_c));
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

/// The positions of one axis by their remainder modulo the stride, those that a window reaches: which output positions
/// they come from, for position `phase` + q * stride that of q = 0.
using phase_reaches = std::map<std::ptrdiff_t, std::vector<reach>>;

phase_reaches PhaseReaches(std::ptrdiff_t in, std::ptrdiff_t out, std::ptrdiff_t filter, std::ptrdiff_t stride,
                           std::ptrdiff_t dilation, std::ptrdiff_t pad) {
  phase_reaches found;
  for (std::ptrdiff_t k = 0; k < filter; ++k) {
    const std::ptrdiff_t first = k * dilation - pad, phase = (first % stride + stride) % stride;
    const std::ptrdiff_t output = (phase - first) / stride;
    const bool meets = phase < in && output < out && output + (in - 1 - phase) / stride >= 0;
    if (meets) found[phase].push_back({output, k});
  }
  return found;
}

/// Input columns of one phase, `count` of them, in one row.
template <class T>
void GatherRow(const gathered_row<T>& r, std::ptrdiff_t count) {
  std::ptrdiff_t low = 0, high = count;  // q whose columns are all inside the output
  for (const reach& column : r.columns) {
    low = std::max(low, -column.output);
    high = std::min(high, r.g.out_w - column.output);
  }
  low = std::min(low, count);
  const auto edge = [&](std::ptrdiff_t q) HWY_ATTR {
    ForChannels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { GatherPixels<1, true>(d, r, q, c); });
  };
  if (high - low < block) high = low;  // too few for a block
  for (std::ptrdiff_t q = 0; q < low; ++q) edge(q);
  for (std::ptrdiff_t next = low; next < high; next += block) {  // the last block overlaps its neighbour
    const std::ptrdiff_t q = std::min(next, high - block);
    ForChannels<T>(r.g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { GatherPixels<block, false>(d, r, q, c); });
  }
  for (std::ptrdiff_t q = high; q < count; ++q) edge(q);
}

/// The gradient for any stride: every input pixel gathers from the output pixels it reached. Those of equal remainder
/// modulo the stride do so alike. With a multiplier above 1 a row of gradients of out_c channels is gathered first, and
/// added up for each channel of the input.
template <class T>
void GatherGradient(const window_geometry& all, const T* dy, const T* w, T* dx) {
  const window_geometry g = widened(all);
  const std::ptrdiff_t multiplier = all.out_c / all.in_c;
  const phase_reaches row_phases = PhaseReaches(g.in_h, g.out_h, g.filter_h, g.stride_h, g.dilation_h, g.pad_top);
  const phase_reaches column_phases = PhaseReaches(g.in_w, g.out_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  const bool every_column = static_cast<std::ptrdiff_t>(column_phases.size()) == std::min(g.stride_w, g.in_w);
  const row_chunks chunks(g.batch * g.in_h, saturated_product(g.out_w, g.in_c, g.filter_h, g.filter_w) / g.stride_h);
  run_in_chunks(chunks.count, chunks.products, [&](std::ptrdiff_t chunk) {
    std::vector<reach> rows;
    scratch<T> wide;
    if (multiplier > 1) wide.reach(product_of(g.in_w, g.in_c));
    for (std::ptrdiff_t row = chunks.low(chunk); row < chunks.high(chunk); ++row) {
      const std::ptrdiff_t b = row / g.in_h, iy = row % g.in_h;
      rows.clear();
      if (const auto phase = row_phases.find(iy % g.stride_h); phase != row_phases.end()) {
        for (const reach& r : phase->second) {
          const std::ptrdiff_t output = r.output + iy / g.stride_h;
          if (output >= 0 && output < g.out_h) rows.push_back({output, r.tap});
        }
      }
      T* const narrow = dx + row * g.in_w * all.in_c;
      T* const to = multiplier > 1 ? wide.data() : narrow;
      if (rows.empty() || !every_column) std::fill_n(to, g.in_w * g.in_c, T{0});
      for (const auto& [p, columns] : column_phases) {
        if (rows.empty()) break;
        const gathered_row<T> r{g, dy + b * g.out_h * g.out_w * g.in_c, w, to + p * g.in_c, rows, columns};
        GatherRow(r, (g.in_w - p + g.stride_w - 1) / g.stride_w);
      }
      if (multiplier > 1) AddUp(to, g.in_w * all.in_c, multiplier, narrow);
    }
  });
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

/// Adds what one row of dy owes to `count` filter rows from dw on; x is the row of the input under the first of them.
template <class T>
using filter_rows_fn = void (*)(const window_geometry& g, const interior& whole, const T* x, const T* dy, T* dw);

template <class T>
void FilterRow(const window_geometry& g, const interior&, const T* x, const T* dy, T* dw) {
  ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR { AddRowOfProducts(d, g, x + c, dy + c, dw + c); });
}

template <int kHeight, int kWidth, int kStride, class T>
void FilterRows(const window_geometry& g, const interior& whole, const T* x, const T* dy, T* dw) {
  ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    AddFilterRows<kHeight, kWidth, kStride>(d, g, whole.low, whole.high, x + c, dy + c, dw + c);
  });
}

/// The way to add to `height` filter rows at once, if there is one: their sums stay in registers for a row of dy.
template <class T>
filter_rows_fn<T> FilterRowsTogether(const window_geometry& g, std::ptrdiff_t height) {
  if (g.dilation_w == 1 && g.filter_w == 3 && g.stride_w == 1) {
    if (height == 3) return FilterRows<3, 3, 1, T>;
    if (height == 2) return FilterRows<2, 3, 1, T>;
  } else if (g.dilation_w == 1 && g.filter_w == 3 && g.stride_w == 2) {
    if (height == 3) return FilterRows<3, 3, 2, T>;
    if (height == 2) return FilterRows<2, 3, 2, T>;
  } else if (g.dilation_w == 1 && g.filter_w == 5 && g.stride_w == 1) {
    if (height == 2) return FilterRows<2, 5, 1, T>;
  }
  return height == 1 ? FilterRow<T> : nullptr;
}

/// Adds to dw what rows [low, high) of dy owe it, counted through all images.
template <class T>
void AddFilterGradient(const window_geometry& g, const T* x, const T* dy, T* dw, std::ptrdiff_t low,
                       std::ptrdiff_t high) {
  const interior whole(g.out_w, g.in_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  for (std::ptrdiff_t row = low; row < high; ++row) {
    const std::ptrdiff_t b = row / g.out_h, top = row % g.out_h * g.stride_h - g.pad_top;
    const clipped_axis rows(top, g.filter_h, g.dilation_h, g.in_h);
    for (std::ptrdiff_t ky = rows.low; ky < rows.high;) {
      std::ptrdiff_t height = std::min<std::ptrdiff_t>(3, rows.high - ky);
      while (FilterRowsTogether<T>(g, height) == nullptr) --height;
      FilterRowsTogether<T>(g, height)(g, whole, x + (b * g.in_h + top + ky * g.dilation_h) * g.in_w * g.in_c,
                                       dy + row * g.out_w * g.in_c, dw + ky * g.filter_w * g.in_c);
      ky += height;
    }
  }
}

/// The filter's gradient. Chunks of rows have sums of their own, which are added up in their order.
template <class T>
void FilterGradient(const window_geometry& g, const T* x, const T* dy, T* dw) {
  const std::ptrdiff_t size = g.filter_h * g.filter_w * g.out_c, multiplier = g.out_c / g.in_c;
  if (output_count(g) == 0) {
    std::fill_n(dw, size, T{0});
    return;
  }
  scratch<T> room;
  const T* wide = multiplier == 1 ? x : nullptr;
  if (multiplier > 1 && repeats_all(g)) {
    wide = room.reach(product_of(input_count(g), multiplier));
    repeat(x, input_count(g), multiplier, room.data());
  }
  const row_chunks chunks(g.batch * g.out_h, saturated_product(g.out_w, size));
  scratch<T> others(product_of(chunks.count - 1, size));
  run_in_chunks(chunks.count, chunks.products, [&](std::ptrdiff_t i) {
    T* sums = i == 0 ? dw : others.data() + (i - 1) * size;
    std::fill_n(sums, size, T{0});
    if (wide != nullptr) {
      AddFilterGradient(widened(g), wide, dy, sums, chunks.low(i), chunks.high(i));
      return;
    }
    scratch<T> rows;
    for (std::ptrdiff_t row = chunks.low(i); row < chunks.high(i); ++row) {
      const repeated_rows<T> r(g, x + row / g.out_h * g.in_h * g.in_w * g.in_c, row % g.out_h, rows);
      AddFilterGradient(r.g, r.x, dy + row * g.out_w * g.out_c, sums + r.weights, 0, 1);
    }
  });
  for (std::ptrdiff_t i = 0; i + 1 < chunks.count; ++i) {
    const T* other = others.data() + i * size;
    for (std::ptrdiff_t k = 0; k < size; ++k) dw[k] += other[k];
  }
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
    ForwardRepeated(g, x, w, y);
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
  if (g.out_c == 0 || g.in_c == 0) {
    std::fill_n(dx, input_count(g), T{0});
  } else if (g.stride_h != 1 || g.stride_w != 1) {
    GatherGradient(g, dy, w, dx);
  } else if (g.in_c == g.out_c) {
    TurnedForward(g, dy, w, dx);
  } else {
    const std::ptrdiff_t multiplier = g.out_c / g.in_c;
    scratch<T> wide(product_of(input_count(g), multiplier));
    TurnedForward(widened(g), dy, w, wide.data());
    AddUp(wide.data(), input_count(g), multiplier, dx);
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
  if (g.out_c > 0) FilterGradient(g, x, dy, dw);
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
#include "kernels/dispatch.h"

namespace kerngrad::kernels {
#define KG_DISPATCH_DEPTHWISE(Name, type)                                             \
  KG_TARGETS_OF(Name##_##type);                                                       \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    KG_ON_TARGET(Name##_##type)(in, out, geometry);                                   \
  }
KG_DEPTHWISE_KERNELS(KG_DISPATCH_DEPTHWISE)
#undef KG_DISPATCH_DEPTHWISE
}  // namespace kerngrad::kernels
#endif
