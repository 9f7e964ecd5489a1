// SPDX-License-Identifier: Apache-2.0
// Greyscale dilation of NHWC images: windows are clipped to the image once, then their elements and the filter's are
// vectors of channels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/window/dilation.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <cstddef>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/window/channels-inl.h"
#include "kernels/window/clipped_window.h"
#include "kernels/window/conv_plan.h"
#include "kernels/window/dilation.h"
#include "kernels/window/maximum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// The taps of a window that are met, as x and the filter have them: `step` elements apart each.
struct met_taps {
  std::ptrdiff_t rows, columns, row_step, column_step, filter_row_step, filter_step;

  met_taps(const window_geometry& g, const clipped_window& w)
      : rows(w.rows),
        columns(w.columns),
        row_step(w.row_step),
        column_step(w.column_step),
        filter_row_step(g.filter_w * g.in_c),
        filter_step(g.in_c) {}
  /// Index of the first of them in the filter.
  static std::ptrdiff_t first(const window_geometry& g, const clipped_window& w) {
    return (w.top * g.filter_w + w.left) * g.in_c;
  }
  /// Calls f(offset in x, offset in the filter) row by row.
  template <class F>
  HWY_INLINE void each(F f) const {
    for (std::ptrdiff_t ky = 0; ky < rows; ++ky) {
      for (std::ptrdiff_t kx = 0; kx < columns; ++kx) {
        f(ky * row_step + kx * column_step, ky * filter_row_step + kx * filter_step);
      }
    }
  }
};

/// The largest x + w of the taps that is not NaN.
template <class D, class Access, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> largest_sum(D d, Access a, const met_taps& taps, const T* x, const T* w) {
  auto best = hn::Set(d, lowest<T>());
  taps.each([&](std::ptrdiff_t at, std::ptrdiff_t tap)
                HWY_ATTR { best = larger_of(d, best, hn::Add(a.load(d, x + at), a.load(d, w + tap))); });
  return best;
}

/// Calls f(offset in x, offset in the filter, mask) for the taps; each lane is in the mask of the first tap that gives
/// its maximum, and of no other.
template <class D, class Access, class F, class T = hn::TFromD<D>>
HWY_INLINE void each_winner(D d, Access a, const met_taps& taps, const T* x, const T* w, F f) {
  const auto best = largest_sum(d, a, taps, x, w);
  auto open = hn::Eq(best, best);  // lanes whose tap has not been met
  taps.each([&](std::ptrdiff_t at, std::ptrdiff_t tap) HWY_ATTR {
    const auto sum = hn::Add(a.load(d, x + at), a.load(d, w + tap));
    const auto here = hn::And(open, hn::Eq(sum, best));
    open = hn::AndNot(here, open);
    f(at, tap, here);
  });
}

/// Dilation2D, exact. NaN and windows that meet no tap as said in dilation.h. Reference:
/// kernels/window/reference_dilation.cc.
template <dtype Type, class T = storage_t<Type>>
void Dilation2D(const window_geometry& g, const T* x, const T* filter, T* y) {
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(y + at, g.in_c, lowest<T>());
      return;
    }
    const met_taps taps(g, w);
    const T* weights = filter + met_taps::first(g, w);
    each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      a.store(d, largest_sum(d, a, taps, x + w.first + c, weights + c), y + at + c);
    });
  });
}

/// Dilation2DBackpropInput: sums over windows in the order of the windows, in the type itself. Reference:
/// kernels/window/reference_dilation.cc.
template <dtype Type, class T = storage_t<Type>>
void Dilation2DBackpropInput(const window_geometry& g, const T* x, const T* filter, const T* dy, T* dx) {
  std::fill_n(dx, g.batch * g.in_h * g.in_w * g.in_c, T{0});
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) return;
    const met_taps taps(g, w);
    const T* weights = filter + met_taps::first(g, w);
    each_channels<T, false>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const auto gradient = a.load(d, dy + at + c);
      T* to = dx + w.first + c;
      each_winner(d, a, taps, x + w.first + c, weights + c,
                  [&](std::ptrdiff_t pixel, std::ptrdiff_t, auto here) HWY_ATTR {
                    a.store(d, hn::Add(a.load(d, to + pixel), hn::IfThenElseZero(here, gradient)), to + pixel);
                  });
    });
  });
}

