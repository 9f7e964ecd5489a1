// SPDX-License-Identifier: Apache-2.0
#include "kernels/image/warp.h"

#include <algorithm>
#include <cmath>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// Weight of pixel p in a pixel of y, or in its derivative, at a position on one side.
template <class W>
W weight_of(const warp_geometry& g, mapped_position at, double p, bool slope) {
  if (g.nearest) return W(!slope && std::floor(at.at + 0.5) == p ? 1 : 0);
  const double low = std::floor(at.at);
  if (slope) return W(p == low ? -at.direction : p == low + 1 ? at.direction : 0);
  return W(p == low ? 1 - (at.at - low) : p == low + 1 ? at.at - low : 0);
}

/// Calls body(element of y, element of x or -1 for one outside, weight); the weight is 1 where there is no position.
template <class W, class Body>
void for_each_share(const warp_geometry& g, Body body) {
  std::int64_t index = 0;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t i = 0; i < g.out_h; ++i)
      for (std::int64_t j = 0; j < g.out_w; ++j)
        for (std::int64_t c = 0; c < g.channels; ++c, ++index) {
          const double* t = g.transforms + b * g.stride;
          const double y = static_cast<double>(i), x = static_cast<double>(j), p = t[6] * x + t[7] * y + 1;
          const double row = (t[3] * x + t[4] * y + t[5]) / p, column = (t[0] * x + t[1] * y + t[2]) / p;
          if (p == 0 || !std::isfinite(row) || !std::isfinite(column)) {
            body(index, -1, W(g.slope_down || g.slope_across ? 0 : 1));
            continue;
          }
          const mapped_position down = mapped(row, g.in_h, g.mode), across = mapped(column, g.in_w, g.mode);
          const double first_row = std::floor(down.at), first_column = std::floor(across.at);
          for (const double r : {first_row, first_row + 1})
            for (const double q : {first_column, first_column + 1}) {
              const W weight = weight_of<W>(g, down, r, g.slope_down) * weight_of<W>(g, across, q, g.slope_across);
              const bool inside =
                  r >= 0 && r < static_cast<double>(g.in_h) && q >= 0 && q < static_cast<double>(g.in_w);
              if (weight == 0) continue;
              body(index,
                   inside ? ((b * g.in_h + static_cast<std::int64_t>(r)) * g.in_w + static_cast<std::int64_t>(q)) *
                                    g.channels +
                                c
                          : -1,
                   weight);
            }
        }
}

template <dtype Type, class T = storage_t<Type>>
void Transform(const warp_geometry& g, const T* x, T* y) {
  using W = wide_t<T>;
  std::fill_n(y, g.batch * g.out_h * g.out_w * g.channels, T{0});
  std::int64_t started = -1;
  W sum = 0;
  for_each_share<W>(g, [&](std::int64_t index, std::int64_t from, W weight) {
    sum = (index == started ? sum : 0) + weight * (from < 0 ? W(static_cast<T>(g.fill)) : W(x[from]));
    started = index;
    y[index] = static_cast<T>(sum);
  });
}

template <dtype Type, class T = storage_t<Type>>
void TransformGrad(const warp_geometry& g, const T* dy, T* dx) {
  using W = wide_t<T>;
  std::fill_n(dx, g.batch * g.in_h * g.in_w * g.channels, T{0});
  for_each_share<W>(g, [&](std::int64_t index, std::int64_t to, W weight) {
    if (to >= 0) dx[to] = static_cast<T>(W(dx[to]) + weight * W(dy[index]));
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_WARP_KERNELS)

}  // namespace kerngrad::kernels::reference
