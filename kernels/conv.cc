// SPDX-License-Identifier: Apache-2.0
// Convolution without an im2col matrix: the register tile of gemm-inl.h walks a (zero-padded) image directly, because
// the elements one output pixel needs are a few contiguous runs at the same offsets for every pixel.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <vector>

#include "kernels/conv.h"
#include "kernels/gemm-inl.h"

#ifndef KERNGRAD_KERNELS_CONV_COMMON
#define KERNGRAD_KERNELS_CONV_COMMON
namespace kerngrad::kernels {
namespace {

// An image [rows, columns, channels]; `pitch` elements from row to row.
template <class T>
struct image_view {
  const T* data;
  std::ptrdiff_t pitch;
};

/// The window of an image that a kernel walks: starts `top` rows above and `left` columns before the image.
struct frame {
  std::ptrdiff_t top, left, rows, columns;
};

/// The frame of an image in memory: the image itself where it holds the frame, else a copy with zeros around it.
template <class T>
image_view<T> framed(const T* image, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t channels, frame f) {
  if (f.top <= 0 && f.left <= 0 && f.rows - f.top <= rows && f.columns - f.left <= columns) {
    return {image + (-f.top * columns - f.left) * channels, columns * channels};
  }
  const std::ptrdiff_t pitch = f.columns * channels;
  T* copy = scratch_buffer<T>(scratch::image, static_cast<std::size_t>(f.rows * pitch));
  const std::ptrdiff_t begin = std::clamp<std::ptrdiff_t>(f.left, 0, f.columns);
  const std::ptrdiff_t end = std::clamp<std::ptrdiff_t>(f.left + columns, begin, f.columns);
  for (std::ptrdiff_t y = 0; y < f.rows; ++y) {
    T* row = copy + y * pitch;
    const std::ptrdiff_t source = y - f.top;
    if (source < 0 || source >= rows || begin == end) {
      std::fill_n(row, pitch, T{0});
      continue;
    }
    std::fill_n(row, begin * channels, T{0});
    std::copy_n(image + (source * columns + begin - f.left) * channels, (end - begin) * channels,
                row + begin * channels);
    std::fill_n(row + end * channels, pitch - end * channels, T{0});
  }
  return {copy, pitch};
}

/// One position of the filter: how far its elements lie from the first element of the window, and its weights.
template <class T>
struct filter_tap {
  std::ptrdiff_t row, column;
  const T* weights;  // [in_c, out_c]
};

/// A direct convolution over one image: which taps, which output pixels, and the filter packed for the tiles.
template <class T>
struct direct_plan {
  std::ptrdiff_t rows = 0, columns = 0;                       // output pixels
  std::ptrdiff_t row_stride = 1, column_stride = 1;           // in pixels of the frame
  std::ptrdiff_t dst_offset = 0, dst_row = 0, dst_pixel = 0;  // in elements
  std::ptrdiff_t src_channels = 0, dst_channels = 0;
  std::vector<filter_tap<T>> taps;
  std::ptrdiff_t taps_per_run = 1;  // taps that follow each other without a gap in the frame
  std::vector<std::ptrdiff_t> offsets;
  T* panels = nullptr;

