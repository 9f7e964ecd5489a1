// SPDX-License-Identifier: Apache-2.0
// Rows of images interpolated between pixels, and given back to them, once per target. Operations are not fused, so
// that targets agree in every bit.
#if defined(KERNGRAD_KERNELS_INTERPOLATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_INTERPOLATE_INL_H_
#undef KERNGRAD_KERNELS_INTERPOLATE_INL_H_
#else
#define KERNGRAD_KERNELS_INTERPOLATE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/image/taps.h"
#include "kernels/window/channels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// a + (z - a) * share, not fused.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V between(D, V a, V z, V share) {
  return hn::Add(a, hn::Mul(hn::Sub(z, a), share));
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
        if (at.share == 0) return upper;
        return between(d, upper, a.load(d, bottom + pixel + c), hn::Set(d, at.share));
      };
      const auto left = blend(low), right = blend(high);
      const auto value = at.slope_across ? hn::Sub(right, left) : between(d, left, right, hn::Set(d, across.share[x]));
      a.store(d, value, y + c);
    });
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
