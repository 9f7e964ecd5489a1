// SPDX-License-Identifier: Apache-2.0
// Rows of images interpolated between pixels, and given back to them, once per target. Operations are not fused, so
// that targets agree in every bit.
#if defined(KERNGRAD_KERNELS_INTERPOLATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_INTERPOLATE_INL_H_
#undef KERNGRAD_KERNELS_INTERPOLATE_INL_H_
#else
#define KERNGRAD_KERNELS_INTERPOLATE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/image/taps.h"
#include "kernels/window/channels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// a + (z - a) * share, not fused; a itself where the share is 0, infinite as z may be.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V between(D d, V a, V z, hn::TFromD<D> share) {
  return share == 0 ? a : hn::Add(a, hn::Mul(hn::Sub(z, a), hn::Set(d, share)));
}

/// How far a row of y lies between two rows of x; or the slope between them is taken, and that between columns.
template <class T>
struct row_position {
  T share;
  bool slope_down = false, slope_across = false;
};

/// A row of y from two rows of x, pixel by pixel.
template <class T>
HWY_INLINE void interpolate(const T* top, const T* bottom, row_position<T> at, std::int64_t channels,
                            const tap_list<T>& across, T* y) {
  for (std::int64_t x = 0; x < across.count; ++x, y += channels) {
    const std::int64_t low = across.low[x] * channels, high = across.high[x] * channels;
    each_channels<T>(channels, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const auto blend = [&](std::int64_t pixel) HWY_ATTR {
        const auto upper = a.load(d, top + pixel + c);
        if (at.slope_down) return hn::Sub(a.load(d, bottom + pixel + c), upper);
        return between(d, upper, a.load(d, bottom + pixel + c), at.share);
      };
      const auto left = blend(low), right = blend(high);
      const auto value = at.slope_across ? hn::Sub(right, left) : between(d, left, right, across.share[x]);
      a.store(d, value, y + c);
    });
  }
}

/// row = top + (bottom - top) * share, n elements.
template <class T>
HWY_INLINE void blend_rows(const T* HWY_RESTRICT top, const T* HWY_RESTRICT bottom, T share, std::int64_t n,
                           T* HWY_RESTRICT row) {
  if (share == 0) {
    std::copy_n(top, n, row);
    return;
  }
  const hn::ScalableTag<T> d;
  const auto L = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + L <= n; i += L) hn::StoreU(between(d, hn::LoadU(d, top + i), hn::LoadU(d, bottom + i), share), d, row + i);
  for (; i < n; ++i) row[i] = top[i] + (bottom[i] - top[i]) * share;
}

/// y from a blended row: kChannels values of each pixel. A vector of four lanes serves three channels as well: what it
/// writes too far the next pixel overwrites, and the last one is written by element.
template <int kChannels, class T>
HWY_INLINE void stretch_few(const T* HWY_RESTRICT row, const tap_list<T>& across, T* HWY_RESTRICT y) {
  std::int64_t x = 0;
  if constexpr (kChannels >= 3) {
    const hn::CappedTag<T, 4> d;
    if (hn::Lanes(d) == 4) {
      for (; x + 1 < across.count; ++x) {
        const auto low = hn::LoadU(d, row + across.low[x] * kChannels);
        const auto high = hn::LoadU(d, row + across.high[x] * kChannels);
        hn::StoreU(between(d, low, high, across.share[x]), d, y + x * kChannels);
      }
    }
  }
  for (; x < across.count; ++x) {
    const T* low = row + across.low[x] * kChannels;
    const T* high = row + across.high[x] * kChannels;
    const T share = across.share[x];
    for (int c = 0; c < kChannels; ++c)
      y[x * kChannels + c] = share == 0 ? low[c] : low[c] + (high[c] - low[c]) * share;
  }
}

/// The same for more channels than a vector of four holds.
template <class T>
HWY_INLINE void stretch_many(const T* row, std::int64_t channels, const tap_list<T>& across, T* y) {
  for (std::int64_t x = 0; x < across.count; ++x, y += channels) {
    const T* low = row + across.low[x] * channels;
    const T* high = row + across.high[x] * channels;
    each_channels<T>(channels, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      a.store(d, between(d, a.load(d, low + c), a.load(d, high + c), across.share[x]), y + c);
    });
  }
}

template <class T>
HWY_INLINE void stretch(std::int64_t channels, const T* row, const tap_list<T>& across, T* y) {
  switch (channels) {
    case 1: return stretch_few<1>(row, across, y);
    case 2: return stretch_few<2>(row, across, y);
    case 3: return stretch_few<3>(row, across, y);
    case 4: return stretch_few<4>(row, across, y);
    default: return stretch_many(row, channels, across, y);
  }
}

/// sums (+)= row * share, n elements.
template <bool kAdd, class T>
HWY_INLINE void add_share(const T* HWY_RESTRICT row, T share, std::int64_t n, T* HWY_RESTRICT sums) {
  const hn::ScalableTag<T> d;
  const auto L = static_cast<std::int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, share);
  std::int64_t i = 0;
  for (; i + L <= n; i += L) {
    const auto part = hn::Mul(hn::LoadU(d, row + i), by);
    hn::StoreU(kAdd ? hn::Add(hn::LoadU(d, sums + i), part) : part, d, sums + i);
  }
  for (; i < n; ++i) sums[i] = kAdd ? sums[i] + row[i] * share : row[i] * share;
}

/// Adds a row of sums to the pixels of dx that each of them was read from; with `slope` to the second of them, and
/// takes it from the first.
template <class T>
HWY_INLINE void give_back(const T* sums, std::int64_t channels, const tap_list<T>& across, bool slope, T* dx) {
  for (std::int64_t x = 0; x < across.count; ++x, sums += channels) {
    T* low = dx + across.low[x] * channels;
    T* high = dx + across.high[x] * channels;
    const T to_low = slope ? T{-1} : 1 - across.share[x], to_high = slope ? T{1} : across.share[x];
    if (slope && low == high) continue;
    each_channels<T, false>(channels, [&](auto d, auto a, std::ptrdiff_t c) HWY_ATTR {
      const auto given = a.load(d, sums + c);
      a.store(d, hn::Add(a.load(d, low + c), hn::Mul(given, hn::Set(d, to_low))), low + c);
      if (low != high) a.store(d, hn::Add(a.load(d, high + c), hn::Mul(given, hn::Set(d, to_high))), high + c);
    });
  }
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
