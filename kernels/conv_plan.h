// SPDX-License-Identifier: Apache-2.0
// How a convolution is taken apart: frames of an image, the taps of a filter, chunks of a batch. Plain C++, private to
// kernels/.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/chunks.h"
#include "kernels/gemm_scratch.h"

namespace kerngrad::kernels {

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
  T* panels = nullptr;              // the packed filter; where there is none, the taps' weights follow each other

  std::ptrdiff_t depth() const { return static_cast<std::ptrdiff_t>(taps.size()) * src_channels; }
  // The taps of a filter row, `per_row` of them and `gap` columns apart, make one run when nothing lies between.
  void find_runs(std::ptrdiff_t per_row, std::ptrdiff_t gap) { taps_per_run = gap == 1 && per_row > 1 ? per_row : 1; }
  std::vector<std::ptrdiff_t> offsets(std::ptrdiff_t pitch) const {
    std::vector<std::ptrdiff_t> found;
    for (std::size_t t = 0; t < taps.size(); t += static_cast<std::size_t>(taps_per_run)) {
      found.push_back(taps[t].row * pitch + taps[t].column * src_channels);
    }
    return found;
  }
};

/// Rows [first, first + rows) of image `image`.
struct image_rows {
  std::ptrdiff_t image, first, rows;
};

/// The rows of a batch of images in chunks: some images each, or large images in even parts. Chunks follow from the
/// shape alone; `most` limits how many there are.
class image_chunks {
 public:
  image_chunks(std::ptrdiff_t images, std::ptrdiff_t rows, std::int64_t products_per_row, std::ptrdiff_t most)
      : images_(images),
        images_each_(std::max(products_per_chunk / std::max<std::int64_t>(1, rows * products_per_row),
                              (images + most - 1) / most)),
        parts_(rows,
               images_each_ > 1 || images >= most
                   ? std::max<std::ptrdiff_t>(rows, 1)
                   : std::max<std::ptrdiff_t>(
                         {1, products_per_chunk / std::max<std::int64_t>(1, products_per_row), rows * images / most})),
        products_(images * rows * products_per_row) {}

  std::ptrdiff_t count() const { return (images_ + images_each_ - 1) / images_each_ * parts_.count; }
  std::int64_t products() const { return products_; }

  /// Calls body(image_rows) for each image of a chunk.
  template <class Body>
  void visit(std::ptrdiff_t chunk, const Body& body) const {
    const std::ptrdiff_t first = chunk / parts_.count * images_each_, part = chunk % parts_.count;
    for (std::ptrdiff_t i = first; i < std::min(images_, first + images_each_); ++i) {
      body(image_rows{i, parts_.begin(part), parts_.size(part)});
    }
  }

 private:
  // More than is worth a thread, because the frames of neighbouring chunks overlap.
  static constexpr std::int64_t products_per_chunk = 16 * products_worth_threads;

  std::ptrdiff_t images_, images_each_;
  even_parts parts_;
  std::int64_t products_;
};
inline constexpr std::ptrdiff_t any_number = 1 << 30;

}  // namespace kerngrad::kernels
