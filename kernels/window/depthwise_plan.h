// SPDX-License-Identifier: Apache-2.0
// How a depthwise convolution is taken apart: chunks of rows, whole windows, repeated channels, phases of a stride.
// Plain C++, private to kernels/.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/window/window.h"

namespace kerngrad::kernels {

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
struct pixel_row_chunks {
  std::int64_t rows, rows_each, products;
  std::ptrdiff_t count;
  pixel_row_chunks(std::int64_t all_rows, std::int64_t products_per_row)
      : rows(all_rows), products(saturated_product(all_rows, products_per_row)) {
    rows_each = (products_worth_threads / std::max<std::int64_t>(products_per_row, 1) + 2) & ~std::int64_t{1};
    count = (rows + rows_each - 1) / rows_each;
  }
  std::ptrdiff_t low(std::ptrdiff_t i) const { return i * rows_each; }
  std::ptrdiff_t high(std::ptrdiff_t i) const { return std::min(rows, low(i + 1)); }
};

/// The rows of the window that begins at row `top`, cut to the image. A division by the dilation takes as long as some
/// pixels, and mostly there is none.
inline clipped_axis rows_inside(const window_geometry& g, std::ptrdiff_t top) {
  return g.dilation_h == 1 ? clipped_axis(top, g.filter_h, 1, g.in_h)
                           : clipped_axis(top, g.filter_h, g.dilation_h, g.in_h);
}

/// Calls body(image, row, most) for rows [low, high), counted through images of `rows` rows; it says how many rows it
/// took, 1 to `most`.
template <class Body>
void for_rows_of_images(std::ptrdiff_t low, std::ptrdiff_t high, std::ptrdiff_t rows, const Body& body) {
  for (std::ptrdiff_t image = low / rows, row = low % rows, left = high - low; left > 0; ++image, row = 0) {
    for (std::ptrdiff_t taken; row < rows && left > 0; row += taken, left -= taken) {
      taken = body(image, row, std::min(rows - row, left));
    }
  }
}

inline std::int64_t input_count(const window_geometry& g) { return g.batch * g.in_h * g.in_w * g.in_c; }
inline std::int64_t output_count(const window_geometry& g) { return g.batch * g.out_h * g.out_w * g.out_c; }

/// The geometry with the channels of the output on both sides.
inline window_geometry widened(window_geometry g) {
  g.in_c = g.out_c;
  return g;
}

/// True if the input with repeated channels is small enough to be written down: with strides most of it may lie under
/// no window.
inline bool repeats_all(const window_geometry& g) {
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
    const clipped_axis rows = rows_inside(all, top);
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

/// Output positions that one input position reaches along an axis, as pairs of output position and filter position.
struct reach {
  std::ptrdiff_t output, tap;
};

/// The positions of one axis by their remainder modulo the stride, those that a window reaches: which output positions
/// they come from, for position `phase` + q * stride that of q = 0.
using phase_reaches = std::map<std::ptrdiff_t, std::vector<reach>>;

inline phase_reaches reaches_by_phase(std::ptrdiff_t in, std::ptrdiff_t out, std::ptrdiff_t filter,
                                      std::ptrdiff_t stride, std::ptrdiff_t dilation, std::ptrdiff_t pad) {
  phase_reaches found;
  for (std::ptrdiff_t k = 0; k < filter; ++k) {
    const std::ptrdiff_t first = k * dilation - pad, phase = (first % stride + stride) % stride;
    const std::ptrdiff_t output = (phase - first) / stride;
    const bool meets = phase < in && output < out && output + (in - 1 - phase) / stride >= 0;
    if (meets) found[phase].push_back({output, k});
  }
  return found;
}

}  // namespace kerngrad::kernels
