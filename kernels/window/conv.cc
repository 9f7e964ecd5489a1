// SPDX-License-Identifier: Apache-2.0
// Convolution without an im2col matrix: the register tile of gemm-inl.h walks a (zero-padded) image directly, because
// the elements one output pixel needs are a few contiguous runs at the same offsets for every pixel.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/window/conv.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <map>
#include <vector>

#include "kernels/common/chunks.h"
#include "kernels/window/conv-inl.h"
#include "kernels/window/conv.h"
#include "kernels/window/conv_plan.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// The geometry of an unpadded 1x1 convolution with stride 1 as that of one tall image.
window_geometry flattened(window_geometry g) {
  const bool pointwise = g.filter_h == 1 && g.filter_w == 1 && g.stride_h == 1 && g.stride_w == 1 && g.pad_top == 0 &&
                         g.pad_left == 0 && g.out_h == g.in_h && g.out_w == g.in_w;
  if (pointwise) {
    g.in_h = g.out_h = g.batch * g.in_h;
    g.batch = 1;
  }
  return g;
}

/// The taps of a filter, from the image's side.
struct window_axes {
  tap_axis down, right;
  explicit window_axes(const window_geometry& g)
      : down(tap_axis::of_filter(g.out_h, g.in_h, g.filter_h, g.stride_h, g.dilation_h, g.pad_top)),
        right(tap_axis::of_filter(g.out_w, g.in_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left)) {}
  bool meet() const { return down.taps() > 0 && right.taps() > 0; }
};

/// Conv2D. Sums in the type itself by fused multiply-add where the target has it, over the taps row by row, in an order
/// given by shape and target alone; |error| <= k * eps * sum |x * w| with k = filter_h * filter_w * in_c. Padding takes
/// no part, whatever the weights that it meets. Reference: kernels/window/reference_conv.cc.
template <class T>
void Conv2D(const void* const* in, void* const* out, const void* geometry) {
  const window_geometry g = flattened(*static_cast<const window_geometry*>(geometry));
  const T* x = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  const std::ptrdiff_t pixels = g.batch * g.out_h * g.out_w, total = pixels * g.out_c;
  if (total == 0) return;
  const window_axes axes(g);
  if (!axes.meet() || g.in_c == 0) {
    std::fill_n(y, total, T{0});
    return;
  }
  conv_job<T> job{.src = x,
                  .images = g.batch,
                  .src_rows = g.in_h,
                  .src_columns = g.in_w,
                  .src_channels = g.in_c,
                  .dst = y,
                  .dst_size = g.out_h * g.out_w * g.out_c,
                  .dst_channels = g.out_c,
                  .w = w,
                  .filter_h = g.filter_h,
                  .filter_w = g.filter_w,
                  .swap = false,
                  // Few pixels are not worth packing.
                  .keep_flat = pixels <= 5 * tile_rows && (loads_parts || g.out_c % lanes<T>() == 0),
                  .covered = true};
  job.lattices.push_back({axes.down, axes.right, 0, g.out_w * g.out_c, g.out_c});
  run_conv(job);
}

/// The positions of one axis of the input by their remainder modulo the stride: those of one remainder, `phase` +
/// q * stride, are a convolution of dy with stride 1. Remainders that no tap reaches are skipped.
struct phase_axes {
  std::vector<std::ptrdiff_t> phases{};
  std::vector<tap_axis> axes{};
  bool complete;

  phase_axes(std::ptrdiff_t in, std::ptrdiff_t out, std::ptrdiff_t filter, std::ptrdiff_t stride,
             std::ptrdiff_t dilation, std::ptrdiff_t pad) {
    std::map<std::ptrdiff_t, tap_axis> found;
    for (std::ptrdiff_t k = filter - 1; k >= 0; --k) {  // in order of the output position
      const std::ptrdiff_t first = k * dilation - pad, phase = (first % stride + stride) % stride;
      if (phase >= in) continue;
      tap_axis& axis = found.try_emplace(phase, tap_axis{(in - phase + stride - 1) / stride, 1, out}).first->second;
      axis.add((phase - first) / stride, k);
    }
    for (auto& [phase, axis] : found) {
      if (axis.taps() == 0) continue;
      phases.push_back(phase);
      axes.push_back(std::move(axis));
    }
    complete = static_cast<std::ptrdiff_t>(phases.size()) == std::min(stride, in);
  }
};

