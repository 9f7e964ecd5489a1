// SPDX-License-Identifier: Apache-2.0
// How a convolution is taken apart: the taps of an axis, frames of an image, chunks of a batch. Plain C++, private to
// kernels/.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/window/conv_finish.h"
#include "kernels/window/window.h"

namespace kerngrad::kernels {

/// Pixels [first, first + count) of an axis of the result that taps [low, high) reach, and no other tap.
struct tap_run {
  std::ptrdiff_t first, count, low, high;
};

/// One axis of a convolution as its result sees it: pixel p reads, through tap i, the source at p * stride + offset[i],
/// or nothing where that is outside. Offsets ascend. Filter elements that lie in the padding for every pixel are no
/// taps, so there are never more than the result can meet.
struct tap_axis {
  std::ptrdiff_t count, stride, size;               // pixels of the result, steps in the source, pixels of the source
  std::vector<std::ptrdiff_t> offset{}, element{};  // element: the tap's position in the filter

  /// Those of a filter, from the image's side.
  static tap_axis of_filter(std::ptrdiff_t out, std::ptrdiff_t in, std::ptrdiff_t filter, std::ptrdiff_t stride,
                            std::ptrdiff_t dilation, std::ptrdiff_t pad) {
    tap_axis axis{out, stride, in};
    for (std::ptrdiff_t k = 0; k < filter; ++k) axis.add(k * dilation - pad, k);
    return axis;
  }

  void add(std::ptrdiff_t at, std::ptrdiff_t filter_element) {
    if (pixels_inside(at).count() == 0) return;
    offset.push_back(at);
    element.push_back(filter_element);
  }
  /// The pixels that find a tap at this offset inside the source.
  clipped_axis pixels_inside(std::ptrdiff_t at) const { return {at, count, stride, size}; }

  std::ptrdiff_t taps() const { return static_cast<std::ptrdiff_t>(offset.size()); }
  std::ptrdiff_t at(std::ptrdiff_t i) const { return offset[static_cast<std::size_t>(i)]; }
  std::ptrdiff_t element_of(std::ptrdiff_t i) const { return element[static_cast<std::size_t>(i)]; }
  /// Taps [low, high) read pixels of the source that follow each other.
  bool joins(std::ptrdiff_t low, std::ptrdiff_t high) const { return at(high - 1) - at(low) == high - 1 - low; }
  /// Pixels [low, high) that find all taps inside.
  std::ptrdiff_t whole_low() const { return pixels_inside(offset.front()).low; }
  std::ptrdiff_t whole_high() const { return std::max(whole_low(), pixels_inside(offset.back()).high); }

  /// The pixels by the taps that they reach; those that reach none are skipped.
  std::vector<tap_run> runs() const {
    std::vector<tap_run> found;
    std::ptrdiff_t low = taps(), high = taps();
    for (std::ptrdiff_t p = 0; p < count; ++p) {
      while (low > 0 && p * stride + at(low - 1) >= 0) --low;
      while (high > 0 && p * stride + at(high - 1) >= size) --high;
      if (low >= high) continue;
      tap_run* last = found.empty() ? nullptr : &found.back();
      const bool same = last && last->low == low && last->high == high && last->first + last->count == p;
      if (same) ++last->count;
      else found.push_back({p, 1, low, high});
    }
    return found;
  }
};

/// The taps of a filter, from the image's side.
struct window_axes {
  tap_axis down, right;
  explicit window_axes(const window_geometry& g)
      : down(tap_axis::of_filter(g.out_h, g.in_h, g.filter_h, g.stride_h, g.dilation_h, g.pad_top)),
        right(tap_axis::of_filter(g.out_w, g.in_w, g.filter_w, g.stride_w, g.dilation_w, g.pad_left)) {}
  bool meet() const { return down.taps() > 0 && right.taps() > 0; }
};

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

/// An image [rows, columns, channels] in memory; `pixel` elements from one pixel to the next, which are more than its
/// channels where it is a group of them.
template <class T>
struct stored_image {
  const T* data;
  std::ptrdiff_t rows, columns, channels, pixel;
};

// Images [rows, columns, channels], those of one window's slices; `pitch` elements from row to row, `slice` from one
// image to the next, `pixel` from one pixel to the next.
template <class T>
struct image_view {
  const T* data;
  std::ptrdiff_t pitch, slice, pixel;
};

/// Layout of the images of a batch: `each` of them `step` elements apart, and the first ones of such groups `group`.
struct image_stack {
  std::ptrdiff_t each, step, group;
  std::ptrdiff_t at(std::ptrdiff_t image) const { return image / each * group + image % each * step; }
  /// One after the other; there is at least one.
  static image_stack dense(std::ptrdiff_t images, std::ptrdiff_t size) { return {images, size, 0}; }
};

/// The window of an image that a kernel walks: starts `top` rows above and `left` columns before the image.
struct padded_frame {
  std::ptrdiff_t top, left, rows, columns;

