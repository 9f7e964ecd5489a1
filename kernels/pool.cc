// SPDX-License-Identifier: Apache-2.0
// Pooling over NHWC images: each window is clipped to the image once, then its elements are vectors of channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pool.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <limits>

#include "kernels/pool.h"
#include "kernels/window-inl.h"

#ifndef KERNGRAD_KERNELS_POOL_COMMON
#define KERNGRAD_KERNELS_POOL_COMMON
namespace kerngrad::kernels {
namespace {

/// The part of a window inside the image: `rows` by `columns` elements, `first` elements into the stack of images,
/// neighbours `row_step` and `column_step` apart.
struct clipped_window {
  std::ptrdiff_t first, rows, columns, row_step, column_step;
  std::ptrdiff_t count() const { return rows * columns; }
};

/// Calls body(window, output offset) for every output pixel in row-major order.
template <class Body>
void for_each_window(const window_geometry& g, Body body) {
  std::ptrdiff_t at = 0;
  for (std::ptrdiff_t b = 0; b < g.batch; ++b) {
    for (std::ptrdiff_t oy = 0; oy < g.out_h; ++oy) {
      const clipped_axis rows(oy * g.stride_h - g.pad_top, g.filter_h, g.dilation_h, g.in_h);
      for (std::ptrdiff_t ox = 0; ox < g.out_w; ++ox, at += g.in_c) {
        const clipped_axis columns(ox * g.stride_w - g.pad_left, g.filter_w, g.dilation_w, g.in_w);
        clipped_window w{0, rows.count(), columns.count(), g.dilation_h * g.in_w * g.in_c, g.dilation_w * g.in_c};
        if (w.count() > 0) {
          const std::ptrdiff_t iy = oy * g.stride_h - g.pad_top + rows.low * g.dilation_h;
          const std::ptrdiff_t ix = ox * g.stride_w - g.pad_left + columns.low * g.dilation_w;
          w.first = ((b * g.in_h + iy) * g.in_w + ix) * g.in_c;
        }
        body(w, at);
      }
    }
  }
}

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_POOL_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

// The value below every other: what an empty maximum is.
template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Larger(D, V best, V x) {
  return hn::IfThenElse(hn::Gt(x, best), x, best);  // false for NaN, and keeps the first of equal values
}

/// The largest element of a window that is not NaN.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> WindowMax(D d, const clipped_window& w, const T* x) {
  auto best = hn::Set(d, lowest<T>());
  if (w.rows == 2 && w.columns == 2) {  // the common case without loops
    best = Larger(d, best, hn::LoadU(d, x));
    best = Larger(d, best, hn::LoadU(d, x + w.column_step));
    best = Larger(d, best, hn::LoadU(d, x + w.row_step));
    return Larger(d, best, hn::LoadU(d, x + w.row_step + w.column_step));
  }
  for (std::ptrdiff_t ky = 0; ky < w.rows; ++ky, x += w.row_step) {
    for (std::ptrdiff_t kx = 0; kx < w.columns; ++kx) {
      best = Larger(d, best, hn::LoadU(d, x + kx * w.column_step));
    }
  }
  return best;
}

/// MaxPool, exact. NaN, empty windows and zeros as said in pool.h. Reference: kernels/reference/pool.cc.
template <class T>
void MaxPool(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out[0]);
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(y + at, g.in_c, lowest<T>());
      return;
    }
    ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c)
                               HWY_ATTR { hn::StoreU(WindowMax(d, w, x + w.first + c), d, y + at + c); });
  });
}

/// Whether each input element lies in at most one window, so that gradients can be stored instead of added.
bool Disjoint(const window_geometry& g) {
  return g.stride_h >= (g.filter_h - 1) * g.dilation_h + 1 && g.stride_w >= (g.filter_w - 1) * g.dilation_w + 1;
}

/// Whether every input element lies in exactly one window, so that nothing need be cleared before.
bool Tiles(const window_geometry& g) {
  const bool whole = g.stride_h == g.filter_h && g.stride_w == g.filter_w && g.dilation_h == 1 && g.dilation_w == 1;
  return whole && g.pad_top >= 0 && g.pad_left >= 0 && g.out_h * g.stride_h - g.pad_top >= g.in_h &&
         g.out_w * g.stride_w - g.pad_left >= g.in_w;
}

