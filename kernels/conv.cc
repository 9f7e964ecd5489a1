// SPDX-License-Identifier: Apache-2.0
// Convolution without an im2col matrix: the register tile of gemm-inl.h walks a (zero-padded) image directly, because
// the elements one output pixel needs are a few contiguous runs at the same offsets for every pixel.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <optional>
#include <vector>

#include "kernels/chunks.h"
#include "kernels/conv.h"
#include "kernels/conv_plan.h"
#include "kernels/gemm-inl.h"

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
const T* GatherWindows(const direct_plan<T>& plan, image_view<T> src, std::ptrdiff_t rows,
                       const std::vector<std::ptrdiff_t>& offsets, std::ptrdiff_t row_length) {
  const std::ptrdiff_t length = plan.taps_per_run * plan.src_channels;
  T* windows = scratch_buffer<T>(scratch::gathered, static_cast<std::size_t>(rows * plan.columns * row_length));
  T* row = windows;
  for (std::ptrdiff_t y = 0; y < rows; ++y) {
    for (std::ptrdiff_t x = 0; x < plan.columns; ++x, row += row_length) {
      T* to = row;
      const T* window = src.data + y * plan.row_stride * src.pitch + x * plan.column_stride * plan.src_channels;
      for (const std::ptrdiff_t offset : offsets) to = std::copy_n(window + offset, length, to);
    }
  }
  return windows;
}

/// Computes `rows` rows of output pixels from row `first_row` on; src begins with the frame of the first of them.
template <class T>
void DirectConv(const direct_plan<T>& plan, image_view<T> src, std::ptrdiff_t first_row, std::ptrdiff_t rows, T* dst) {
  std::ptrdiff_t columns = plan.columns;
  const std::ptrdiff_t no_offset = 0, n = plan.dst_channels, row_step = plan.row_stride * src.pitch;
  const std::vector<std::ptrdiff_t> offsets = plan.offsets(src.pitch);
  tile_args<T> tile{};
  tile.runs = static_cast<std::ptrdiff_t>(offsets.size());
  tile.run_length = plan.taps_per_run * plan.src_channels;
  tile.run_offsets = offsets.data();
  tile.a_step = plan.column_stride * plan.src_channels;
  tile.ldc = plan.dst_pixel;
  const T* first = src.data;
  T* to = dst + plan.dst_offset + first_row * plan.dst_row;
  if (plan.dst_row == columns * plan.dst_pixel) {  // the rows of the result are one long row
    const bool narrow = columns <= tile_rows / 2 && rows > 1 && plan.depth() > 0;
    if (narrow && row_step != columns * tile.a_step) {
      tile.run_length = plan.depth();
      tile.a_step = tile.run_length + lanes<T>;
      first = GatherWindows(plan, src, rows, offsets, tile.a_step);
      tile.runs = 1;
      tile.run_offsets = &no_offset;
    }
    if (narrow || row_step == columns * tile.a_step) {
      columns *= rows;
      rows = 1;
    }
  }
  const bool packed = plan.panels != nullptr;
  const tile_kind kind{.strided = true, .narrow = !packed && n % lanes<T> != 0};
  for (std::ptrdiff_t j = 0; j < n; j += tile_columns<T>) {
    tile.columns = std::min(tile_columns<T>, n - j);
    const std::ptrdiff_t whole = whole_vectors<T>(tile.columns);
    tile.ldb = packed ? whole : n;
    tile.b = packed ? plan.panels + j * plan.depth() : plan.taps.front().weights + j;
    const int vectors = static_cast<int>(whole / lanes<T>);
    for (std::ptrdiff_t y = 0; y < rows; ++y) {
      for_even_parts(columns, most_tile_rows(vectors), [&](std::ptrdiff_t x, std::ptrdiff_t pixels) {
        tile.a = first + y * row_step + x * tile.a_step;
        tile.c = to + y * plan.dst_row + x * plan.dst_pixel + j;
        gemm_tile(static_cast<int>(pixels), vectors, kind, tile);
      });
    }
  }
}

/// The geometry of an unpadded 1x1 convolution with stride 1 as that of one tall image.
window_geometry Flattened(window_geometry g) {
  const bool pointwise = g.filter_h == 1 && g.filter_w == 1 && g.stride_h == 1 && g.stride_w == 1 && g.pad_top == 0 &&
                         g.pad_left == 0 && g.out_h == g.in_h && g.out_w == g.in_w;
  if (pointwise) {
    g.in_h = g.out_h = g.batch * g.in_h;
    g.batch = 1;
  }
  return g;
}