  bool inside(std::ptrdiff_t image_rows, std::ptrdiff_t image_columns) const {
    return top <= 0 && left <= 0 && rows - top <= image_rows && columns - left <= image_columns;
  }
  /// True if a copy takes no more than a few times what image and filter take. If it would, or if padding must not be
  /// multiplied, pixels are computed by the taps that they reach.
  bool is_worth_copying(std::ptrdiff_t image_pixels, std::ptrdiff_t taps) const {
    return saturated_product(rows, columns) <= saturated_product(4, saturated_sum(image_pixels, taps));
  }
};

/// Copies the frame of an image, with zeros around it.
template <class T>
void copy_framed(const stored_image<T>& image, padded_frame f, T* copy) {
  const std::ptrdiff_t channels = image.channels, pitch = f.columns * channels;
  const std::ptrdiff_t begin = std::clamp<std::ptrdiff_t>(f.left, 0, f.columns);
  const std::ptrdiff_t end = std::clamp<std::ptrdiff_t>(f.left + image.columns, begin, f.columns);
  for (std::ptrdiff_t y = 0; y < f.rows; ++y) {
    T* row = copy + y * pitch;
    const std::ptrdiff_t source = y - f.top;
    if (source < 0 || source >= image.rows || begin == end) {
      std::fill_n(row, pitch, T{0});
      continue;
    }
    std::fill_n(row, begin * channels, T{0});
    const T* from = image.data + (source * image.columns + begin - f.left) * image.pixel;
    T* to = row + begin * channels;
    if (image.pixel == channels) std::copy_n(from, (end - begin) * channels, to);
    else
      for (std::ptrdiff_t x = begin; x < end; ++x, from += image.pixel) to = std::copy_n(from, channels, to);
    std::fill_n(row + end * channels, pitch - end * channels, T{0});
  }
}

/// The frames of `slices` images in memory, which are `slice` elements apart: the images themselves where they hold the
/// frames, else copies with zeros around them.
template <class T>
image_view<T> framed(const stored_image<T>& image, padded_frame f, scratch<T>& room, std::ptrdiff_t slices = 1,
                     std::ptrdiff_t slice = 0) {
  if (f.inside(image.rows, image.columns))
    return {image.data + (-f.top * image.columns - f.left) * image.pixel, image.columns * image.pixel, slice,
            image.pixel};
  const std::ptrdiff_t pitch = product_of(f.columns, image.channels), size = product_of(f.rows, pitch);
  T* copies = room.reach(product_of(slices, size));
  stored_image<T> one = image;
  for (std::ptrdiff_t i = 0; i < slices; ++i, one.data += slice) copy_framed(one, f, copies + i * size);
  return {copies, pitch, size, image.channels};
}

/// One position of the filter: how far its elements lie from the first element of the window, and its weights.
template <class T>
struct filter_tap {
  std::ptrdiff_t slice, row, column;
  const T* weights;  // [in_c, out_c], or the columns of a group
};

/// A direct convolution over one image: which taps, which output pixels, and where its filter is among those packed for
/// the tiles.
template <class T>
struct direct_plan {
  std::ptrdiff_t rows = 0, columns = 0;                       // output pixels
  std::ptrdiff_t row_stride = 1, column_stride = 1;           // in pixels of the frame
  std::ptrdiff_t dst_offset = 0, dst_row = 0, dst_pixel = 0;  // in elements
  std::ptrdiff_t src_channels = 0, dst_channels = 0;
  std::ptrdiff_t w_row = 0;  // elements from one row of a tap's weights to the next
  std::vector<filter_tap<T>> taps{};
  std::ptrdiff_t taps_per_run = 1;  // taps that follow each other in a frame whose pixels do so without a gap
  std::ptrdiff_t panels_at = 0;     // elements before its panels

