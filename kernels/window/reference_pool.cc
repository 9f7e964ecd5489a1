// SPDX-License-Identifier: Apache-2.0
#include "kernels/window/pool.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace kerngrad::kernels::reference {
namespace {

/// Calls body(output index, channel) for every output element, in row-major order of the windows.
template <class Body>
void for_each_output(const window_geometry& g, Body body) {
  std::int64_t index = 0;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oy = 0; oy < g.out_h; ++oy)
      for (std::int64_t ox = 0; ox < g.out_w; ++ox)
        for (std::int64_t c = 0; c < g.in_c; ++c, ++index) body(index, b, oy, ox, c);
}

/// The first of start, start + step, ... that is not before the image.
std::int64_t from_inside(std::int64_t start, std::int64_t step) {
  return start >= 0 ? start : (start % step + step) % step;
}

/// Calls visit(input index) for every element of a window inside the image, row by row.
template <class Visit>
void for_each_inside(const window_geometry& g, std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t c,
                     Visit visit) {
  const std::int64_t top = oy * g.stride_h - g.pad_top, left = ox * g.stride_w - g.pad_left;
  const std::int64_t bottom = std::min(g.in_h, top + (g.filter_h - 1) * g.dilation_h + 1);
  const std::int64_t right = std::min(g.in_w, left + (g.filter_w - 1) * g.dilation_w + 1);
  for (std::int64_t iy = from_inside(top, g.dilation_h); iy < bottom; iy += g.dilation_h)
    for (std::int64_t ix = from_inside(left, g.dilation_w); ix < right; ix += g.dilation_w)
      visit(((b * g.in_h + iy) * g.in_w + ix) * g.in_c + c);
}

std::int64_t input_count(const window_geometry& g) { return g.batch * g.in_h * g.in_w * g.in_c; }

/// Index of the first maximum of the window, -1 if no element inside is a number.
template <class T>
std::int64_t first_maximum(const window_geometry& g, const T* x, std::int64_t b, std::int64_t oy, std::int64_t ox,
                           std::int64_t c) {
  std::int64_t best = -1;
  for_each_inside(g, b, oy, ox, c, [&](std::int64_t at) {
    if (x[at] != x[at]) return;
    if (best < 0 || x[at] > x[best]) best = at;
  });
  return best;
}

template <dtype Type, class T = storage_t<Type>>
void MaxPool(const window_geometry& g, const T* x, T* y) {
  const T nothing = std::numeric_limits<T>::has_infinity ? static_cast<T>(-HUGE_VAL) : std::numeric_limits<T>::lowest();
  for_each_output(g, [&](std::int64_t index, auto... where) {
    const std::int64_t best = first_maximum(g, x, where...);
    y[index] = best < 0 ? nothing : x[best];
  });
}

template <dtype Type, class T = storage_t<Type>>
void MaxPoolWithArgmax(const argmax_geometry& numbering, const T* x, T* y, std::int32_t* positions) {
  const window_geometry& g = numbering.window;
  MaxPool<Type>(g, x, y);
  for_each_output(g, [&](std::int64_t index, std::int64_t b, auto... where) {
    const std::int64_t best = first_maximum(g, x, b, where...);
    const std::int64_t before = numbering.each_image ? -b * g.in_h * g.in_w * g.in_c : numbering.first;
    positions[index] = best < 0 ? -1 : static_cast<std::int32_t>(before + best);
  });
}

template <dtype Type, class T = storage_t<Type>>
void MaxPoolGrad(const window_geometry& g, const T* dy, const T* x, const T* /*y*/, T* dx) {
  for (std::int64_t i = 0; i < input_count(g); ++i) dx[i] = 0;
  for_each_output(g, [&](std::int64_t index, auto... where) {
    const std::int64_t best = first_maximum(g, x, where...);
    if (best >= 0) dx[best] += dy[index];
  });
}

template <dtype Type, class T = storage_t<Type>>
void MaxPoolGather(const window_geometry& g, const T* source, const T* x, T* z) {
  for_each_output(g, [&](std::int64_t index, auto... where) {
    const std::int64_t best = first_maximum(g, x, where...);
    z[index] = best < 0 ? T{0} : source[best];
  });
}

template <dtype Type, class T = storage_t<Type>>
void AvgPool(const window_geometry& g, const T* x, T* y) {
  for_each_output(g, [&](std::int64_t index, auto... where) {
    long double sum = 0;
    std::int64_t count = 0;
    for_each_inside(g, where..., [&](std::int64_t at) { sum += x[at], ++count; });
    y[index] = count == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(sum / count);
  });
}

template <dtype Type, class T = storage_t<Type>>
void AvgPoolGrad(const window_geometry& g, const T* dy, const T* /*x*/, T* dx) {
  for (std::int64_t i = 0; i < input_count(g); ++i) dx[i] = 0;
  for_each_output(g, [&](std::int64_t index, auto... where) {
    std::int64_t count = 0;
    for_each_inside(g, where..., [&](std::int64_t) { ++count; });
    for_each_inside(g, where..., [&](std::int64_t at) { dx[at] += dy[index] / static_cast<T>(count); });
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_POOL_KERNELS)

}  // namespace kerngrad::kernels::reference
