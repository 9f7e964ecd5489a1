// SPDX-License-Identifier: Apache-2.0
// Convolution without an im2col matrix: the register tile of gemm-inl.h walks a (zero-padded) image directly, because
// the elements one output pixel needs are a few contiguous runs at the same offsets for every pixel.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/window/conv.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/common/chunks.h"
#include "kernels/window/conv-filter-inl.h"
#include "kernels/window/conv-inl.h"
#include "kernels/window/conv.h"
#include "kernels/window/conv_plan.h"
#include "kernels/window/convolve-inl.h"
#include "kernels/window/depthwise.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

bool convolve_images(const conv_job<float>& job) { return run_conv(job); }
bool convolve_images(const conv_job<double>& job) { return run_conv(job); }
void sum_filter_gradient(const filter_gradient_job<float>& job, float* dw) { filter_gradient(job, dw); }
void sum_filter_gradient(const filter_gradient_job<double>& job, double* dw) { filter_gradient(job, dw); }

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

/// Groups of one channel: the depthwise convolution, whose filter lies as theirs does.
bool is_depthwise(const window_geometry& g) { return g.groups > 1 && g.group_in() == 1; }

/// Calls an entry point of depthwise.h with two operands.
template <class T>
void run_depthwise(run_fn kernel, const window_geometry& g, const T* a, const T* b, T* y) {
  const void* const in[] = {a, b};
  void* const out[] = {y};
  kernel(in, out, &g);
}

/// Computes the convolution and applies `after`, unless it is null. Returns false if `after` is left to the caller.
template <class T>
bool convolve(const window_geometry& geometry, const T* x, const T* w, T* y, const conv_finish* after) {
  if (is_depthwise(geometry)) {
    constexpr run_fn depthwise =
        std::is_same_v<T, float> ? kernels::DepthwiseConv2dNative_float32 : kernels::DepthwiseConv2dNative_float64;
    run_depthwise(depthwise, geometry, x, w, y);
    return false;
  }
  const window_geometry g = flattened(geometry);
  const std::ptrdiff_t pixels = g.batch * g.out_h * g.out_w, total = pixels * g.out_c;
  if (total == 0) return true;
  const window_axes axes(g);
  if (!axes.meet() || g.in_c == 0) {
    std::fill_n(y, total, T{0});
    return false;
  }
  const std::ptrdiff_t image = g.in_h * g.in_w * g.in_c, result = g.out_h * g.out_w * g.out_c;
  bool finished = false;
  for (std::ptrdiff_t group = 0; group < g.groups; ++group) {
    const T* weights = w + group * g.group_out();
    conv_job<T> job{.src = x + group * g.group_in(),
                    .src_at = image_stack::dense(g.batch, image),
                    .slice = 0,
                    .images = g.batch,
                    .src_rows = g.in_h,
                    .src_columns = g.in_w,
                    .src_channels = g.group_in(),
                    .src_pixel = g.in_c,
                    .dst = y + group * g.group_out(),
                    .dst_at = image_stack::dense(g.batch, result),
                    .dst_size = result,
                    .dst_channels = g.group_out(),
                    .dst_pixel = g.out_c,
                    .w = {&weights, 1},
                    .w_row = g.out_c,
                    .filter_h = g.filter_h,
                    .filter_w = g.filter_w,
                    .swap = false,
                    // Few pixels are not worth packing.
                    .keep_flat = pixels <= 5 * tile_rows && (loads_parts || g.group_out() % lanes<T>() == 0),
                    .covered = true,
                    .after = g.groups == 1 ? after : nullptr};
    job.lattices.push_back({axes.down, axes.right, 0, g.out_w * g.out_c, g.out_c});
    finished = convolve_images(job);
  }
  return finished && g.groups == 1;
}

/// Conv2D. Sums in the type itself by fused multiply-add where the target has it, over the taps row by row, in an order
/// given by shape and target alone; |error| <= k * eps * sum |x * w| with k = filter_h * filter_w * in_c / groups.
/// Padding takes no part, whatever the weights that it meets. Reference: kernels/window/reference_conv.cc.
template <dtype Type, class T = storage_t<Type>>
void Conv2D(const window_geometry& g, const T* x, const T* w, T* y) {
  convolve<T>(g, x, w, y, nullptr);
}