/// to[i * step] += from[i]
template <class T>
void add_at_steps(const T* HWY_RESTRICT from, std::ptrdiff_t count, T* HWY_RESTRICT to, std::ptrdiff_t step) {
  const hn::ScalableTag<T> d;
  std::ptrdiff_t i = 0;
  for (; step == 1 && i + lanes<T>() <= count; i += lanes<T>()) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, from + i)), d, to + i);
  }
  for (; i < count; ++i) to[i * step] += from[i];
}

template <class T>
struct product_rooms {
  scratch<T> panels, products;
};

/// The products of one row of output pixels with every element of the filter: [filter element, out_w rounded up].
template <class T>
const T* row_products(const window_geometry& g, const T* dy, const T* w, std::ptrdiff_t width,
                      product_rooms<T>& rooms) {
  const std::ptrdiff_t elements = g.filter_h * g.filter_w * g.in_c, no_offset = 0;
  T* panels = rooms.panels.reach(product_of(g.out_c, width));
  T* products = rooms.products.reach(product_of(elements, width));
  tile_args<T> tile{};
  tile.a_step = tile.run_length = g.out_c;
  tile.ldc = width;
  tile.runs = 1;
  tile.run_offsets = &no_offset;
  for (std::ptrdiff_t j = 0; j < g.out_w; j += tile_columns<T>()) {
    const std::ptrdiff_t pixels = std::min(tile_columns<T>(), g.out_w - j);
    T* panel = panels + j * g.out_c;
    tile.columns = tile.ldb = whole_vectors<T>(pixels);
    pack_transposed(dy + j * g.out_c, g.out_c, pixels, g.out_c, panel, tile.ldb);
    clear_columns(panel, g.out_c, pixels, tile.ldb);
    tile.b = panel;
    const int vectors = static_cast<int>(tile.ldb / lanes<T>());
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
void scatter_input_gradient(const window_geometry& g, const T* dy, const T* w, T* dx, product_rooms<T>& rooms) {
  const std::ptrdiff_t width = whole_vectors<T>(g.out_w);
  std::fill_n(dx, g.in_h * g.in_w * g.in_c, T{0});
  for (std::ptrdiff_t oy = 0; oy < g.out_h; ++oy) {
    const T* products = row_products(g, dy + oy * g.out_w * g.out_c, w, width, rooms);
    const std::ptrdiff_t top = oy * g.stride_h - g.pad_top;
    const clipped_axis rows(top, g.filter_h, g.dilation_h, g.in_h);
    for (std::ptrdiff_t ky = rows.low; ky < rows.high; ++ky) {
      T* row = dx + (top + ky * g.dilation_h) * g.in_w * g.in_c;
      for (std::ptrdiff_t kx = 0; kx < g.filter_w; ++kx) {
        const std::ptrdiff_t left = kx * g.dilation_w - g.pad_left;  // input column under output column 0
        const clipped_axis columns(left, g.out_w, g.stride_w, g.in_w);
        for (std::ptrdiff_t c = 0; c < g.in_c && columns.count() > 0; ++c) {
          add_at_steps(products + ((ky * g.filter_w + kx) * g.in_c + c) * width + columns.low, columns.count(),
                       row + (left + columns.low * g.stride_w) * g.in_c + c, g.stride_w * g.in_c);
        }
      }
    }
  }
}

/// Conv2DBackpropInput. The input pixels of equal remainder modulo the strides are a convolution of dy with stride 1
/// and the filter reversed, so that every sum is formed in registers, whatever strides and dilations; gradients
/// of few channels are scattered instead. Numerics as for Conv2D with k = filter_h * filter_w * out_c. Reference:
/// kernels/window/reference_conv.cc.
template <class T>
void Conv2DBackpropInput(const void* const* in, void* const* out, const void* geometry) {
  const window_geometry g = flattened(*static_cast<const window_geometry*>(geometry));
  const T* dy = static_cast<const T*>(in[0]);
  const T* w = static_cast<const T*>(in[1]);
  T* dx = static_cast<T*>(out[0]);
  const std::ptrdiff_t total = g.batch * g.in_h * g.in_w * g.in_c;
  if (total == 0) return;
  const phase_axes rows(g.in_h, g.out_h, g.filter_h, g.stride_h, g.dilation_h, g.pad_top);
  const phase_axes columns(g.in_w, g.out_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  if (g.out_c == 0 || rows.axes.empty() || columns.axes.empty()) {
    std::fill_n(dx, total, T{0});
    return;
  }
  if (2 * g.in_c * whole_vectors<T>(g.out_w) <= g.out_w * whole_vectors<T>(g.in_c)) {
    const image_chunks chunks(g.batch, 1, saturated_product(g.out_h, g.out_w, g.out_c, g.filter_h, g.filter_w, g.in_c),
                              any_number);
    run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
      product_rooms<T> rooms;
      chunks.visit(chunk, [&](image_rows part) {
        scatter_input_gradient(g, dy + part.image * g.out_h * g.out_w * g.out_c, w,
                               dx + part.image * g.in_h * g.in_w * g.in_c, rooms);
      });
    });
    return;
  }
  conv_job<T> job{.src = dy,
                  .images = g.batch,
                  .src_rows = g.out_h,
                  .src_columns = g.out_w,
                  .src_channels = g.out_c,
                  .dst = dx,
                  .dst_size = g.in_h * g.in_w * g.in_c,
                  .dst_channels = g.in_c,
                  .w = w,
                  .filter_h = g.filter_h,
                  .filter_w = g.filter_w,
                  .swap = true,
                  .keep_flat = false,
                  .covered = rows.complete && columns.complete};
  for (std::size_t i = 0; i < rows.axes.size(); ++i) {
    for (std::size_t j = 0; j < columns.axes.size(); ++j) {
      job.lattices.push_back({rows.axes[i], columns.axes[j], (rows.phases[i] * g.in_w + columns.phases[j]) * g.in_c,
                              g.stride_h * g.in_w * g.in_c, g.stride_w * g.in_c});
    }
  }
  run_conv(job);
}

/// Rows of dy with whole vectors of channels: itself where it has them, else a copy with zeros.
template <class T>
const T* padded_gradient(const window_geometry& g, const T* dy, std::ptrdiff_t rows, scratch<T>& room) {
  const std::ptrdiff_t padded = whole_vectors<T>(g.out_c), pixels = rows * g.out_w;
  if (padded == g.out_c) return dy;
  T* copy = room.reach(product_of(pixels, padded));
  pack_rows(dy, g.out_c, pixels, g.out_c, copy, padded);
  return copy;
}

/// Adds to `height` rows of a filter's gradient from dw on the products of the elements from `a` on, pixel after pixel
/// of each run, and the rows of dy from `b` on; `tile` has the runs.
template <class T>
void add_tap_gradient(tile_args<T> tile, const T* a, const T* b, std::ptrdiff_t height, std::ptrdiff_t out_c, T* dw) {
  tile.ldb = whole_vectors<T>(out_c);
  tile.ldc = out_c;
  for (std::ptrdiff_t j = 0; j < out_c; j += tile_columns<T>()) {
    tile.columns = std::min(tile_columns<T>(), out_c - j);
    tile.b = b + j;
    const int vectors = static_cast<int>(whole_vectors<T>(tile.columns) / lanes<T>());
    for_even_parts(height, tile_rows, [&](std::ptrdiff_t i, std::ptrdiff_t rows) {
      tile.a = a + i;
      tile.c = dw + i * out_c + j;
      gemm_tile(static_cast<int>(rows), vectors, {.strided = false, .narrow = false}, tile);
    });
  }
}

/// Adds the share of `count` output rows to dw; src begins with the frame of the first of them, dy with their gradient.
template <class T>
void filter_gradient_rows(const window_geometry& g, const window_axes& axes, image_view<T> src, const T* dy,
                          std::ptrdiff_t count, bool accumulate, T* dw) {
  const tap_axis &down = axes.down, &right = axes.right;
  const bool joined = right.joins(0, right.taps());  // the elements of a filter row follow each other in the image
  const std::ptrdiff_t steps = joined ? 1 : right.taps(), height = joined ? right.taps() * g.in_c : g.in_c;
  std::vector<std::ptrdiff_t> offsets;
  for (std::ptrdiff_t y = 0; y < count; ++y) offsets.push_back(y * g.stride_h * src.pitch);
  tile_args<T> tile{};
  tile.a_step = g.stride_w * g.in_c;
  tile.runs = count;
  tile.run_length = g.out_w;
  tile.run_offsets = offsets.data();
  tile.accumulate = accumulate;
  for (std::ptrdiff_t i = 0; i < down.taps(); ++i) {
    for (std::ptrdiff_t j = 0; j < steps; ++j) {
      const T* first = src.data + (down.at(i) - down.at(0)) * src.pitch + (right.at(j) - right.at(0)) * g.in_c;
      const std::ptrdiff_t element = down.element_of(i) * g.filter_w + right.element_of(j);
      add_tap_gradient(tile, first, dy, height, g.out_c, dw + element * g.in_c * g.out_c);
    }
  }
}

/// The same for rows [begin, begin + count) by the pixels that each tap reaches, straight from image x; dy is that of
/// the image.
template <class T>
void cut_filter_gradient_rows(const window_geometry& g, const window_axes& axes, const T* x, const T* dy,
                              std::ptrdiff_t begin, std::ptrdiff_t count, T* dw, scratch<T>& room) {
  const std::ptrdiff_t pitch = g.in_w * g.in_c, padded = whole_vectors<T>(g.out_c);
  std::vector<std::ptrdiff_t> offsets;
  for (std::ptrdiff_t y = 0; y < count; ++y) offsets.push_back(y * g.stride_h * pitch);
  tile_args<T> tile{};
  tile.a_step = g.stride_w * g.in_c;
  tile.run_offsets = offsets.data();
  tile.accumulate = true;
  for (std::ptrdiff_t j = 0; j < axes.right.taps(); ++j) {
    const clipped_axis across = axes.right.pixels_inside(axes.right.at(j));
    T* rows = room.reach(product_of(count, across.count(), padded));
    for (std::ptrdiff_t y = 0; y < count; ++y) {
      pack_rows(dy + ((begin + y) * g.out_w + across.low) * g.out_c, g.out_c, across.count(), g.out_c,
                rows + y * across.count() * padded, padded);
    }
    tile.run_length = across.count();
    for (std::ptrdiff_t i = 0; i < axes.down.taps(); ++i) {
      const clipped_axis along = axes.down.pixels_inside(axes.down.at(i));
      const std::ptrdiff_t low = std::max(along.low, begin), high = std::min(along.high, begin + count);
      if (low >= high) continue;
      tile.runs = high - low;
      const T* first =
          x + (low * g.stride_h + axes.down.at(i)) * pitch + (across.low * g.stride_w + axes.right.at(j)) * g.in_c;
      const std::ptrdiff_t element = axes.down.element_of(i) * g.filter_w + axes.right.element_of(j);
      add_tap_gradient(tile, first, rows + (low - begin) * across.count() * padded, g.in_c, g.out_c,
                       dw + element * g.in_c * g.out_c);
    }
  }
}

/// The filter's gradient in chunks, each with sums of its own that are added up in their order; with `cut` by the
/// pixels that each tap reaches.
template <class T>
void sum_filter_gradient(const window_geometry& g, const window_axes& axes, const T* x, const T* dy, bool cut, T* dw) {
  constexpr std::ptrdiff_t block_pixels = 256;
  const std::ptrdiff_t total = g.filter_h * g.filter_w * g.in_c * g.out_c;
  const bool every_tap = axes.down.taps() == g.filter_h && axes.right.taps() == g.filter_w;
  const std::ptrdiff_t most_chunks = std::clamp<std::ptrdiff_t>(g.batch * g.out_h * g.out_w / 512, 1, 8);
  const std::ptrdiff_t dy_row = g.out_w * whole_vectors<T>(g.out_c),
                       rows_each = std::max<std::ptrdiff_t>(1, block_pixels / g.out_w);
  const std::vector<pixel_lattice> lattice{{axes.down, axes.right, 0, 0, 0}};
  const frame_of_rows frames(lattice);
  const image_chunks chunks(g.batch, g.out_h, saturated_product(g.out_w, total), most_chunks);
  scratch<T> others(product_of(chunks.count() - 1, total));
  run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
    scratch<T> image, gradient;
    T* sums = chunk == 0 ? dw : others.data() + (chunk - 1) * total;
    if (cut || !every_tap) std::fill_n(sums, total, T{0});
    bool accumulate = false;
    chunks.visit(chunk, [&](image_rows part) {
      const T* from = x + part.image * g.in_h * g.in_w * g.in_c;
      const T* dy_image = dy + part.image * g.out_h * g.out_w * g.out_c;
      if (cut) {
        for_even_parts(part.rows, rows_each, [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
          cut_filter_gradient_rows(g, axes, from, dy_image, part.first + begin, count, sums, gradient);
        });
        return;
      }
      const image_view<T> src = framed(from, g.in_h, g.in_w, g.in_c, frames.part(part.first, part.rows), image);
      const T* padded = padded_gradient(g, dy_image + part.first * g.out_w * g.out_c, part.rows, gradient);
      for_even_parts(part.rows, rows_each, [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
        const image_view<T> rows{src.data + begin * g.stride_h * src.pitch, src.pitch};
        filter_gradient_rows(g, axes, rows, padded + begin * dy_row, count, accumulate, sums);
        accumulate = true;
      });
    });
  });
  for (std::ptrdiff_t chunk = 1; chunk < chunks.count(); ++chunk) {
    const T* other = others.data() + (chunk - 1) * total;
    for (std::ptrdiff_t i = 0; i < total; ++i) dw[i] += other[i];
  }
}