  std::ptrdiff_t depth() const { return static_cast<std::ptrdiff_t>(taps.size()) * src_channels; }
  /// Elements that follow each other in a frame, of one tap or of several.
  std::ptrdiff_t run_length(const image_view<T>& src) const { return run_of(src) * src_channels; }
  std::vector<std::ptrdiff_t> offsets(const image_view<T>& src) const {
    std::vector<std::ptrdiff_t> found;
    for (std::size_t t = 0; t < taps.size(); t += static_cast<std::size_t>(run_of(src))) {
      found.push_back(taps[t].slice * src.slice + taps[t].row * src.pitch + taps[t].column * src.pixel);
    }
    return found;
  }
  /// The taps at these rows and columns of a filter whose elements have `size` weights each, `w` for each slice; `top`
  /// and `left` are the offsets at which the window begins.
  void take_taps(const tap_axis& down, tap_run r, const tap_axis& right, tap_run c, std::ptrdiff_t top,
                 std::ptrdiff_t left, std::span<const T* const> w, std::ptrdiff_t filter_w, std::ptrdiff_t size) {
    taps.clear();
    std::ptrdiff_t slice = 0;
    for (const T* weights : w) {
      for (std::ptrdiff_t i = r.low; i < r.high; ++i) {
        for (std::ptrdiff_t j = c.low; j < c.high; ++j) {
          taps.push_back({slice, down.at(i) - top, right.at(j) - left,
                          weights + (down.element_of(i) * filter_w + right.element_of(j)) * size});
        }
      }
      ++slice;
    }
    taps_per_run = right.joins(c.low, c.high) ? c.high - c.low : 1;
  }

 private:
  std::ptrdiff_t run_of(const image_view<T>& src) const { return src.pixel == src_channels ? taps_per_run : 1; }
};

/// Channels [low, high) of a result.
struct channel_range {
  std::ptrdiff_t low, high;
  std::ptrdiff_t count() const { return high - low; }
  bool operator==(const channel_range&) const = default;
};

/// Pixels of a result at even distances, and the axes by which they read the source.
struct pixel_lattice {
  const tap_axis &down, &right;
  std::ptrdiff_t dst_offset, dst_row, dst_pixel;

  std::ptrdiff_t cut_pixels() const {
    return down.count * right.count - (down.whole_high() - down.whole_low()) * (right.whole_high() - right.whole_low());
  }
};

/// A batch of images and what is computed of them: the lattices of the result that have taps. An image of the result is
/// a sum over images of the source, its slices, `slice` elements apart, each with a filter of its own. With channels in
/// groups, a job has one group: pixels and rows of weights lie further apart than they are long.
template <class T>
struct conv_job {
  const T* src;
  image_stack src_at;
  std::ptrdiff_t slice;
  std::ptrdiff_t images, src_rows, src_columns, src_channels, src_pixel;
  T* dst;
  image_stack dst_at;
  std::ptrdiff_t dst_size, dst_channels, dst_pixel;  // of an image of the result
  std::span<const T* const> w;                       // for each slice, ascending
  std::ptrdiff_t w_row, filter_h, filter_w;
  bool swap;       // the filter's channels
  bool keep_flat;  // few pixels: the filter is read where it lies, if it can be
  bool covered;    // every pixel of the result belongs to a lattice
  std::vector<pixel_lattice> lattices{};
  const conv_finish* after = nullptr;  // of a job of one lattice, whose pixels lie one after the other

  std::ptrdiff_t slices() const { return static_cast<std::ptrdiff_t>(w.size()); }
  std::ptrdiff_t weights_of_slice() const { return filter_h * filter_w * src_channels * dst_channels; }
  /// An element of the filter: so many rows of weights.
  std::ptrdiff_t w_rows() const { return swap ? dst_channels : src_channels; }
  const T* src_image(std::ptrdiff_t image) const { return src + src_at.at(image); }
  stored_image<T> stored(std::ptrdiff_t image) const {
    return {src_image(image), src_rows, src_columns, src_channels, src_pixel};
  }
  T* dst_image(std::ptrdiff_t image) const { return dst + dst_at.at(image); }
  void clear_results() const {
    for (std::ptrdiff_t i = 0; i < images; ++i) {
      if (dst_pixel == dst_channels) std::fill_n(dst_image(i), dst_size, T{0});
      else
        for (std::ptrdiff_t p = 0; p < dst_size; p += dst_pixel) std::fill_n(dst_image(i) + p, dst_channels, T{0});
    }
  }

