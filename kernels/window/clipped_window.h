// SPDX-License-Identifier: Apache-2.0
// The windows over a stack of images, each clipped to its image once. Plain C++, private to kernels/.
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernels/window/window.h"

namespace kerngrad::kernels {
namespace {

/// The part of a window inside the image: `rows` by `columns` elements, `first` elements into the stack of images,
/// neighbours `row_step` and `column_step` apart. Its first element is that of the filter at row `top`, column `left`.
struct clipped_window {
  std::ptrdiff_t first, rows, columns, row_step, column_step, top, left;
  std::ptrdiff_t count() const { return rows * columns; }
};

/// Calls body(window, output offset, pixels) for all output pixels in row-major order: those of a row whose windows no
/// side of the image cuts at once, the windows stride_w * in_c elements apart, others one by one.
template <class Body>
void for_each_run(const window_geometry& g, Body body) {
  const clipped_axis uncut(0, g.filter_w, 1, g.filter_w);
  const std::ptrdiff_t room = g.in_w + g.pad_left - (g.filter_w - 1) * g.dilation_w;
  const std::ptrdiff_t low = g.pad_left > 0 ? (g.pad_left + g.stride_w - 1) / g.stride_w : 0;
  const std::ptrdiff_t high = std::min(room > 0 ? (room + g.stride_w - 1) / g.stride_w : 0, g.out_w);
  std::ptrdiff_t at = 0;
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    for (std::ptrdiff_t oy = 0; oy < g.out_h; ++oy) {
      const clipped_axis rows(oy * g.stride_h - g.pad_top, g.filter_h, g.dilation_h, g.in_h);
      for (std::ptrdiff_t ox = 0, pixels = 1; ox < g.out_w; ox += pixels, at += pixels * g.in_c) {
        const std::ptrdiff_t left = ox * g.stride_w - g.pad_left;
        const bool whole = ox >= low && ox < high;
        pixels = whole ? high - ox : 1;
        const clipped_axis columns = whole ? uncut : clipped_axis(left, g.filter_w, g.dilation_w, g.in_w);
        clipped_window w{.first = 0,
                         .rows = rows.count(),
                         .columns = columns.count(),
                         .row_step = g.dilation_h * g.in_w * g.in_c,
                         .column_step = g.dilation_w * g.in_c,
                         .top = rows.low,
                         .left = columns.low};
        if (w.count() > 0) {
          const std::ptrdiff_t iy = oy * g.stride_h - g.pad_top + rows.low * g.dilation_h;
          const std::ptrdiff_t ix = left + columns.low * g.dilation_w;
          w.first = ((b * g.in_h + iy) * g.in_w + ix) * g.in_c;
        }
        body(w, at, pixels);
      }
    }
  }
}

/// Calls body(window, output offset) for every output pixel in row-major order.
template <class Body>
void for_each_window(const window_geometry& g, Body body) {
  for_each_run(g, [&](clipped_window w, std::ptrdiff_t at, std::ptrdiff_t pixels) {
    for (; pixels > 0; --pixels, w.first += g.stride_w * g.in_c, at += g.in_c) body(w, at);
  });
}

}  // namespace
}  // namespace kerngrad::kernels
