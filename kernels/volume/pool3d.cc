// SPDX-License-Identifier: Apache-2.0
// Pooling over NDHWC volumes: each window is clipped to the volume once, then its elements are vectors of channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/volume/pool3d.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>

#include "kernels/volume/pool3d.h"
#include "kernels/window/channels-inl.h"
#include "kernels/window/maximum-inl.h"

#ifndef KERNGRAD_KERNELS_POOL3D_COMMON
#define KERNGRAD_KERNELS_POOL3D_COMMON
namespace kerngrad::kernels {
namespace {

/// The part of an axis of a window inside the volume: `count` elements from `first` on, `step` elements apart, both
/// counted in elements of the operand.
struct clipped_line {
  std::ptrdiff_t count, first, step;
  clipped_line(const volume_axis& a, std::ptrdiff_t o, std::ptrdiff_t size) {
    const std::ptrdiff_t start = o * a.stride - a.pad;
    const clipped_axis inside(start, a.filter, a.dilation, a.in);
    count = inside.count();
    first = count > 0 ? (start + inside.low * a.dilation) * size : 0;
    step = a.dilation * size;
  }
};

/// The part of a window inside the volume, whose first element is `first` elements into the stack of volumes.
struct clipped_box {
  std::ptrdiff_t first;
  clipped_line slices, rows, columns;
  std::ptrdiff_t count() const { return slices.count * rows.count * columns.count; }

  /// Calls f(offset from the first element) for each, slice by slice and row by row.
  template <class F>
  HWY_INLINE void each(F f) const {
    for (std::ptrdiff_t z = 0, slice = 0; z < slices.count; ++z, slice += slices.step) {
      for (std::ptrdiff_t y = 0, row = slice; y < rows.count; ++y, row += rows.step) {
        for (std::ptrdiff_t x = 0, at = row; x < columns.count; ++x, at += columns.step) f(at);
      }
    }
  }
};

/// Calls body(box, output offset) for every output pixel in row-major order.
template <class Body>
void for_each_box(const volume_geometry& g, Body body) {
  const std::ptrdiff_t row = g.width.in * g.in_c, slice = g.in_slice();
  std::ptrdiff_t at = 0;
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    for (std::ptrdiff_t oz = 0; oz < g.depth.out; ++oz) {
      const clipped_line slices(g.depth, oz, slice);
      for (std::ptrdiff_t oy = 0; oy < g.height.out; ++oy) {
        const clipped_line rows(g.height, oy, row);
        for (std::ptrdiff_t ox = 0; ox < g.width.out; ++ox, at += g.in_c) {
          const clipped_line columns(g.width, ox, g.in_c);
          const std::ptrdiff_t first = b * g.depth.in * slice + slices.first + rows.first + columns.first;
          body(clipped_box{first, slices, rows, columns}, at);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_POOL3D_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// The largest element of a window that is not NaN.
template <class D, class Access, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> box_max(D d, Access a, const clipped_box& box, const T* x) {
  auto best = hn::Set(d, lowest<T>());
  box.each([&](std::ptrdiff_t at) HWY_ATTR { best = larger_of(d, best, a.load(d, x + at)); });
  return best;
}

/// Calls f(offset, mask) for the elements of a window; each lane is in the mask of the first element that equals its
/// maximum, and of no other.
template <class D, class Access, class F, class T = hn::TFromD<D>>
HWY_INLINE void each_first_maximum(D d, Access a, const clipped_box& box, const T* x, F f) {
  const auto best = box_max(d, a, box, x);
  auto open = hn::Eq(best, best);  // lanes whose element has not been met
  box.each([&](std::ptrdiff_t at) HWY_ATTR {
    const auto here = hn::And(open, hn::Eq(a.load(d, x + at), best));
    open = hn::AndNot(here, open);
    f(at, here);
  });
}

/// MaxPool3D, exact. NaN, empty windows and zeros as said in pool3d.h. Reference: kernels/volume/reference_pool3d.cc.
template <dtype Type, class T = storage_t<Type>>
void MaxPool3D(const volume_geometry& g, const T* x, T* y) {
  for_each_box(g, [&](const clipped_box& box, std::ptrdiff_t at) HWY_ATTR {
    if (box.count() == 0) {
      std::fill_n(y + at, g.in_c, lowest<T>());
      return;
    }
    each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c)
                                 HWY_ATTR { a.store(d, box_max(d, a, box, x + box.first + c), y + at + c); });
  });
}

/// MaxPool3DGrad: sums over windows in the order of the windows, in the type itself. Reference:
/// kernels/volume/reference_pool3d.cc.
template <dtype Type, class T = storage_t<Type>>
void MaxPool3DGrad(const volume_geometry& g, const T* dy, const T* x, const T* /*y*/, T* dx) {
  std::fill_n(dx, g.batch * g.depth.in * g.in_slice(), T{0});
  for_each_box(g, [&](const clipped_box& box, std::ptrdiff_t at) HWY_ATTR {
    if (box.count() == 0) return;
    each_channels<T, false>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const auto gradient = a.load(d, dy + at + c);
      T* to = dx + box.first + c;
      each_first_maximum(d, a, box, x + box.first + c, [&](std::ptrdiff_t k, auto here) HWY_ATTR {
        a.store(d, hn::Add(a.load(d, to + k), hn::IfThenElseZero(here, gradient)), to + k);
      });
    });
  });
}

/// MaxPool3DGather, exact: the gradient of MaxPool3DGrad with respect to dy. Reference:
/// kernels/volume/reference_pool3d.cc.
template <dtype Type, class T = storage_t<Type>>
void MaxPool3DGather(const volume_geometry& g, const T* source, const T* x, T* z) {
  for_each_box(g, [&](const clipped_box& box, std::ptrdiff_t at) HWY_ATTR {
    if (box.count() == 0) {
      std::fill_n(z + at, g.in_c, T{0});
      return;
    }
    each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const T* from = source + box.first + c;
      auto found = hn::Zero(d);
      each_first_maximum(d, a, box, x + box.first + c, [&](std::ptrdiff_t k, auto here) HWY_ATTR {
        found = hn::IfThenElse(here, a.load(d, from + k), found);
      });
      a.store(d, found, z + at + c);
    });
  });
}