  /// The plan of a part of a lattice, whose windows begin at these offsets of the source.
  direct_plan<T> plan(const pixel_lattice& l, tap_run r, tap_run c, std::ptrdiff_t top, std::ptrdiff_t left) const {
    direct_plan<T> p;
    p.rows = r.count;
    p.columns = c.count;
    p.row_stride = l.down.stride;
    p.column_stride = l.right.stride;
    p.dst_offset = l.dst_offset + r.first * l.dst_row + c.first * l.dst_pixel;
    p.dst_row = l.dst_row;
    p.dst_pixel = l.dst_pixel;
    p.src_channels = src_channels;
    p.dst_channels = dst_channels;
    p.w_row = w_row;
    p.take_taps(l.down, r, l.right, c, top, left, w, filter_w, w_rows() * w_row);
    return p;
  }
};

/// The frame of all lattices, and how it grows with the rows of the result.
struct frame_of_rows {
  padded_frame all{};
  std::ptrdiff_t rows = 0, step = 1;

  explicit frame_of_rows(const std::vector<pixel_lattice>& lattices) {
    std::ptrdiff_t top = PTRDIFF_MAX, left = PTRDIFF_MAX, bottom = PTRDIFF_MIN, right = PTRDIFF_MIN;
    for (const pixel_lattice& l : lattices) {
      top = std::min(top, l.down.offset.front());
      left = std::min(left, l.right.offset.front());
      bottom = std::max(bottom, l.down.offset.back() + (l.down.count - 1) * l.down.stride + 1);
      right = std::max(right, l.right.offset.back() + (l.right.count - 1) * l.right.stride + 1);
      rows = std::max(rows, l.down.count);
      step = l.down.stride;
    }
    all = {-top, -left, bottom - top, right - left};
  }
  padded_frame part(std::ptrdiff_t first, std::ptrdiff_t count) const {
    return {all.top - first * step, all.left, all.rows - (rows - count) * step, all.columns};
  }
};

/// Rows [first, first + rows) of image `image`.
struct image_rows {
  std::ptrdiff_t image, first, rows;
};

/// Least work of a chunk of a convolution. More than is worth a thread: each sets out again, and the frames of
/// neighbouring rows overlap.
inline constexpr std::int64_t products_of_chunk = 2 * products_worth_threads;

/// The rows of a batch of images in chunks: some images each, or large images in even parts. Chunks follow from the
/// shape alone; `most` limits how many there are.
class image_chunks {
 public:
  image_chunks(std::ptrdiff_t images, std::ptrdiff_t rows, std::int64_t products_per_row, std::ptrdiff_t most)
      : images_(images,
                std::max({std::ptrdiff_t{1}, worth(products_of_chunk, saturated_product(rows, products_per_row)),
                          (images + most - 1) / most})),
        parts_(rows,
               images_.longest() > 1 || images >= most
                   ? std::max<std::ptrdiff_t>(rows, 1)
                   : std::max<std::ptrdiff_t>({1, worth(products_of_chunk, products_per_row), rows * images / most})),
        products_(saturated_product(images, rows, products_per_row)) {}

  std::ptrdiff_t count() const { return images_.count * parts_.count; }
  std::int64_t products() const { return products_; }

  /// Calls body(image_rows) for each image of a chunk.
  template <class Body>
  void visit(std::ptrdiff_t chunk, const Body& body) const {
    const std::ptrdiff_t some = chunk / parts_.count, part = chunk % parts_.count, first = images_.begin(some);
    for (std::ptrdiff_t i = first; i < first + images_.size(some); ++i) {
      body(image_rows{i, parts_.begin(part), parts_.size(part)});
    }
  }

 private:
  static std::ptrdiff_t worth(std::int64_t products, std::int64_t of_one) {
    return products / std::max<std::int64_t>(1, of_one);
  }

  even_parts images_, parts_;
  std::int64_t products_;
};
inline constexpr std::ptrdiff_t any_number = 1 << 30;

/// Images and the gradients of their results, of both g.batch.
template <class T>
struct filter_gradient_job {
  const window_geometry& g;
  const T* x;
  image_stack x_at;
  const T* dy;
  image_stack dy_at;

  std::ptrdiff_t weights() const { return g.filter_h * g.filter_w * g.group_in() * g.out_c; }
};

}  // namespace kerngrad::kernels
