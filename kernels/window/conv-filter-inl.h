// SPDX-License-Identifier: Apache-2.0
// The gradient of a filter: products of transposed windows and gradients of the result. Private to kernels/; included
// once per target.
#if defined(KERNGRAD_KERNELS_CONV_FILTER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_CONV_FILTER_INL_H_
#undef KERNGRAD_KERNELS_CONV_FILTER_INL_H_
#else
#define KERNGRAD_KERNELS_CONV_FILTER_INL_H_
#endif

#include <algorithm>
#include <vector>

#include "kernels/window/conv-inl.h"
#include "kernels/window/conv_plan.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// Pixels of a gradient, `pixel` elements apart, of which whole vectors of channels can be read.
template <class T>
struct gradient_pixels {
  const T* data;
  std::ptrdiff_t pixel;
};

/// Rows of the gradient of a group: dy itself where it has whole vectors of channels, else a copy with zeros.
template <class T>
gradient_pixels<T> padded_gradient(const window_geometry& g, const T* dy, std::ptrdiff_t rows, scratch<T>& room) {
  const std::ptrdiff_t padded = whole_vectors<T>(g.group_out()), pixels = rows * g.out_w;
  if (padded == g.group_out()) return {dy, g.out_c};
  T* copy = room.reach(product_of(pixels, padded));
  pack_rows(dy, g.out_c, pixels, g.group_out(), copy, padded);
  return {copy, padded};
}

/// Adds to `height` rows of a filter's gradient from dw on the products of the elements from `a` on, pixel after pixel
/// of each run, and the pixels of dy; `tile` has the runs.
template <class T>
void add_tap_gradient(const window_geometry& g, tile_args<T> tile, const T* a, gradient_pixels<T> dy,
                      std::ptrdiff_t height, T* dw) {
  const std::ptrdiff_t columns = g.group_out();
  tile.ldb = dy.pixel;
  tile.ldc = g.out_c;
  for (std::ptrdiff_t j = 0; j < columns; j += tile_columns<T>()) {
    tile.columns = std::min(tile_columns<T>(), columns - j);
    tile.b = dy.data + j;
    const int vectors = static_cast<int>(whole_vectors<T>(tile.columns) / lanes<T>());
    for_even_parts(height, tile_rows, [&](std::ptrdiff_t i, std::ptrdiff_t rows) {
      tile.a = a + i;
      tile.c = dw + i * g.out_c + j;
      gemm_tile(static_cast<int>(rows), vectors, {.strided = false, .narrow = false}, tile);
    });
  }
}

/// Adds the share of `count` output rows to dw; src begins with the frame of the first of them, dy with their gradient.
template <class T>
void filter_gradient_rows(const window_geometry& g, const window_axes& axes, image_view<T> src, gradient_pixels<T> dy,
                          std::ptrdiff_t count, bool accumulate, T* dw) {
  const tap_axis &down = axes.down, &right = axes.right;
  const std::ptrdiff_t channels = g.group_in();
  // True if the elements of a filter row follow each other in the image.
  const bool joined = right.joins(0, right.taps()) && src.pixel == channels;
  const std::ptrdiff_t steps = joined ? 1 : right.taps(), height = joined ? right.taps() * channels : channels;
  std::vector<std::ptrdiff_t> offsets;
  for (std::ptrdiff_t y = 0; y < count; ++y) offsets.push_back(y * g.stride_h * src.pitch);
  tile_args<T> tile{};
  tile.a_step = g.stride_w * src.pixel;
  tile.runs = count;
  tile.run_length = g.out_w;
  tile.run_offsets = offsets.data();
  tile.accumulate = accumulate;
  for (std::ptrdiff_t i = 0; i < down.taps(); ++i) {
    for (std::ptrdiff_t j = 0; j < steps; ++j) {
      const T* first = src.data + (down.at(i) - down.at(0)) * src.pitch + (right.at(j) - right.at(0)) * src.pixel;
      const std::ptrdiff_t element = down.element_of(i) * g.filter_w + right.element_of(j);
      add_tap_gradient(g, tile, first, dy, height, dw + element * channels * g.out_c);
    }
  }
}

/// The same for rows [begin, begin + count) by the pixels that each tap reaches, straight from the group of image x; dy
/// is that of the image.
template <class T>
void cut_filter_gradient_rows(const window_geometry& g, const window_axes& axes, const T* x, const T* dy,
                              std::ptrdiff_t begin, std::ptrdiff_t count, T* dw, scratch<T>& room) {
  const std::ptrdiff_t pitch = g.in_w * g.in_c, padded = whole_vectors<T>(g.group_out());
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
      pack_rows(dy + ((begin + y) * g.out_w + across.low) * g.out_c, g.out_c, across.count(), g.group_out(),
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
      add_tap_gradient(g, tile, first, gradient_pixels<T>{rows + (low - begin) * across.count() * padded, padded},
                       g.group_in(), dw + element * g.group_in() * g.out_c);
    }
  }
}

