// SPDX-License-Identifier: Apache-2.0
#include "kernels/image/resize.h"

#include <algorithm>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// numerator / denominator, rounded down.
std::int64_t rounded_down(std::int64_t numerator, std::int64_t denominator) {
  return numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
}

/// Parts of pixel i of an axis: two pixels of x and the share of the second.
template <class W>
struct shares {
  std::int64_t low, high;
  W of_high;
};
template <class W>
shares<W> linear_shares(const resize_geometry& g, std::int64_t in, std::int64_t out, std::int64_t i) {
  std::int64_t numerator = i * in, denominator = out;
  if (g.align_corners && out > 1) {
    numerator = i * (in - 1);
    denominator = out - 1;
  } else if (g.half_pixel_centers) {
    numerator = (2 * i + 1) * in - out;
    denominator = 2 * out;
  }
  const std::int64_t low = rounded_down(numerator, denominator);
  const W rest = static_cast<W>(numerator - low * denominator) / static_cast<W>(denominator);
  const bool inside = low >= 0 && low + 1 < in;
  return {std::max<std::int64_t>(low, 0), inside ? low + 1 : std::max<std::int64_t>(low, 0), inside ? rest : W{0}};
}

std::int64_t nearest_pixel(const resize_geometry& g, std::int64_t in, std::int64_t out, std::int64_t i) {
  if (g.align_corners && out > 1) return rounded_down(2 * i * (in - 1) + out - 1, 2 * (out - 1));
  return g.half_pixel_centers ? (2 * i + 1) * in / (2 * out) : i * in / out;
}

/// Calls body(index of an element of y, b, oy, ox, c) in row-major order.
template <class Body>
void for_each_result(const resize_geometry& g, Body body) {
  std::int64_t index = 0;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oy = 0; oy < g.out_h; ++oy)
      for (std::int64_t ox = 0; ox < g.out_w; ++ox)
        for (std::int64_t c = 0; c < g.channels; ++c, ++index) body(index, b, oy, ox, c);
}

std::int64_t index_in_x(const resize_geometry& g, std::int64_t b, std::int64_t y, std::int64_t x, std::int64_t c) {
  return ((b * g.in_h + y) * g.in_w + x) * g.channels + c;
}

template <dtype Type, class T = storage_t<Type>>
void ResizeBilinear(const resize_geometry& g, const T* x, T* y) {
  using W = wide_t<T>;
  for_each_result(g, [&](std::int64_t index, std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t c) {
    const auto down = linear_shares<W>(g, g.in_h, g.out_h, oy);
    const auto across = linear_shares<W>(g, g.in_w, g.out_w, ox);
    const auto at = [&](std::int64_t row, std::int64_t column) { return W(x[index_in_x(g, b, row, column, c)]); };
    const auto between = [](W a, W z, W share) { return share == 0 ? a : a + (z - a) * share; };
    y[index] = static_cast<T>(between(between(at(down.low, across.low), at(down.high, across.low), down.of_high),
                                      between(at(down.low, across.high), at(down.high, across.high), down.of_high),
                                      across.of_high));
  });
}

template <dtype Type, class T = storage_t<Type>>
void ResizeNearestNeighbor(const resize_geometry& g, const T* x, T* y) {
  for_each_result(g, [&](std::int64_t index, std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t c) {
    const std::int64_t row = nearest_pixel(g, g.in_h, g.out_h, oy), column = nearest_pixel(g, g.in_w, g.out_w, ox);
    y[index] = x[index_in_x(g, b, row, column, c)];
  });
}

template <dtype Type, class T = storage_t<Type>>
void ResizeBilinearGrad(const resize_geometry& g, const T* dy, T* dx) {
  using W = wide_t<T>;
  std::fill_n(dx, g.batch * g.in_h * g.in_w * g.channels, T{0});
  for_each_result(g, [&](std::int64_t index, std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t c) {
    const auto down = linear_shares<W>(g, g.in_h, g.out_h, oy);
    const auto across = linear_shares<W>(g, g.in_w, g.out_w, ox);
    const auto give = [&](std::int64_t row, std::int64_t column, W share) {
      if (share == 0) return;
      T& to = dx[index_in_x(g, b, row, column, c)];
      to = static_cast<T>(W(to) + share * W(dy[index]));
    };
    give(down.low, across.low, (1 - down.of_high) * (1 - across.of_high));
    give(down.low, across.high, (1 - down.of_high) * across.of_high);
    give(down.high, across.low, down.of_high * (1 - across.of_high));
    give(down.high, across.high, down.of_high * across.of_high);
  });
}

template <dtype Type, class T = storage_t<Type>>
void ResizeNearestNeighborGrad(const resize_geometry& g, const T* dy, T* dx) {
  std::fill_n(dx, g.batch * g.in_h * g.in_w * g.channels, T{0});
  for_each_result(g, [&](std::int64_t index, std::int64_t b, std::int64_t oy, std::int64_t ox, std::int64_t c) {
    const std::int64_t row = nearest_pixel(g, g.in_h, g.out_h, oy), column = nearest_pixel(g, g.in_w, g.out_w, ox);
    dx[index_in_x(g, b, row, column, c)] += dy[index];
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_RESIZE_KERNELS)

}  // namespace kerngrad::kernels::reference