/// Adds (or stores) one window's gradient: dy to the first element that equals the maximum.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void ScatterToMax(D d, const clipped_window& w, const T* x, hn::Vec<D> dy, bool store, T* dx) {
  const auto best = WindowMax(d, w, x);
  auto open = hn::Eq(best, best);  // lanes whose dy has not been given away
  for (std::ptrdiff_t ky = 0; ky < w.rows; ++ky) {
    for (std::ptrdiff_t kx = 0; kx < w.columns; ++kx) {
      const std::ptrdiff_t at = ky * w.row_step + kx * w.column_step;
      const auto here = hn::And(open, hn::Eq(hn::LoadU(d, x + at), best));
      const auto given = hn::IfThenElseZero(here, dy);
      open = hn::AndNot(here, open);
      hn::StoreU(store ? given : hn::Add(hn::LoadU(d, dx + at), given), d, dx + at);
    }
  }
}

/// MaxPoolGrad: sums over windows in the order of the windows, in the type itself.
/// Reference: kernels/reference/pool.cc.
template <class T>
void MaxPoolGrad(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  T* dx = static_cast<T*>(out[0]);
  const bool store = Disjoint(g);
  if (!Tiles(g)) std::fill_n(dx, g.batch * g.in_h * g.in_w * g.in_c, T{0});
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) return;
    ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
      ScatterToMax(d, w, x + w.first + c, hn::LoadU(d, dy + at + c), store, dx + w.first + c);
    });
  });
}

/// MaxPoolGather, exact: the gradient of MaxPoolGrad with respect to dy. Reference: kernels/reference/pool.cc.
template <class T>
void MaxPoolGather(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* source = static_cast<const T*>(in[0]);
  const T* x = static_cast<const T*>(in[1]);
  T* z = static_cast<T*>(out[0]);
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(z + at, g.in_c, T{0});
      return;
    }
    ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
      const auto best = WindowMax(d, w, x + w.first + c);
      auto found = hn::Zero(d);
      // From the last element to the first, so that the first one wins.
      for (std::ptrdiff_t ky = w.rows - 1; ky >= 0; --ky) {
        for (std::ptrdiff_t kx = w.columns - 1; kx >= 0; --kx) {
          const std::ptrdiff_t from = w.first + c + ky * w.row_step + kx * w.column_step;
          found = hn::IfThenElse(hn::Eq(hn::LoadU(d, x + from), best), hn::LoadU(d, source + from), found);
        }
      }
      hn::StoreU(found, d, z + at + c);
    });
  });
}

/// AvgPool: sums row by row in the type itself, divided by the count; |error| <= (count + 1) * eps * sum |x| / count.
/// NaN propagates; an empty window is NaN. Reference: kernels/reference/pool.cc.
template <class T>
void AvgPool(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out[0]);
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(y + at, g.in_c, std::numeric_limits<T>::quiet_NaN());
      return;
    }
    ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
      auto sum = hn::Zero(d);
      const T* row = x + w.first + c;
      for (std::ptrdiff_t ky = 0; ky < w.rows; ++ky, row += w.row_step) {
        for (std::ptrdiff_t kx = 0; kx < w.columns; ++kx) sum = hn::Add(sum, hn::LoadU(d, row + kx * w.column_step));
      }
      hn::StoreU(hn::Div(sum, hn::Set(d, static_cast<T>(w.count()))), d, y + at + c);
    });
  });
}

/// AvgPoolGrad: sums over windows in the order of the windows, in the type itself.
/// Reference: kernels/reference/pool.cc.
template <class T>
void AvgPoolGrad(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const window_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  T* dx = static_cast<T*>(out[0]);
  const bool store = Disjoint(g);
  if (!Tiles(g)) std::fill_n(dx, g.batch * g.in_h * g.in_w * g.in_c, T{0});
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) return;
    ForChannels<T>(g.in_c, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
      const auto share = hn::Div(hn::LoadU(d, dy + at + c), hn::Set(d, static_cast<T>(w.count())));
      T* row = dx + w.first + c;
      for (std::ptrdiff_t ky = 0; ky < w.rows; ++ky, row += w.row_step) {
        for (std::ptrdiff_t kx = 0; kx < w.columns; ++kx) {
          T* to = row + kx * w.column_step;
          hn::StoreU(store ? share : hn::Add(hn::LoadU(d, to), share), d, to);
        }
      }
    });
  });
}

}  // namespace

#define KG_DEFINE_POOL(Name, type)                                                    \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_POOL_KERNELS(KG_DEFINE_POOL)
#undef KG_DEFINE_POOL

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {
#define KG_DISPATCH_POOL(Name, type)                                                  \
  HWY_EXPORT(Name##_##type);                                                          \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    HWY_DYNAMIC_DISPATCH(Name##_##type)(in, out, geometry);                           \
  }
KG_POOL_KERNELS(KG_DISPATCH_POOL)
#undef KG_DISPATCH_POOL
}  // namespace kerngrad::kernels
#endif