/// Conv2D of a fused layer: the same sums, finished part by part.
template <dtype Type, class T = storage_t<Type>>
void FinishedConv2D(const finished_geometry& finished, const T* x, const T* w, T* y) {
  const auto& [g, after] = finished;
  if (!convolve<T>(g, x, w, y, &after)) finish_all(after, y, g.batch * g.out_h * g.out_w, g.out_c);
}

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

/// The products of one row of output pixels of a group with every element of its filter: [filter element, out_w rounded
/// up].
template <class T>
const T* row_products(const window_geometry& g, const T* dy, const T* w, std::ptrdiff_t width,
                      product_rooms<T>& rooms) {
  const std::ptrdiff_t elements = g.filter_h * g.filter_w * g.group_in(), depth = g.group_out(), no_offset = 0;
  T* panels = rooms.panels.reach(product_of(depth, width));
  T* products = rooms.products.reach(product_of(elements, width));
  tile_args<T> tile{};
  tile.a_step = g.out_c;
  tile.run_length = depth;
  tile.ldc = width;
  tile.runs = 1;
  tile.run_offsets = &no_offset;
  for (std::ptrdiff_t j = 0; j < g.out_w; j += tile_columns<T>()) {
    const std::ptrdiff_t pixels = std::min(tile_columns<T>(), g.out_w - j);
    T* panel = panels + j * depth;
    tile.columns = tile.ldb = whole_vectors<T>(pixels);
    pack_transposed(dy + j * g.out_c, g.out_c, pixels, depth, panel, tile.ldb);
    clear_columns(panel, depth, pixels, tile.ldb);
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

/// Adds the products of a row of output pixels, the first under image row `top`, to the channels of a group.
template <class T>
void add_row_products(const window_geometry& g, const T* products, std::ptrdiff_t width, std::ptrdiff_t top, T* dx) {
  const std::ptrdiff_t channels = g.group_in();
  const clipped_axis rows(top, g.filter_h, g.dilation_h, g.in_h);
  for (std::ptrdiff_t ky = rows.low; ky < rows.high; ++ky) {
    T* row = dx + (top + ky * g.dilation_h) * g.in_w * g.in_c;
    for (std::ptrdiff_t kx = 0; kx < g.filter_w; ++kx) {
      const std::ptrdiff_t left = kx * g.dilation_w - g.pad_left;  // input column under output column 0
      const clipped_axis columns(left, g.out_w, g.stride_w, g.in_w);
      for (std::ptrdiff_t c = 0; c < channels && columns.count() > 0; ++c) {
        add_at_steps(products + ((ky * g.filter_w + kx) * channels + c) * width + columns.low, columns.count(),
                     row + (left + columns.low * g.stride_w) * g.in_c + c, g.stride_w * g.in_c);
      }
    }
  }
}

/// The gradient of one image of few channels, whose vectors would be almost empty: the products of each row of output
/// pixels, vectors of pixels, are added to the pixels under their windows, one filter element after the other.
template <class T>
void scatter_input_gradient(const window_geometry& g, const T* dy, const T* w, T* dx, product_rooms<T>& rooms) {
  const std::ptrdiff_t width = whole_vectors<T>(g.out_w);
  std::fill_n(dx, g.in_h * g.in_w * g.in_c, T{0});
  for (std::ptrdiff_t oy = 0; oy < g.out_h; ++oy) {
    for (std::ptrdiff_t group = 0; group < g.groups; ++group) {
      const std::ptrdiff_t first = group * g.group_out();
      const T* products = row_products(g, dy + oy * g.out_w * g.out_c + first, w + first, width, rooms);
      add_row_products(g, products, width, oy * g.stride_h - g.pad_top, dx + group * g.group_in());
    }
  }
}

/// Conv2DBackpropInput. The input pixels of equal remainder modulo the strides are a convolution of dy with stride 1
/// and the filter reversed, so that every sum is formed in registers, whatever strides and dilations; gradients
/// of few channels are scattered instead. Numerics as for Conv2D with k = filter_h * filter_w * out_c / groups.
/// Reference: kernels/window/reference_conv.cc.
template <dtype Type, class T = storage_t<Type>>
void Conv2DBackpropInput(const window_geometry& geometry, const T* dy, const T* w, T* dx) {
  if (is_depthwise(geometry)) {
    constexpr run_fn depthwise = std::is_same_v<T, float> ? kernels::DepthwiseConv2dNativeBackpropInput_float32
                                                          : kernels::DepthwiseConv2dNativeBackpropInput_float64;
    return run_depthwise(depthwise, geometry, dy, w, dx);
  }
  const window_geometry g = flattened(geometry);
  const std::ptrdiff_t total = g.batch * g.in_h * g.in_w * g.in_c;
  if (total == 0) return;
  const phase_axes rows(g.in_h, g.out_h, g.filter_h, g.stride_h, g.dilation_h, g.pad_top);
  const phase_axes columns(g.in_w, g.out_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left);
  if (g.out_c == 0 || rows.axes.empty() || columns.axes.empty()) {
    std::fill_n(dx, total, T{0});
    return;
  }
  if (2 * g.group_in() * whole_vectors<T>(g.out_w) <= g.out_w * whole_vectors<T>(g.group_in())) {
    const image_chunks chunks(
        g.batch, 1, saturated_product(g.out_h, g.out_w, g.out_c, g.filter_h, g.filter_w, g.group_in()), any_number);
    run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
      product_rooms<T> rooms;
      chunks.visit(chunk, [&](image_rows part) {
        scatter_input_gradient(g, dy + part.image * g.out_h * g.out_w * g.out_c, w,
                               dx + part.image * g.in_h * g.in_w * g.in_c, rooms);
      });
    });
    return;
  }
  const std::ptrdiff_t image = g.out_h * g.out_w * g.out_c, result = g.in_h * g.in_w * g.in_c;
  for (std::ptrdiff_t group = 0; group < g.groups; ++group) {
    const T* weights = w + group * g.group_out();
    conv_job<T> job{.src = dy + group * g.group_out(),
                    .src_at = image_stack::dense(g.batch, image),
                    .slice = 0,
                    .images = g.batch,
                    .src_rows = g.out_h,
                    .src_columns = g.out_w,
                    .src_channels = g.group_out(),
                    .src_pixel = g.out_c,
                    .dst = dx + group * g.group_in(),
                    .dst_at = image_stack::dense(g.batch, result),
                    .dst_size = result,
                    .dst_channels = g.group_in(),
                    .dst_pixel = g.in_c,
                    .w = {&weights, 1},
                    .w_row = g.out_c,
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
    convolve_images(job);
  }
}

/// Conv2DBackpropFilter: a product of the transposed windows and dy, summed over blocks of about 256 pixels in
/// registers and over the blocks in dw. |error| <= k * eps * sum |x * dy| with k = batch * out_h * out_w. Padding takes
/// no part, whatever the gradients that it meets. Reference: kernels/window/reference_conv.cc.
template <dtype Type, class T = storage_t<Type>>
void Conv2DBackpropFilter(const window_geometry& g, const T* x, const T* dy, T* dw) {
  if (is_depthwise(g)) {
    constexpr run_fn depthwise = std::is_same_v<T, float> ? kernels::DepthwiseConv2dNativeBackpropFilter_float32
                                                          : kernels::DepthwiseConv2dNativeBackpropFilter_float64;
    return run_depthwise(depthwise, g, x, dy, dw);
  }
  if (g.filter_h * g.filter_w * g.group_in() * g.out_c == 0) return;
  const std::ptrdiff_t images = std::max<std::ptrdiff_t>(g.batch, 1);
  const filter_gradient_job<T> job{.g = g,
                                   .x = x,
                                   .x_at = image_stack::dense(images, g.in_h * g.in_w * g.in_c),
                                   .dy = dy,
                                   .dy_at = image_stack::dense(images, g.out_h * g.out_w * g.out_c)};
  sum_filter_gradient(job, dw);
}

}  // namespace

KG_DEFINE_KERNELS(KG_CONV_KERNELS)
KG_FINISHED_CONV_KERNELS(KG_DEFINE_TYPED)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_CONV_KERNELS)
KG_DISPATCH_KERNELS(KG_FINISHED_CONV_KERNELS)
}  // namespace kerngrad::kernels
#endif
