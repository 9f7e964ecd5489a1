// SPDX-License-Identifier: Apache-2.0
// Fill, Range and LinSpace; see create.h. The values of the float kernels are computed in double with one product and
// one sum, never fused, and rounded once, so they are the same on every target. Reference:
// kernels/create/reference_create.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/create/create.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/cache_control.h"
#include "hwy/highway.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/move/copy-run-inl.h"
#include "kernels/create/create.h"
#include "kernels/common/stream.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Past the caches, whole vectors; returns the first element that is left.
template <class T, class D>
HWY_INLINE std::size_t stream_fill(D d, hn::Vec<D> v, T* y, std::size_t n) {
  const std::size_t L = hn::Lanes(d);
  hn::StoreU(v, d, y);
  std::size_t i = (L * sizeof(T) - reinterpret_cast<std::uintptr_t>(y) % (L * sizeof(T))) / sizeof(T);
  for (; i + L <= n; i += L) hn::Stream(v, d, y + i);
  hwy::FlushStream();
  return i;
}

template <class T>
void fill(T value, T* y, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  if (n < L) return fill_run(value, y, n);
  const auto v = hn::Set(d, value);
  std::size_t i = 0;
  if (n >= stream_question && is_streamed(n * sizeof(T)) && reinterpret_cast<std::uintptr_t>(y) % sizeof(T) == 0)
    i = stream_fill(d, v, y, n);
  for (; i + 4 * L <= n; i += 4 * L) {
    hn::StoreU(v, d, y + i);
    hn::StoreU(v, d, y + i + L);
    hn::StoreU(v, d, y + i + 2 * L);
    hn::StoreU(v, d, y + i + 3 * L);
  }
  for (; i + L <= n; i += L) hn::StoreU(v, d, y + i);
  hn::StoreU(v, d, y + n - L);
}
inline void fill(cell_pair value, cell_pair* y, std::size_t n) { fill_run(value, y, n); }

template <dtype Type, class T = cell_t<Type>>
void Fill(const fill_geometry& g, T* y) {
  fill(get(static_cast<const T*>(g.value)), y, static_cast<std::size_t>(g.count));
}

// y[i] = start + i * step. Indices are doubles, exact up to 2^53. Wide: start and step are halves, and y is doubled.
template <bool Wide, class T>
void line(T* y, std::size_t n, double start, double step) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> to;
  const std::size_t L = hn::Lanes(d);
  const auto first = hn::Set(d, start), slope = hn::Set(d, step);
  const auto put = [&](auto index, std::size_t at) HWY_ATTR {
    auto value = hn::Add(first, hn::Mul(index, slope));
    if constexpr (Wide) value = hn::Add(value, value);
    if constexpr (std::is_same_v<T, double>) {
      hn::StoreU(value, to, y + at);
    } else {
      hn::StoreU(hn::DemoteTo(to, value), to, y + at);
    }
  };
  // Four vectors of indices, so that the sums do not wait for each other. The indices are exact in any order.
  const auto lanes = hn::Set(d, static_cast<double>(L)), advance = hn::Set(d, static_cast<double>(4 * L));
  auto i0 = hn::Iota(d, 0.0), i1 = hn::Add(i0, lanes), i2 = hn::Add(i1, lanes), i3 = hn::Add(i2, lanes);
  std::size_t i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    put(i0, i);
    put(i1, i + L);
    put(i2, i + 2 * L);
    put(i3, i + 3 * L);
    i0 = hn::Add(i0, advance);
    i1 = hn::Add(i1, advance);
    i2 = hn::Add(i2, advance);
    i3 = hn::Add(i3, advance);
  }
  for (; i + L <= n; i += L, i0 = hn::Add(i0, lanes)) put(i0, i);
  for (; i < n; ++i) y[i] = static_cast<T>((start + static_cast<double>(i) * step) * (Wide ? 2 : 1));
}

template <dtype Type, class T = storage_t<Type>>
void Range(const range_geometry& g, T* y) {
  const std::size_t n = static_cast<std::size_t>(g.count);
  if constexpr (std::is_floating_point_v<T>) {
    if (is_wide(g)) line<true>(y, n, g.start / 2, g.step / 2);
    else line<false>(y, n, g.start, g.step);
  } else {
    using U = std::make_unsigned_t<T>;
    U value = static_cast<U>(static_cast<std::int64_t>(g.start));
    const U step = static_cast<U>(static_cast<std::int64_t>(g.step));
    for (std::size_t i = 0; i < n; ++i, value += step) y[i] = static_cast<T>(value);
  }
}

template <dtype Type, class T = storage_t<Type>>
void LinSpace(const linspace_geometry& g, T* y) {
  const std::size_t n = static_cast<std::size_t>(g.count);
  const double steps = static_cast<double>(g.count > 1 ? g.count - 1 : 1);
  if (is_wide(g)) line<true>(y, n, g.start / 2, (g.stop / 2 - g.start / 2) / steps);
  else line<false>(y, n, g.start, (g.stop - g.start) / steps);
  if (g.count > 1) y[g.count - 1] = static_cast<T>(g.stop);
}

}  // namespace

KG_DEFINE_KERNELS(KG_CREATE_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_CREATE_KERNELS)

}  // namespace kerngrad::kernels
#endif