/// AvgPool3D: sums slice by slice and row by row in the type itself, divided by the count; |error| <= (count + 1) * eps
/// * sum |x| / count. NaN propagates; an empty window is 0. Reference: kernels/volume/reference_pool3d.cc.
template <dtype Type, class T = storage_t<Type>>
void AvgPool3D(const volume_geometry& g, const T* x, T* y) {
  for_each_box(g, [&](const clipped_box& box, std::ptrdiff_t at) HWY_ATTR {
    if (box.count() == 0) {
      std::fill_n(y + at, g.in_c, T{0});
      return;
    }
    each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      auto sum = hn::Zero(d);
      const T* from = x + box.first + c;
      box.each([&](std::ptrdiff_t k) HWY_ATTR { sum = hn::Add(sum, a.load(d, from + k)); });
      a.store(d, hn::Div(sum, hn::Set(d, static_cast<T>(box.count()))), y + at + c);
    });
  });
}

/// AvgPool3DGrad: sums over windows in the order of the windows, in the type itself. Reference:
/// kernels/volume/reference_pool3d.cc.
template <dtype Type, class T = storage_t<Type>>
void AvgPool3DGrad(const volume_geometry& g, const T* dy, const T* /*x*/, T* dx) {
  std::fill_n(dx, g.batch * g.depth.in * g.in_slice(), T{0});
  for_each_box(g, [&](const clipped_box& box, std::ptrdiff_t at) HWY_ATTR {
    if (box.count() == 0) return;
    each_channels<T, false>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const auto share = hn::Div(a.load(d, dy + at + c), hn::Set(d, static_cast<T>(box.count())));
      T* to = dx + box.first + c;
      box.each([&](std::ptrdiff_t k) HWY_ATTR { a.store(d, hn::Add(a.load(d, to + k), share), to + k); });
    });
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_POOL3D_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_POOL3D_KERNELS)
}  // namespace kerngrad::kernels
#endif
