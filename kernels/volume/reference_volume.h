// SPDX-License-Identifier: Apache-2.0
// One meeting of an element of the result with an element of the window: what the definitions of the ops on volumes
// index by.
#pragma once
#include "kernels/volume/volume.h"

namespace kerngrad::kernels::reference {

struct volume_position {
  std::int64_t batch, oz, oy, ox, kz, ky, kx;

  static std::int64_t met(const volume_axis& a, std::int64_t o, std::int64_t k) {
    return o * a.stride - a.pad + k * a.dilation;
  }
  std::int64_t iz(const volume_geometry& g) const { return met(g.depth, oz, kz); }
  std::int64_t iy(const volume_geometry& g) const { return met(g.height, oy, ky); }
  std::int64_t ix(const volume_geometry& g) const { return met(g.width, ox, kx); }
  std::int64_t input(const volume_geometry& g) const {
    return (((batch * g.depth.in + iz(g)) * g.height.in + iy(g)) * g.width.in + ix(g)) * g.in_c;
  }
  std::int64_t output(const volume_geometry& g) const {
    return (((batch * g.depth.out + oz) * g.height.out + oy) * g.width.out + ox) * g.out_c;
  }
  /// The window's element, counted in row-major order.
  std::int64_t tap(const volume_geometry& g) const { return (kz * g.height.filter + ky) * g.width.filter + kx; }
};

/// Calls visit(position) for every pixel of the result; the window's element is its first.
template <class Visit>
void for_each_output(const volume_geometry& g, Visit visit) {
  volume_position p{};
  for (p.batch = 0; p.batch < g.batch; ++p.batch)
    for (p.oz = 0; p.oz < g.depth.out; ++p.oz)
      for (p.oy = 0; p.oy < g.height.out; ++p.oy)
        for (p.ox = 0; p.ox < g.width.out; ++p.ox) visit(p);
}

/// Calls visit(k) for the elements of a window on an axis that are inside, of which there may be few among very many.
template <class Visit>
void for_each_inside(const volume_axis& a, std::int64_t o, Visit visit) {
  const std::int64_t start = volume_position::met(a, o, 0);
  std::int64_t k = start < 0 ? (-start - 1) / a.dilation + 1 : 0;
  for (; k < a.filter && volume_position::met(a, o, k) < a.in; ++k) visit(k);
}

/// Calls visit(position) for every element of its window inside the volume, in row-major order.
template <class Visit>
void for_each_inside(const volume_geometry& g, volume_position p, Visit visit) {
  for_each_inside(g.depth, p.oz, [&](std::int64_t kz) {
    for_each_inside(g.height, p.oy, [&](std::int64_t ky) {
      for_each_inside(g.width, p.ox, [&](std::int64_t kx) {
        p.kz = kz, p.ky = ky, p.kx = kx;
        visit(p);
      });
    });
  });
}

}  // namespace kerngrad::kernels::reference