/// Adds what the windows over `g` give to the filter's gradient.
template <class T>
void add_filter_gradient(const window_geometry& g, const T* x, const T* filter, const T* dy, T* dw) {
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) return;
    const met_taps taps(g, w);
    const std::ptrdiff_t first = met_taps::first(g, w);
    each_channels<T, false>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const auto gradient = a.load(d, dy + at + c);
      T* to = dw + first + c;
      each_winner(d, a, taps, x + w.first + c, filter + first + c,
                  [&](std::ptrdiff_t, std::ptrdiff_t tap, auto here) HWY_ATTR {
                    a.store(d, hn::Add(a.load(d, to + tap), hn::IfThenElseZero(here, gradient)), to + tap);
                  });
    });
  });
}

/// Dilation2DBackpropFilter: in chunks of rows that follow from the shape, each with sums of its own, in the order of
/// the windows and in the type itself; those are added up in their order. Reference:
/// kernels/window/reference_dilation.cc.
template <dtype Type, class T = storage_t<Type>>
void Dilation2DBackpropFilter(const window_geometry& g, const T* x, const T* filter, const T* dy, T* dw) {
  constexpr std::ptrdiff_t most_chunks = 8;
  const std::ptrdiff_t total = g.filter_h * g.filter_w * g.in_c, dy_row = g.out_w * g.in_c;
  std::fill_n(dw, total, T{0});
  if (g.batch == 0 || g.out_h == 0) return;
  const image_chunks chunks(g.batch, g.out_h, saturated_product(g.out_w, total), most_chunks);
  scratch<T> others(product_of(chunks.count() - 1, total));
  run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
    T* sums = chunk == 0 ? dw : others.data() + (chunk - 1) * total;
    if (chunk > 0) std::fill_n(sums, total, T{0});
    chunks.visit(chunk, [&](image_rows part) {
      window_geometry rows = g;
      rows.batch = 1;
      rows.out_h = part.rows;
      rows.pad_top = g.pad_top - part.first * g.stride_h;  // below 0: the first window starts inside the image
      add_filter_gradient(rows, x + part.image * g.in_h * g.in_w * g.in_c, filter,
                          dy + (part.image * g.out_h + part.first) * dy_row, sums);
    });
  });
  for (std::ptrdiff_t chunk = 1; chunk < chunks.count(); ++chunk) {
    const T* other = others.data() + (chunk - 1) * total;
    for (std::ptrdiff_t i = 0; i < total; ++i) dw[i] += other[i];
  }
}

/// Copies to each window the source's element at its winner: the pixel of a source like x, the tap of one like the
/// filter.
template <class T, bool OfInput>
void gather_winners(const window_geometry& g, const T* source, const T* x, const T* filter, T* z) {
  for_each_window(g, [&](const clipped_window& w, std::ptrdiff_t at) HWY_ATTR {
    if (w.count() == 0) {
      std::fill_n(z + at, g.in_c, T{0});
      return;
    }
    const met_taps taps(g, w);
    const std::ptrdiff_t first = met_taps::first(g, w);
    const T* from = source + (OfInput ? w.first : first);
    each_channels<T>(g.in_c, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      auto found = hn::Zero(d);
      each_winner(d, a, taps, x + w.first + c, filter + first + c,
                  [&](std::ptrdiff_t pixel, std::ptrdiff_t tap, auto here)
                      HWY_ATTR { found = hn::IfThenElse(here, a.load(d, from + c + (OfInput ? pixel : tap)), found); });
      a.store(d, found, z + at + c);
    });
  });
}

/// Dilation2DGatherInput, exact: the gradient of Dilation2DBackpropInput with respect to dy. Reference:
/// kernels/window/reference_dilation.cc.
template <dtype Type, class T = storage_t<Type>>
void Dilation2DGatherInput(const window_geometry& g, const T* source, const T* x, const T* filter, T* z) {
  gather_winners<T, true>(g, source, x, filter, z);
}

/// Dilation2DGatherFilter, exact: the gradient of Dilation2DBackpropFilter with respect to dy. Reference:
/// kernels/window/reference_dilation.cc.
template <dtype Type, class T = storage_t<Type>>
void Dilation2DGatherFilter(const window_geometry& g, const T* source, const T* x, const T* filter, T* z) {
  gather_winners<T, false>(g, source, x, filter, z);
}

}  // namespace

KG_DEFINE_KERNELS(KG_DILATION_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_DILATION_KERNELS)
}  // namespace kerngrad::kernels
#endif
