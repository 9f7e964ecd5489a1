// SPDX-License-Identifier: Apache-2.0
// One meeting of an output pixel with an element of the window: what the definitions of convolutions index by.
#pragma once
#include "kernels/window/window.h"

namespace kerngrad::kernels::reference {

struct position {
  std::int64_t batch, oy, ox, ky, kx;
  std::int64_t iy(const window_geometry& g) const { return oy * g.stride_h - g.pad_top + ky * g.dilation_h; }
  std::int64_t ix(const window_geometry& g) const { return ox * g.stride_w - g.pad_left + kx * g.dilation_w; }
  bool inside(const window_geometry& g) const { return iy(g) >= 0 && iy(g) < g.in_h && ix(g) >= 0 && ix(g) < g.in_w; }
  std::int64_t input(const window_geometry& g) const { return ((batch * g.in_h + iy(g)) * g.in_w + ix(g)) * g.in_c; }
  std::int64_t output(const window_geometry& g) const { return ((batch * g.out_h + oy) * g.out_w + ox) * g.out_c; }
  /// The window's element, counted in row-major order.
  std::int64_t tap(const window_geometry& g) const { return ky * g.filter_w + kx; }
};

}  // namespace kerngrad::kernels::reference