  std::ptrdiff_t depth() const { return static_cast<std::ptrdiff_t>(taps.size()) * src_channels; }
  // The taps of a filter row, `per_row` of them and `gap` columns apart, make one run when nothing lies between.
  void find_runs(std::ptrdiff_t per_row, std::ptrdiff_t gap) { taps_per_run = gap == 1 && per_row > 1 ? per_row : 1; }
  void find_offsets(std::ptrdiff_t pitch) {
    offsets.clear();
    for (std::size_t t = 0; t < taps.size(); t += static_cast<std::size_t>(taps_per_run)) {
      offsets.push_back(taps[t].row * pitch + taps[t].column * src_channels);
    }
  }
};

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_CONV_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// Packs the weights of the taps into panels of tile_columns. `swap` turns [in_c, out_c] round for the gradient.
template <class T>
void PackFilter(const direct_plan<T>& plan, bool swap) {
  const std::ptrdiff_t k = plan.src_channels, n = plan.dst_channels;
  for (std::ptrdiff_t j = 0; j < n; j += tile_columns<T>) {
    const std::ptrdiff_t width = std::min(tile_columns<T>, n - j), padded = whole_vectors<T>(width);
    T* panel = plan.panels + j * plan.depth();
    for (const filter_tap<T>& tap : plan.taps) {
      if (swap) {
        PackTransposed(tap.weights + j * k, k, width, k, panel, padded);
        ClearColumns(panel, k, width, padded);
      } else {
        PackRows(tap.weights + j, n, k, width, panel, padded);
      }
      panel += k * padded;
    }
  }
}

/// The windows of a whole image as rows of a matrix, for images so narrow that tiles along a row would be wasted. Rows
/// are a vector longer than need be, lest those of a power of two all fall into one cache set.
template <class T>
const T* GatherWindows(const direct_plan<T>& plan, image_view<T> src, std::ptrdiff_t row_length) {
  const std::ptrdiff_t length = plan.taps_per_run * plan.src_channels;
  T* windows = scratch_buffer<T>(scratch::gathered, static_cast<std::size_t>(plan.rows * plan.columns * row_length));
  T* row = windows;
  for (std::ptrdiff_t y = 0; y < plan.rows; ++y) {
    for (std::ptrdiff_t x = 0; x < plan.columns; ++x, row += row_length) {
      T* to = row;
      const T* window = src.data + y * plan.row_stride * src.pitch + x * plan.column_stride * plan.src_channels;
      for (const std::ptrdiff_t offset : plan.offsets) to = std::copy_n(window + offset, length, to);
    }
  }
  return windows;
}

template <class T>
void DirectConv(const direct_plan<T>& plan, image_view<T> src, T* dst) {
  std::ptrdiff_t rows = plan.rows, columns = plan.columns, row_step = plan.row_stride * src.pitch;
  const std::ptrdiff_t no_offset = 0, n = plan.dst_channels;
  tile_args<T> tile{};
  tile.runs = static_cast<std::ptrdiff_t>(plan.offsets.size());
  tile.run_length = plan.taps_per_run * plan.src_channels;
  tile.run_offsets = plan.offsets.data();
  tile.a_step = plan.column_stride * plan.src_channels;
  tile.ldc = plan.dst_pixel;
  const T* first = src.data;
  if (columns <= tile_rows / 2 && rows > 1 && plan.depth() > 0 && plan.dst_row == columns * plan.dst_pixel) {
    tile.run_length = plan.depth();
    tile.a_step = tile.run_length + lanes<T>;
    first = GatherWindows(plan, src, tile.a_step);
    tile.runs = 1;
    tile.run_offsets = &no_offset;
    columns *= rows;
    rows = 1;
  }
  for (std::ptrdiff_t j = 0; j < n; j += tile_columns<T>) {
    tile.columns = std::min(tile_columns<T>, n - j);
    tile.ldb = whole_vectors<T>(tile.columns);
    tile.b = plan.panels + j * plan.depth();
    const int vectors = static_cast<int>(tile.ldb / lanes<T>);
    for (std::ptrdiff_t y = 0; y < rows; ++y) {
      for_even_parts(columns, tile_rows, [&](std::ptrdiff_t x, std::ptrdiff_t pixels) {
        tile.a = first + y * row_step + x * tile.a_step;
        tile.c = dst + plan.dst_offset + y * plan.dst_row + x * plan.dst_pixel + j;
        gemm_tile(static_cast<int>(pixels), vectors, {.strided = true, .narrow = false}, tile);
      });
    }
  }
}

/// The geometry of an unpadded 1x1 convolution with stride 1 as one long row of pixels.
window_geometry Flattened(window_geometry g) {
  const bool pointwise = g.filter_h == 1 && g.filter_w == 1 && g.stride_h == 1 && g.stride_w == 1 && g.pad_top == 0 &&
                         g.pad_left == 0 && g.out_h == g.in_h && g.out_w == g.in_w;
  if (pointwise) {
    g.in_w = g.out_w = g.batch * g.in_h * g.in_w;
    g.batch = g.in_h = g.out_h = 1;
  }
  return g;
}

/// The part of the input that the windows touch.
frame InputFrame(const window_geometry& g) {
  return {g.pad_top, g.pad_left, (g.out_h - 1) * g.stride_h + (g.filter_h - 1) * g.dilation_h + 1,
          (g.out_w - 1) * g.stride_w + (g.filter_w - 1) * g.dilation_w + 1};
}

/// Conv2D. Sums in the type itself by fused multiply-add where the target has it, over the taps row by row, in an order
/// given by shape and target alone; |error| <= k * eps * sum |x * w| with k = filter_h * filter_w * in_c. Padding takes
/// part as zeros: an infinite weight on padding gives NaN. Reference: kernels/reference/conv.cc.
template <class T>
void Conv2D(const void* const* in, void* const* out, const void* geometry) {
  const window_geometry g = Flattened(*static_cast<const window_geometry*>(geometry));
  const T* x = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  const std::ptrdiff_t total = g.batch * g.out_h * g.out_w * g.out_c;
  if (total == 0) return;
  if (g.filter_h * g.filter_w * g.in_c * g.in_h * g.in_w == 0) {
    std::fill_n(y, total, T{0});
    return;
  }
  direct_plan<T> plan;
  plan.rows = g.out_h;
  plan.columns = g.out_w;
  plan.row_stride = g.stride_h;
  plan.column_stride = g.stride_w;
  plan.dst_row = g.out_w * g.out_c;
  plan.dst_pixel = plan.dst_channels = g.out_c;
  plan.src_channels = g.in_c;
  for (std::ptrdiff_t ky = 0; ky < g.filter_h; ++ky) {
    for (std::ptrdiff_t kx = 0; kx < g.filter_w; ++kx) {
      plan.taps.push_back({ky * g.dilation_h, kx * g.dilation_w, w + (ky * g.filter_w + kx) * g.in_c * g.out_c});
    }
  }
  plan.find_runs(g.filter_w, g.dilation_w);
  plan.panels =
      scratch_buffer<T>(scratch::packed_b, static_cast<std::size_t>(plan.depth() * whole_vectors<T>(g.out_c)));
  PackFilter(plan, false);
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    const image_view<T> src = framed(x + b * g.in_h * g.in_w * g.in_c, g.in_h, g.in_w, g.in_c, InputFrame(g));
    plan.find_offsets(src.pitch);
    DirectConv(plan, src, y + b * g.out_h * g.out_w * g.out_c);
  }
}

/// Taps along one axis that reach input position `phase` + q * stride, in order of the output position they come from:
/// output position q + shift[i] through filter position tap[i].
struct phase_axis {
  std::vector<std::ptrdiff_t> shift, tap;
  std::ptrdiff_t count = 0;  // how many q there are