/// Conv2DBackpropFilter: a product of the transposed windows and dy, summed over blocks of about 256 pixels in
/// registers and over the blocks in dw. |error| <= k * eps * sum |x * dy| with k = batch * out_h * out_w. Padding takes
/// no part, whatever the gradients that it meets. Reference: kernels/window/reference_conv.cc.
template <class T>
void Conv2DBackpropFilter(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const T* dy = static_cast<const T*>(in[1]);
  T* dw = static_cast<T*>(out[0]);
  const std::ptrdiff_t total = g.filter_h * g.filter_w * g.in_c * g.out_c;
  if (total == 0) return;
  const window_axes axes(g);
  const std::ptrdiff_t gradients = g.batch * g.out_h * g.out_w * g.out_c;
  if (g.batch == 0 || !axes.meet()) {
    std::fill_n(dw, total, T{0});
    return;
  }
  const frame all = frame_of_rows(std::vector<pixel_lattice>{{axes.down, axes.right, 0, 0, 0}}).all;
  const bool pads = !all.inside(g.in_h, g.in_w);
  const bool ask_first = pads && gradients < total;
  const bool cut = pads && (!all.is_worth_copying(g.in_h * g.in_w, g.filter_h * g.filter_w) ||
                            (ask_first && !all_finite(dy, gradients)));
  sum_filter_gradient(g, axes, x, dy, cut, dw);
  // A product of an infinite gradient with a padding's zero makes dw NaN.
  const bool asks_now = pads && !cut && !ask_first;
  if (asks_now && !all_finite(dw, total) && !all_finite(dy, gradients)) sum_filter_gradient(g, axes, x, dy, true, dw);
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
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
#define KG_DISPATCH_CONV(Name, type)                                                  \
  KG_TARGETS_OF(Name##_##type);                                                       \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    KG_ON_TARGET(Name##_##type)(in, out, geometry);                                   \
  }
KG_CONV_KERNELS(KG_DISPATCH_CONV)
#undef KG_DISPATCH_CONV
}  // namespace kerngrad::kernels
#endif
