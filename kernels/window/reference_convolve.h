// SPDX-License-Identifier: Apache-2.0
// Scalar definitions of convolutions in groups, and of their gradients.
#pragma once
#include <cstdint>

#include "kernels/common/reference_scalar.h"
#include "kernels/window/reference_position.h"

namespace kerngrad::kernels::reference {

template <class T>
void convolve(const window_geometry& g, const T* x, const T* w, T* y) {
  position p{};
  for (p.batch = 0; p.batch < g.batch; ++p.batch)
    for (p.oy = 0; p.oy < g.out_h; ++p.oy)
      for (p.ox = 0; p.ox < g.out_w; ++p.ox)
        for (std::int64_t co = 0; co < g.out_c; ++co) {
          wide_t<T> sum = 0;
          for (p.ky = 0; p.ky < g.filter_h; ++p.ky)
            for (p.kx = 0; p.kx < g.filter_w; ++p.kx) {
              if (!p.inside(g)) continue;
              const std::int64_t first = co / g.group_out() * g.group_in();
              for (std::int64_t ci = 0; ci < g.group_in(); ++ci)
                sum += wide_t<T>{x[p.input(g) + first + ci]} * w[(p.tap(g) * g.group_in() + ci) * g.out_c + co];
            }
          y[p.output(g) + co] = static_cast<T>(sum);
        }
}

template <class T>
void convolve_back_to_input(const window_geometry& g, const T* dy, const T* w, T* dx) {
  position p{};
  for (p.batch = 0; p.batch < g.batch; ++p.batch)
    for (std::int64_t iy = 0; iy < g.in_h; ++iy)
      for (std::int64_t ix = 0; ix < g.in_w; ++ix)
        for (std::int64_t ci = 0; ci < g.in_c; ++ci) {
          wide_t<T> sum = 0;
          for (p.ky = 0; p.ky < g.filter_h; ++p.ky)
            for (p.kx = 0; p.kx < g.filter_w; ++p.kx) {
              const std::int64_t down = iy + g.pad_top - p.ky * g.dilation_h;
              const std::int64_t right = ix + g.pad_left - p.kx * g.dilation_w;
              if (down < 0 || right < 0 || down % g.stride_h != 0 || right % g.stride_w != 0) continue;
              p.oy = down / g.stride_h;
              p.ox = right / g.stride_w;
              if (p.oy >= g.out_h || p.ox >= g.out_w) continue;
              const std::int64_t first = ci / g.group_in() * g.group_out();
              for (std::int64_t co = first; co < first + g.group_out(); ++co)
                sum +=
                    wide_t<T>{dy[p.output(g) + co]} * w[(p.tap(g) * g.group_in() + ci % g.group_in()) * g.out_c + co];
            }
          dx[((p.batch * g.in_h + iy) * g.in_w + ix) * g.in_c + ci] = static_cast<T>(sum);
        }
}

template <class T>
void convolve_back_to_filter(const window_geometry& g, const T* x, const T* dy, T* dw) {
  position p{};
  for (p.ky = 0; p.ky < g.filter_h; ++p.ky)
    for (p.kx = 0; p.kx < g.filter_w; ++p.kx)
      for (std::int64_t ci = 0; ci < g.group_in(); ++ci)
        for (std::int64_t co = 0; co < g.out_c; ++co) {
          wide_t<T> sum = 0;
          for (p.batch = 0; p.batch < g.batch; ++p.batch)
            for (p.oy = 0; p.oy < g.out_h; ++p.oy)
              for (p.ox = 0; p.ox < g.out_w; ++p.ox) {
                if (!p.inside(g)) continue;
                sum += wide_t<T>{x[p.input(g) + co / g.group_out() * g.group_in() + ci]} * dy[p.output(g) + co];
              }
          dw[(p.tap(g) * g.group_in() + ci) * g.out_c + co] = static_cast<T>(sum);
        }
}

}  // namespace kerngrad::kernels::reference