/// The part of the input that the windows of output rows [first, first + rows) touch.
frame InputFrame(const window_geometry& g, std::ptrdiff_t first, std::ptrdiff_t rows) {
  return {g.pad_top - first * g.stride_h, g.pad_left, (rows - 1) * g.stride_h + (g.filter_h - 1) * g.dilation_h + 1,
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
  const std::ptrdiff_t pixels = g.batch * g.out_h * g.out_w;
  std::optional<shared_scratch<T>> panels;
  if (pixels > 5 * tile_rows || (!loads_parts && g.out_c % lanes<T> != 0)) {  // few pixels are not worth packing
    panels.emplace(scratch::packed_b, static_cast<std::size_t>(plan.depth() * whole_vectors<T>(g.out_c)));
    plan.panels = panels->data();
    PackFilter(plan, false);
  }
  const image_chunks chunks(g.batch, g.out_h, g.out_w * g.out_c * plan.depth(), any_number);
  run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
    chunks.visit(chunk, [&](image_rows part) {
      const image_view<T> src = framed(x + part.image * g.in_h * g.in_w * g.in_c, g.in_h, g.in_w, g.in_c,
                                       InputFrame(g, part.first, part.rows));
      DirectConv(plan, src, part.first, part.rows, y + part.image * g.out_h * g.out_w * g.out_c);
    });
  });
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

  std::ptrdiff_t count() const { return static_cast<std::ptrdiff_t>(phases.size()); }

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

/// to[i * step] += from[i]
template <class T>
void AddAtSteps(const T* HWY_RESTRICT from, std::ptrdiff_t count, T* HWY_RESTRICT to, std::ptrdiff_t step) {
  const hn::ScalableTag<T> d;
  std::ptrdiff_t i = 0;
  for (; step == 1 && i + lanes<T> <= count; i += lanes<T>) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
  }
  for (; i < count; ++i) to[i * step] += from[i];
}

/// The products of one row of output pixels with every element of the filter: [filter element, out_w rounded up].
template <class T>
const T* RowProducts(const window_geometry& g, const T* dy, const T* w, std::ptrdiff_t width) {
  const std::ptrdiff_t elements = g.filter_h * g.filter_w * g.in_c, no_offset = 0;
  T* panels = scratch_buffer<T>(scratch::gathered, static_cast<std::size_t>(g.out_c * width));
  T* products = scratch_buffer<T>(scratch::gradient, static_cast<std::size_t>(elements * width));
  tile_args<T> tile{};
  tile.a_step = tile.run_length = g.out_c;
  tile.ldc = width;
  tile.runs = 1;
  tile.run_offsets = &no_offset;
  for (std::ptrdiff_t j = 0; j < g.out_w; j += tile_columns<T>) {
    const std::ptrdiff_t pixels = std::min(tile_columns<T>, g.out_w - j);
    T* panel = panels + j * g.out_c;
    tile.columns = tile.ldb = whole_vectors<T>(pixels);
    PackTransposed(dy + j * g.out_c, g.out_c, pixels, g.out_c, panel, tile.ldb);
    ClearColumns(panel, g.out_c, pixels, tile.ldb);
    tile.b = panel;
    const int vectors = static_cast<int>(tile.ldb / lanes<T>);
    for_even_parts(elements, most_tile_rows(vectors), [&](std::ptrdiff_t i, std::ptrdiff_t rows) {
      tile.a = w + i * g.out_c;
      tile.c = products + i * width + j;
      gemm_tile(static_cast<int>(rows), vectors, {.strided = true, .narrow = false}, tile);
    });
  }
  return products;
}

/// The gradient of one image of few channels, whose vectors would be almost empty: the products of each row of output
/// pixels, vectors of pixels, are added to the pixels under their windows, one filter element after the other.
template <class T>
void ScatterInputGradient(const window_geometry& g, const T* dy, const T* w, T* dx) {
  const std::ptrdiff_t width = whole_vectors<T>(g.out_w);
  std::fill_n(dx, g.in_h * g.in_w * g.in_c, T{0});
  for (std::ptrdiff_t oy = 0; oy < g.out_h; ++oy) {
    const T* products = RowProducts(g, dy + oy * g.out_w * g.out_c, w, width);
    const std::ptrdiff_t top = oy * g.stride_h - g.pad_top;
    const clipped_axis rows(top, g.filter_h, g.dilation_h, g.in_h);
    for (std::ptrdiff_t ky = rows.low; ky < rows.high; ++ky) {
      T* row = dx + (top + ky * g.dilation_h) * g.in_w * g.in_c;
      for (std::ptrdiff_t kx = 0; kx < g.filter_w; ++kx) {
        const std::ptrdiff_t left = kx * g.dilation_w - g.pad_left;  // input column under output column 0
        const clipped_axis columns(left, g.out_w, g.stride_w, g.in_w);
        for (std::ptrdiff_t c = 0; c < g.in_c && columns.count() > 0; ++c) {
          AddAtSteps(products + ((ky * g.filter_w + kx) * g.in_c + c) * width + columns.low, columns.count(),
                     row + (left + columns.low * g.stride_w) * g.in_c + c, g.stride_w * g.in_c);
        }
      }
    }
  }
}