template <class T>
bool has_finite_gradients(const filter_gradient_job<T>& job) {
  const std::ptrdiff_t size = job.g.out_h * job.g.out_w * job.g.out_c;
  for (std::ptrdiff_t i = 0; i < job.g.batch; ++i) {
    if (!all_finite(job.dy + job.dy_at.at(i), size)) return false;
  }
  return true;
}

/// Adds a chunk's share of the gradient of one group's filter to sums; with `cut` by the pixels that each tap reaches.
template <class T>
void sum_group_gradient(const filter_gradient_job<T>& job, const window_axes& axes, const frame_of_rows& frames,
                        const image_chunks& chunks, std::ptrdiff_t chunk, std::ptrdiff_t group, bool cut, T* sums) {
  constexpr std::ptrdiff_t block_pixels = 256;
  const window_geometry& g = job.g;
  const std::ptrdiff_t rows_each = std::max<std::ptrdiff_t>(1, block_pixels / g.out_w);
  scratch<T> image, gradient;
  bool accumulate = false;
  chunks.visit(chunk, [&](image_rows part) {
    const T* from = job.x + job.x_at.at(part.image) + group * g.group_in();
    const T* dy_image = job.dy + job.dy_at.at(part.image) + group * g.group_out();
    if (cut) {
      for_even_parts(part.rows, rows_each, [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
        cut_filter_gradient_rows(g, axes, from, dy_image, part.first + begin, count, sums, gradient);
      });
      return;
    }
    const image_view<T> src =
        framed(stored_image<T>{from, g.in_h, g.in_w, g.group_in(), g.in_c}, frames.part(part.first, part.rows), image);
    const gradient_pixels<T> dy = padded_gradient(g, dy_image + part.first * g.out_w * g.out_c, part.rows, gradient);
    for_even_parts(part.rows, rows_each, [&](std::ptrdiff_t begin, std::ptrdiff_t count) {
      const image_view<T> rows{src.data + begin * g.stride_h * src.pitch, src.pitch, 0, src.pixel};
      filter_gradient_rows(g, axes, rows, {dy.data + begin * g.out_w * dy.pixel, dy.pixel}, count, accumulate, sums);
      accumulate = true;
    });
  });
}

/// The filter's gradient in chunks, each with sums of its own that are added up in their order; with `cut` by the
/// pixels that each tap reaches.
template <class T>
void sum_in_chunks(const filter_gradient_job<T>& job, const window_axes& axes, bool cut, T* dw) {
  const window_geometry& g = job.g;
  const std::ptrdiff_t total = job.weights();
  const bool every_tap = axes.down.taps() == g.filter_h && axes.right.taps() == g.filter_w;
  const std::ptrdiff_t most_chunks = std::clamp<std::ptrdiff_t>(g.batch * g.out_h * g.out_w / 512, 1, 8);
  const std::vector<pixel_lattice> lattice{{axes.down, axes.right, 0, 0, 0}};
  const frame_of_rows frames(lattice);
  const image_chunks chunks(g.batch, g.out_h, saturated_product(g.out_w, total), most_chunks);
  scratch<T> others(product_of(chunks.count() - 1, total));
  run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
    T* sums = chunk == 0 ? dw : others.data() + (chunk - 1) * total;
    if (cut || !every_tap) std::fill_n(sums, total, T{0});
    for (std::ptrdiff_t group = 0; group < g.groups; ++group)
      sum_group_gradient(job, axes, frames, chunks, chunk, group, cut, sums + group * g.group_out());
  });
  for (std::ptrdiff_t chunk = 1; chunk < chunks.count(); ++chunk) {
    const T* other = others.data() + (chunk - 1) * total;
    for (std::ptrdiff_t i = 0; i < total; ++i) dw[i] += other[i];
  }
}

/// The gradient of a filter with elements, summed over the images of the job. Padding takes no part, whatever the
/// gradients that it meets.
template <class T>
void filter_gradient(const filter_gradient_job<T>& job, T* dw) {
  const window_geometry& g = job.g;
  const std::ptrdiff_t total = job.weights();
  const window_axes axes(g);
  if (g.batch == 0 || !axes.meet()) {
    std::fill_n(dw, total, T{0});
    return;
  }
  const padded_frame all = frame_of_rows(std::vector<pixel_lattice>{{axes.down, axes.right, 0, 0, 0}}).all;
  const bool pads = !all.inside(g.in_h, g.in_w);
  const bool ask_first = pads && saturated_product(g.batch, g.out_h, g.out_w, g.out_c) < total;
  const bool cut = pads && (!all.is_worth_copying(g.in_h * g.in_w, g.filter_h * g.filter_w) ||
                            (ask_first && !has_finite_gradients(job)));
  sum_in_chunks(job, axes, cut, dw);
  // A product of an infinite gradient with a padding's zero makes dw NaN.
  const bool asks_now = pads && !cut && !ask_first;
  if (asks_now && !all_finite(dw, total) && !has_finite_gradients(job)) sum_in_chunks(job, axes, true, dw);
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
