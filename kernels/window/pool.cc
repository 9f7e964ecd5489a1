// SPDX-License-Identifier: Apache-2.0
// Pooling over NHWC images: each window is clipped to the image once, then its elements are vectors of channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/window/pool.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "kernels/window/channels-inl.h"
#include "kernels/window/clipped_window.h"
#include "kernels/window/maximum-inl.h"
#include "kernels/window/pool.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// Calls f(window), with the common sizes as constants.
template <class F>
HWY_INLINE void with_size(clipped_window w, F f) {
  if (w.rows == 2 && w.columns == 2) {
    w.rows = w.columns = 2;
    f(w);
  } else if (w.rows == 3 && w.columns == 3) {
    w.rows = w.columns = 3;
    f(w);
  } else {
    f(w);
  }
}

/// Calls f(offset) for the elements of a window row by row; the common sizes without loops.
template <class F>
HWY_INLINE void each_element(const clipped_window& w, F f) {
  const std::ptrdiff_t right = w.column_step, down = w.row_step;
  if (w.rows == 2 && w.columns == 2) {
    f(0), f(right), f(down), f(down + right);
  } else if (w.rows == 3 && w.columns == 3) {
    f(0), f(right), f(2 * right);
    f(down), f(down + right), f(down + 2 * right);
    f(2 * down), f(2 * down + right), f(2 * down + 2 * right);
  } else {
    for (std::ptrdiff_t ky = 0; ky < w.rows; ++ky) {
      for (std::ptrdiff_t kx = 0; kx < w.columns; ++kx) f(ky * down + kx * right);
    }
  }
}

/// The largest element of a window that is not NaN.
template <class D, class Access, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> window_max(D d, Access a, const clipped_window& w, const T* x) {
  auto best = hn::Set(d, lowest<T>());
  each_element(w, [&](std::ptrdiff_t at) HWY_ATTR { best = larger_of(d, best, a.load(d, x + at)); });
  return best;
}

/// MaxPool, exact. NaN, empty windows and zeros as said in pool.h. Reference: kernels/window/reference_pool.cc.
template <dtype Type, class T = storage_t<Type>>
void MaxPool(const window_geometry& g, const T* x, T* y) {
  for_each_run(g, [&](const clipped_window& w, std::ptrdiff_t at, std::ptrdiff_t pixels) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(y + at, pixels * g.in_c, lowest<T>());
      return;
    }
    with_size(w, [&](const clipped_window& sized) HWY_ATTR {
      const T* from = x + w.first;
      T* to = y + at;
      for (std::ptrdiff_t i = 0; i < pixels; ++i, from += g.stride_w * g.in_c, to += g.in_c) {
        each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c)
                                     HWY_ATTR { a.store(d, window_max(d, a, sized, from + c), to + c); });
      }
    });
  });
}

/// Stores for each lane the number of the window's first element that equals the maximum; the element at x is number
/// `first`. Numbers of doubles are doubles until they are stored: they are exact, and vectors of them are as long.
template <class D, class Access, class T = hn::TFromD<D>>
HWY_INLINE void store_positions(D d, Access a, const clipped_window& w, const T* x, hn::Vec<D> best,
                                std::ptrdiff_t first, std::int32_t* to) {
  using number = std::conditional_t<sizeof(T) == 8, double, std::int32_t>;
  const hn::Rebind<number, D> n;
  const hn::Rebind<std::int32_t, D> stored;
  const auto channel = hn::Iota(n, number{0});
  auto found = hn::Set(n, number{-1});
  // From the last element to the first, so that the first one wins.
  for (std::ptrdiff_t ky = w.rows - 1; ky >= 0; --ky) {
    for (std::ptrdiff_t kx = w.columns - 1; kx >= 0; --kx) {
      const std::ptrdiff_t at = ky * w.row_step + kx * w.column_step;
      const auto here = hn::RebindMask(n, hn::Eq(a.load(d, x + at), best));
      found = hn::IfThenElse(here, hn::Add(channel, hn::Set(n, static_cast<number>(first + at))), found);
    }
  }
  if constexpr (sizeof(T) == 8) a.store(stored, hn::DemoteTo(stored, found), to);
  else a.store(stored, found, to);
}

/// MaxPoolWithArgmax, exact. Rules as said in pool.h. Reference: kernels/window/reference_pool.cc.
template <dtype Type, class T = storage_t<Type>>
void MaxPoolWithArgmax(const argmax_geometry& numbering, const T* x, T* y, std::int32_t* positions) {
  const window_geometry& g = numbering.window;
  const std::ptrdiff_t image = g.in_h * g.in_w * g.in_c, result = g.out_h * g.out_w * g.in_c;
  for_each_run(g, [&](const clipped_window& w, std::ptrdiff_t at, std::ptrdiff_t pixels) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(y + at, pixels * g.in_c, lowest<T>());
      std::fill_n(positions + at, pixels * g.in_c, -1);
      return;
    }
    const std::ptrdiff_t first = w.first + (numbering.each_image ? -(at / result) * image : numbering.first);
    for (std::ptrdiff_t i = 0; i < pixels; ++i) {
      const std::ptrdiff_t step = i * g.stride_w * g.in_c, to = at + i * g.in_c;
      each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
        const T* from = x + w.first + step + c;
        const auto best = window_max(d, a, w, from);
        a.store(d, best, y + to + c);
        store_positions(d, a, w, from, best, first + step + c, positions + to + c);
      });
    }
  });
}