  phase_axis(std::ptrdiff_t phase, std::ptrdiff_t in, std::ptrdiff_t filter, std::ptrdiff_t stride,
             std::ptrdiff_t dilation, std::ptrdiff_t pad)
      : count((in - phase + stride - 1) / stride) {
    for (std::ptrdiff_t k = filter - 1; k >= 0; --k) {
      const std::ptrdiff_t distance = phase + pad - k * dilation;
      if (distance % stride != 0) continue;
      shift.push_back(distance / stride);
      tap.push_back(k);
    }
  }
  std::ptrdiff_t gap() const { return shift.size() > 1 ? shift[1] - shift[0] : 1; }
};

/// All phases of one axis, and the span of output positions they read.
struct phase_set {
  std::vector<phase_axis> phases;
  std::ptrdiff_t first = 0, end = 0;

  phase_set(std::ptrdiff_t in, std::ptrdiff_t filter, std::ptrdiff_t stride, std::ptrdiff_t dilation,
            std::ptrdiff_t pad) {
    bool any = false;
    for (std::ptrdiff_t p = 0; p < std::min(stride, in); ++p) {
      const phase_axis& axis = phases.emplace_back(p, in, filter, stride, dilation, pad);
      if (axis.shift.empty()) continue;
      first = any ? std::min(first, axis.shift.front()) : axis.shift.front();
      end = any ? std::max(end, axis.shift.back() + axis.count) : axis.shift.back() + axis.count;
      any = true;
    }
  }
};

/// The plan of input rows py + q * stride_h and columns px + r * stride_w.
template <class T>
direct_plan<T> PhasePlan(const window_geometry& g, const T* w, const phase_set& all_rows, const phase_set& all_columns,
                         std::ptrdiff_t py, std::ptrdiff_t px) {
  const phase_axis& rows = all_rows.phases[static_cast<std::size_t>(py)];
  const phase_axis& columns = all_columns.phases[static_cast<std::size_t>(px)];
  direct_plan<T> plan;
  plan.rows = rows.count;
  plan.columns = columns.count;
  plan.dst_offset = (py * g.in_w + px) * g.in_c;
  plan.dst_row = g.stride_h * g.in_w * g.in_c;
  plan.dst_pixel = g.stride_w * g.in_c;
  plan.src_channels = g.out_c;
  plan.dst_channels = g.in_c;
  for (std::size_t i = 0; i < rows.tap.size(); ++i) {
    for (std::size_t j = 0; j < columns.tap.size(); ++j) {
      plan.taps.push_back({rows.shift[i] - all_rows.first, columns.shift[j] - all_columns.first,
                           w + (rows.tap[i] * g.filter_w + columns.tap[j]) * g.in_c * g.out_c});
    }
  }
  plan.find_runs(static_cast<std::ptrdiff_t>(columns.tap.size()), columns.gap());
  return plan;
}

/// Conv2DBackpropInput. The input pixels of equal remainder modulo the strides are a convolution of dy with stride 1
/// and the filter turned round, so that every sum is formed in registers, whatever strides and dilations. Numerics as
/// for Conv2D with k = filter_h * filter_w * out_c. Reference: kernels/reference/conv.cc.
template <class T>
void Conv2DBackpropInput(const void* const* in, void* const* out, const void* geometry) {
  const window_geometry g = Flattened(*static_cast<const window_geometry*>(geometry));
  const T* dy = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* dx = static_cast<T*>(out[0]);
  const std::ptrdiff_t total = g.batch * g.in_h * g.in_w * g.in_c;
  if (total == 0) return;
  if (g.filter_h * g.filter_w * g.out_c * g.out_h * g.out_w == 0) {
    std::fill_n(dx, total, T{0});
    return;
  }
  const phase_set rows(g.in_h, g.filter_h, g.stride_h, g.dilation_h, g.pad_top);
  const phase_set columns(g.in_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  std::vector<direct_plan<T>> plans;
  std::ptrdiff_t depth = 0;
  for (std::size_t py = 0; py < rows.phases.size(); ++py) {
    for (std::size_t px = 0; px < columns.phases.size(); ++px) {
      plans.push_back(PhasePlan(g, w, rows, columns, static_cast<std::ptrdiff_t>(py), static_cast<std::ptrdiff_t>(px)));
      depth += plans.back().depth();
    }
  }
  T* panels = scratch_buffer<T>(scratch::packed_b, static_cast<std::size_t>(depth * whole_vectors<T>(g.in_c)));
  for (direct_plan<T>& plan : plans) {
    plan.panels = panels;
    PackFilter(plan, true);
    panels += plan.depth() * whole_vectors<T>(g.in_c);
  }
  const frame span{-rows.first, -columns.first, rows.end - rows.first, columns.end - columns.first};
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    const image_view<T> src = framed(dy + b * g.out_h * g.out_w * g.out_c, g.out_h, g.out_w, g.out_c, span);
    for (direct_plan<T>& plan : plans) {
      plan.find_offsets(src.pitch);
      DirectConv(plan, src, dx + b * g.in_h * g.in_w * g.in_c);
    }
  }
}

/// dy of one image with whole vectors of channels: itself where it has them, else a copy with zeros.
template <class T>
const T* PaddedGradient(const window_geometry& g, const T* dy) {
  const std::ptrdiff_t padded = whole_vectors<T>(g.out_c), pixels = g.out_h * g.out_w;
  if (padded == g.out_c) return dy;
  T* copy = scratch_buffer<T>(scratch::gradient, static_cast<std::size_t>(pixels * padded));
  PackRows(dy, g.out_c, pixels, g.out_c, copy, padded);
  return copy;
}

/// Adds the share of output rows [begin, begin + count) of one image to dw.
template <class T>
void FilterGradientRows(const window_geometry& g, image_view<T> src, const T* dy, std::ptrdiff_t begin,
                        std::ptrdiff_t count, bool accumulate, T* dw) {
  const bool joined = g.dilation_w == 1;  // the elements of a filter row follow each other in the image
  const std::ptrdiff_t steps = joined ? 1 : g.filter_w, height = joined ? g.filter_w * g.in_c : g.in_c;
  std::vector<std::ptrdiff_t> offsets;
  for (std::ptrdiff_t y = begin; y < begin + count; ++y) offsets.push_back(y * g.stride_h * src.pitch);
  tile_args<T> tile{};
  tile.a_step = g.stride_w * g.in_c;
  tile.ldb = whole_vectors<T>(g.out_c);
  tile.ldc = g.out_c;
  tile.runs = count;
  tile.run_length = g.out_w;
  tile.run_offsets = offsets.data();
  tile.accumulate = accumulate;
  for (std::ptrdiff_t j = 0; j < g.out_c; j += tile_columns<T>) {
    tile.columns = std::min(tile_columns<T>, g.out_c - j);
    tile.b = dy + begin * g.out_w * tile.ldb + j;
    const int vectors = static_cast<int>(whole_vectors<T>(tile.columns) / lanes<T>);
    for (std::ptrdiff_t tap = 0; tap < g.filter_h * steps; ++tap) {
      const std::ptrdiff_t ky = tap / steps, kx = tap % steps;
      const T* first = src.data + ky * g.dilation_h * src.pitch + kx * g.dilation_w * g.in_c;
      for_even_parts(height, tile_rows, [&](std::ptrdiff_t i, std::ptrdiff_t rows) {
        tile.a = first + i;
        tile.c = dw + (tap * height + i) * g.out_c + j;
        gemm_tile(static_cast<int>(rows), vectors, {.strided = false, .narrow = false}, tile);
      });
    }
  }
}

/// Conv2DBackpropFilter: a product of the transposed windows and dy, summed over blocks of about 256 pixels in
/// registers and over the blocks in dw. |error| <= k * eps * sum |x * dy| with k = batch * out_h * out_w. Padding takes
/// part as zeros. Reference: kernels/reference/conv.cc.
template <class T>
void Conv2DBackpropFilter(const void* const* in, void* const* out, const void* geometry) {
  constexpr std::ptrdiff_t block_pixels = 256;
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const T* dy = static_cast<const T*>(in[1]);
  T* dw = static_cast<T*>(out[0]);
  const std::ptrdiff_t total = g.filter_h * g.filter_w * g.in_c * g.out_c;
  if (total == 0) return;
  if (g.batch * g.out_h * g.out_w * g.in_h * g.in_w == 0) {
    std::fill_n(dw, total, T{0});
    return;
  }
  bool accumulate = false;
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    const image_view<T> src = framed(x + b * g.in_h * g.in_w * g.in_c, g.in_h, g.in_w, g.in_c, InputFrame(g));
    const T* gradient = PaddedGradient(g, dy + b * g.out_h * g.out_w * g.out_c);
    for_even_parts(g.out_h, std::max<std::ptrdiff_t>(1, block_pixels / g.out_w),
                   [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
                     FilterGradientRows(g, src, gradient, begin, count, accumulate, dw);
                     accumulate = true;
                   });
  }
}

}  // namespace

#define KG_DEFINE_CONV(Name, type)                                                    \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_CONV_KERNELS(KG_DEFINE_CONV)
#undef KG_DEFINE_CONV

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {
#define KG_DISPATCH_CONV(Name, type)                                                  \
  HWY_EXPORT(Name##_##type);                                                          \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    HWY_DYNAMIC_DISPATCH(Name##_##type)(in, out, geometry);                           \
  }
KG_CONV_KERNELS(KG_DISPATCH_CONV)
#undef KG_DISPATCH_CONV
}  // namespace kerngrad::kernels
#endif