/// Conv2DBackpropInput. The input pixels of equal remainder modulo the strides are a convolution of dy with stride 1
/// and the filter turned round, so that every sum is formed in registers, whatever strides and dilations; gradients
/// of few channels are scattered instead. Numerics as for Conv2D with k = filter_h * filter_w * out_c. Reference:
/// kernels/reference/conv.cc.
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
  if (2 * g.in_c * whole_vectors<T>(g.out_w) <= g.out_w * whole_vectors<T>(g.in_c)) {
    const image_chunks chunks(g.batch, 1, g.out_h * g.out_w * g.out_c * g.filter_h * g.filter_w * g.in_c, any_number);
    run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
      chunks.visit(chunk, [&](image_rows part) {
        ScatterInputGradient(g, dy + part.image * g.out_h * g.out_w * g.out_c, w,
                             dx + part.image * g.in_h * g.in_w * g.in_c);
      });
    });
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
  const shared_scratch<T> packed(scratch::packed_b, static_cast<std::size_t>(depth * whole_vectors<T>(g.in_c)));
  T* panels = packed.data();
  for (direct_plan<T>& plan : plans) {
    plan.panels = panels;
    PackFilter(plan, true);
    panels += plan.depth() * whole_vectors<T>(g.in_c);
  }
  const std::ptrdiff_t all = rows.phases.front().count;  // rows of the first phase, which has the most
  const image_chunks chunks(g.batch, all, g.in_w * g.in_c * depth / columns.count(), any_number);
  run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
    chunks.visit(chunk, [&](image_rows part) {
      const frame span{-rows.first - part.first, -columns.first, rows.end - rows.first - (all - part.rows),
                       columns.end - columns.first};
      const image_view<T> src = framed(dy + part.image * g.out_h * g.out_w * g.out_c, g.out_h, g.out_w, g.out_c, span);
      for (const direct_plan<T>& plan : plans) {
        const std::ptrdiff_t count = std::min(plan.rows - part.first, part.rows);
        if (count > 0) DirectConv(plan, src, part.first, count, dx + part.image * g.in_h * g.in_w * g.in_c);
      }
    });
  });
}

/// Rows of dy with whole vectors of channels: itself where it has them, else a copy with zeros.
template <class T>
const T* PaddedGradient(const window_geometry& g, const T* dy, std::ptrdiff_t rows) {
  const std::ptrdiff_t padded = whole_vectors<T>(g.out_c), pixels = rows * g.out_w;
  if (padded == g.out_c) return dy;
  T* copy = scratch_buffer<T>(scratch::gradient, static_cast<std::size_t>(pixels * padded));
  PackRows(dy, g.out_c, pixels, g.out_c, copy, padded);
  return copy;
}

/// Adds the share of `count` output rows to dw; src begins with the frame of the first of them, dy with their gradient.
template <class T>
void FilterGradientRows(const window_geometry& g, image_view<T> src, const T* dy, std::ptrdiff_t count, bool accumulate,
                        T* dw) {
  const bool joined = g.dilation_w == 1;  // the elements of a filter row follow each other in the image
  const std::ptrdiff_t steps = joined ? 1 : g.filter_w, height = joined ? g.filter_w * g.in_c : g.in_c;
  std::vector<std::ptrdiff_t> offsets;
  for (std::ptrdiff_t y = 0; y < count; ++y) offsets.push_back(y * g.stride_h * src.pitch);
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
    tile.b = dy + j;
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
/// registers and over the blocks in dw. Chunks have sums of their own, which are added up in their order. |error| <= k
/// * eps * sum |x * dy| with k = batch * out_h * out_w. Padding takes part as zeros. Reference:
/// kernels/reference/conv.cc.
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
  const std::ptrdiff_t most_chunks = std::clamp<std::ptrdiff_t>(g.batch * g.out_h * g.out_w / 512, 1, 8);
  const image_chunks chunks(g.batch, g.out_h, g.out_w * total, most_chunks);
  std::vector<T> others(static_cast<std::size_t>((chunks.count() - 1) * total));
  run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
    T* sums = chunk == 0 ? dw : others.data() + (chunk - 1) * total;
    bool accumulate = false;
    chunks.visit(chunk, [&](image_rows part) {
      const image_view<T> src = framed(x + part.image * g.in_h * g.in_w * g.in_c, g.in_h, g.in_w, g.in_c,
                                       InputFrame(g, part.first, part.rows));
      const std::ptrdiff_t dy_row = g.out_w * whole_vectors<T>(g.out_c);
      const T* gradient = PaddedGradient(g, dy + (part.image * g.out_h + part.first) * g.out_w * g.out_c, part.rows);
      for_even_parts(part.rows, std::max<std::ptrdiff_t>(1, block_pixels / g.out_w),
                     [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
                       const image_view<T> rows{src.data + begin * g.stride_h * src.pitch, src.pitch};
                       FilterGradientRows(g, rows, gradient + begin * dy_row, count, accumulate, sums);
                       accumulate = true;
                     });
    });
  });
  for (auto other = others.begin(); other != others.end(); other += total) {
    for (std::ptrdiff_t i = 0; i < total; ++i) dw[i] += other[i];
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