/// True if each input element lies in at most one window, so that gradients can be stored instead of added.
bool disjoint(const window_geometry& g) {
  return g.stride_h >= (g.filter_h - 1) * g.dilation_h + 1 && g.stride_w >= (g.filter_w - 1) * g.dilation_w + 1;
}

/// True if every input element lies in exactly one window, so that nothing need be cleared before.
bool windows_tile_image(const window_geometry& g) {
  const bool whole = g.stride_h == g.filter_h && g.stride_w == g.filter_w && g.dilation_h == 1 && g.dilation_w == 1;
  return whole && g.pad_top >= 0 && g.pad_left >= 0 && g.out_h * g.stride_h - g.pad_top >= g.in_h &&
         g.out_w * g.stride_w - g.pad_left >= g.in_w;
}

/// Adds (or stores) one window's gradient: dy to the first element that equals the maximum.
template <bool Store, class D, class Access, class T = hn::TFromD<D>>
HWY_INLINE void scatter_to_max(D d, Access a, const clipped_window& w, const T* x, hn::Vec<D> dy, T* dx) {
  const auto best = window_max(d, a, w, x);
  auto open = hn::Eq(best, best);  // lanes whose dy has not been given away
  each_element(w, [&](std::ptrdiff_t at) HWY_ATTR {
    const auto here = hn::And(open, hn::Eq(a.load(d, x + at), best));
    const auto given = hn::IfThenElseZero(here, dy);
    open = hn::AndNot(here, open);
    a.store(d, Store ? given : hn::Add(a.load(d, dx + at), given), dx + at);
  });
}

template <class T, bool Store>
void scatter_windows(const window_geometry& g, const T* dy, const T* x, T* dx) {
  if (!windows_tile_image(g)) std::fill_n(dx, g.batch * g.in_h * g.in_w * g.in_c, T{0});
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) return;
    each_channels<T, Store>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      scatter_to_max<Store>(d, a, w, x + w.first + c, a.load(d, dy + at + c), dx + w.first + c);
    });
  });
}

/// MaxPoolGrad: sums over windows in the order of the windows, in the type itself.
/// Reference: kernels/window/reference_pool.cc.
template <dtype Type, class T = storage_t<Type>>
void MaxPoolGrad(const window_geometry& g, const T* dy, const T* x, const T* /*y*/, T* dx) {
  disjoint(g) ? scatter_windows<T, true>(g, dy, x, dx) : scatter_windows<T, false>(g, dy, x, dx);
}

/// MaxPoolGather, exact: the gradient of MaxPoolGrad with respect to dy. Reference: kernels/window/reference_pool.cc.
template <dtype Type, class T = storage_t<Type>>
void MaxPoolGather(const window_geometry& g, const T* source, const T* x, T* z) {
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(z + at, g.in_c, T{0});
      return;
    }
    each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const auto best = window_max(d, a, w, x + w.first + c);
      auto found = hn::Zero(d);
      // From the last element to the first, so that the first one wins.
      for (std::ptrdiff_t ky = w.rows - 1; ky >= 0; --ky) {
        for (std::ptrdiff_t kx = w.columns - 1; kx >= 0; --kx) {
          const std::ptrdiff_t from = w.first + c + ky * w.row_step + kx * w.column_step;
          found = hn::IfThenElse(hn::Eq(a.load(d, x + from), best), a.load(d, source + from), found);
        }
      }
      a.store(d, found, z + at + c);
    });
  });
}

/// AvgPool: sums row by row in the type itself, divided by the count; |error| <= (count + 1) * eps * sum |x| / count.
/// NaN propagates; an empty window is NaN. Reference: kernels/window/reference_pool.cc.
template <dtype Type, class T = storage_t<Type>>
void AvgPool(const window_geometry& g, const T* x, T* y) {
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(y + at, g.in_c, std::numeric_limits<T>::quiet_NaN());
      return;
    }
    each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      auto sum = hn::Zero(d);
      const T* row = x + w.first + c;
      each_element(w, [&](std::ptrdiff_t k) HWY_ATTR { sum = hn::Add(sum, a.load(d, row + k)); });
      a.store(d, hn::Div(sum, hn::Set(d, static_cast<T>(w.count()))), y + at + c);
    });
  });
}

template <class T, bool Store>
void share_windows(const window_geometry& g, const T* dy, T* dx) {
  if (!windows_tile_image(g)) std::fill_n(dx, g.batch * g.in_h * g.in_w * g.in_c, T{0});
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) return;
    each_channels<T, Store>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const auto share = hn::Div(a.load(d, dy + at + c), hn::Set(d, static_cast<T>(w.count())));
      T* to = dx + w.first + c;
      each_element(
          w, [&](std::ptrdiff_t k) HWY_ATTR { a.store(d, Store ? share : hn::Add(a.load(d, to + k), share), to + k); });
    });
  });
}

/// AvgPoolGrad: sums over windows in the order of the windows, in the type itself.
/// Reference: kernels/window/reference_pool.cc.
template <dtype Type, class T = storage_t<Type>>
void AvgPoolGrad(const window_geometry& g, const T* dy, const T* /*x*/, T* dx) {
  disjoint(g) ? share_windows<T, true>(g, dy, dx) : share_windows<T, false>(g, dy, dx);
}

}  // namespace

KG_DEFINE_KERNELS(KG_POOL_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_POOL_KERNELS)
}  // namespace kerngrad::kernels
#endif
