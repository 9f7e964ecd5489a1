// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of rows: passes over mixed radices, the ways of Rader and Bluestein for lengths with larger prime
// factors, and real transforms of even lengths by complex ones of half the length. A row's result does not depend on
// other rows, so neither on threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fft/fft.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

#include "kernels/common/chunks.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/fft/fft.h"
#include "kernels/fft/passes-inl.h"
#include "kernels/fft/plan.h"

#ifndef KERNGRAD_KERNELS_FFT_COMMON
#define KERNGRAD_KERNELS_FFT_COMMON
namespace kerngrad::kernels {
namespace {

/// Rows that one chunk of work takes, and what there is to do in all.
struct fft_rows {
  std::int64_t rows, at_once = 1, products = 0;
  fft_rows(std::int64_t rows, std::int64_t length) : rows(rows) {
    if (rows == 1) return;  // saves a division, which a short row feels
    const std::int64_t levels = std::bit_width(static_cast<std::uint64_t>(length));
    const std::int64_t each = saturated_product(2, length, levels);
    at_once = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / each);
    products = saturated_product(rows, each);
  }
  std::ptrdiff_t count() const {
    if (rows <= at_once) return 1;
    return static_cast<std::ptrdiff_t>(rows / at_once + (rows % at_once != 0));
  }
  /// Calls body(row) for the rows of a chunk.
  template <class Body>
  void for_rows(std::ptrdiff_t chunk, const Body& body) const {
    const std::int64_t begin = chunk * at_once, end = std::min(rows, begin + at_once);
    for (std::int64_t row = begin; row < end; ++row) body(row);
  }
};

}  // namespace
}  // namespace kerngrad::kernels
#endif  // KERNGRAD_KERNELS_FFT_COMMON

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE std::size_t PlanLanes() {
  return static_cast<std::size_t>(Width(WideTag<T>()));
}

// ------------------------------------------------------------------------------------------ complex rows

/// y = factors * x * scale, n pairs; x and y may be the same.
template <bool kInverseIn, bool kInverseOut, class T>
void TurnPairs(const T* x, const T* factors, std::int64_t n, T scale, T* y) {
  const WideTag<T> wide;
  const auto turn = [&](auto d, std::int64_t i) KG_INLINED {
    auto r = hn::Zero(d), im = r, fr = r, fi = r;
    LoadPairs<kInverseIn>(d, x + 2 * i, r, im);
    LoadPairs<false>(d, factors + 2 * i, fr, fi);
    Turn(r, im, fr, fi);
    const auto by = hn::Set(d, scale);
    StorePairs<kInverseOut>(d, hn::Mul(r, by), hn::Mul(im, by), y + 2 * i);
  };
  std::int64_t i = 0;
  for (; i + Width(wide) <= n; i += Width(wide)) turn(wide, i);
  for (; i < n; ++i) turn(OneTag<T>(), i);
}

/// One point, with its parts exchanged for the inverse.
template <bool kInverse, class T>
HWY_INLINE void CopyPoint(const T* x, T* y) {
  const T r = x[0], i = x[1];
  y[0] = kInverse ? i : r;
  y[1] = kInverse ? r : i;
}

/// The transform of a row whose plan has an `order`.
template <bool kInverse, class T>
void TransformPrimeRow(const fft_plan<T>& plan, T scale, const T* x, T* y, T* work) {
  const std::int64_t count = plan.inner->length;
  T *a = work, *b = work + 2 * count, *inner_work = work + 4 * count;
  for (std::int64_t q = 0; q < count; ++q) CopyPoint<kInverse>(x + 2 * plan.order[q], a + 2 * q);
  RunPasses<false>(*plan.inner, T{1}, a, b, inner_work);
  const T first[] = {x[kInverse], x[!kInverse]}, all[] = {(first[0] + b[0]) * scale, (first[1] + b[1]) * scale};
  TurnPairs<false, false>(b, plan.spectrum, count, scale, b);
  for (int part = 0; part < 2; ++part) b[part] += first[part] * scale;  // which adds it to each point
  RunPasses<true>(*plan.inner, T{1}, b, a, inner_work);
  CopyPoint<kInverse>(all, y);
  CopyPoint<kInverse>(a, y + 2);
  for (std::int64_t q = 1; q < count; ++q) CopyPoint<kInverse>(a + 2 * (count - q), y + 2 * plan.order[q]);
}

/// The transform of a row of `plan.length` points, or the inverse one; `work` has room for plan.work numbers.
template <bool kInverse, class T>
void TransformRow(const fft_plan<T>& plan, T scale, const T* x, T* y, T* work) {
  if (!plan.inner) return RunPasses<kInverse>(plan, scale, x, y, work);
  if (plan.order) return TransformPrimeRow<kInverse>(plan, scale, x, y, work);
  const std::int64_t n = plan.length, padded = plan.inner->length;
  T *a = work, *b = work + 2 * padded, *inner_work = work + 4 * padded;
  TurnPairs<kInverse, false>(x, plan.chirp, n, T{1}, a);
  std::fill(a + 2 * n, a + 2 * padded, T{0});
  RunPasses<false>(*plan.inner, T{1}, a, b, inner_work);
  TurnPairs<false, false>(b, plan.spectrum, padded, T{1}, b);
  RunPasses<true>(*plan.inner, T{1}, b, a, inner_work);
  TurnPairs<false, kInverse>(a, plan.chirp, n, scale, y);
}

template <bool kInverse, class T>
void TransformRows(const fft_geometry& g, const T* x, T* y) {
  if (g.rows == 0) return;
  const auto plan = plan_of_complex<T>(g.length, PlanLanes<T>());
  const fft_rows rows(g.rows, g.length);
  run_in_chunks(rows.count(), rows.products, [&](std::ptrdiff_t chunk) {
    // A block costs as much as a few hundred points.
    alignas(64) T near[20480 / sizeof(T)];
    scratch<T> far;
    const std::int64_t count = plan->work;
    T* const work = count <= static_cast<std::int64_t>(std::size(near)) ? near : far.reach(count);
    rows.for_rows(chunk, [&](std::int64_t row) {
      TransformRow<kInverse>(*plan, static_cast<T>(g.scale), x + row * 2 * g.length, y + row * 2 * g.length, work);
    });
  });
}

// Complex numbers are pairs of T.
template <dtype Type, class T = part_t<Type>>
void FFT(const fft_geometry& g, const T* x, T* y) {
  TransformRows<false>(g, x, y);
}

template <dtype Type, class T = part_t<Type>>
void IFFT(const fft_geometry& g, const T* x, T* y) {
  TransformRows<true>(g, x, y);
}

// ------------------------------------------------------------------------------------------ real rows

// With h = n / 2, z[t] = x[2 t] + i x[2 t + 1], Z its transform and w = exp(-2 pi i / n), the even and odd points have
// the transforms E[k] = (Z[k] + conj Z[h-k]) / 2 and O[k] = (Z[k] - conj Z[h-k]) / 2i, and
//   X[k] = E[k] + w^k O[k],   X[h-k] = conj(E[k] - w^k O[k]).
// Back, E[k] = (X[k] + conj X[h-k]) / 2, w^k O[k] = (X[k] - conj X[h-k]) / 2 and Z = E + i O.

/// Calls body(d, k) with vectors of k from 1 on, of which h - k are others, and then with single ones; up to h / 2.
template <class T, class Body>
HWY_INLINE void ForMirrored(std::int64_t h, const Body& body) {
  const WideTag<T> wide;
  const std::int64_t width = Width(wide);
  std::int64_t k = 1;
  for (; 2 * (k + width - 1) < h; k += width) body(wide, k);
  for (; 2 * k <= h; ++k) body(OneTag<T>(), k);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Mirrored(D d, V v) {
  if constexpr (is_one_lane<D>) return v;
  else return hn::Reverse(d, v);
}

/// Bins 0 to h of 2 h real points from those of h pairs.
template <class T>
void SplitBins(const fft_plan<T>& plan, const T* z, T* y) {
  const std::int64_t h = plan.length / 2;
  const T re = z[0], im = z[1];
  y[0] = re + im;
  y[1] = 0;
  y[2 * h] = re - im;
  y[2 * h + 1] = 0;
  ForMirrored<T>(h, [&](auto d, std::int64_t k) KG_INLINED {
    const std::int64_t last = h - k - (Width(d) - 1);
    auto ar = hn::Zero(d), ai = ar, br = ar, bi = ar;
    LoadPairs<false>(d, z + 2 * k, ar, ai);
    LoadPairs<false>(d, z + 2 * last, br, bi);
    br = Mirrored(d, br);
    bi = Mirrored(d, bi);
    const auto half = hn::Set(d, static_cast<T>(0.5));
    const auto er = hn::Mul(half, hn::Add(ar, br)), ei = hn::Mul(half, hn::Sub(ai, bi));
    auto odd_r = hn::Mul(half, hn::Add(ai, bi)), odd_i = hn::Mul(half, hn::Sub(br, ar));
    Turn(odd_r, odd_i, hn::LoadU(d, plan.turns + k), hn::LoadU(d, plan.turns + plan.turn_count + k));
    StorePairs<false>(d, hn::Add(er, odd_r), hn::Add(ei, odd_i), y + 2 * k);
    StorePairs<false>(d, Mirrored(d, hn::Sub(er, odd_r)), Mirrored(d, hn::Sub(odd_i, ei)), y + 2 * last);
  });
}

/// Back: twice the pairs' bins, which lack the half of both E and O.
template <class T>
void JoinBins(const fft_plan<T>& plan, const T* y, T* z) {
  const std::int64_t h = plan.length / 2;
  const T first = y[0], last_bin = y[2 * h];
  z[0] = first + last_bin;
  z[1] = first - last_bin;
  ForMirrored<T>(h, [&](auto d, std::int64_t k) KG_INLINED {
    const std::int64_t last = h - k - (Width(d) - 1);
    auto ar = hn::Zero(d), ai = ar, br = ar, bi = ar;
    LoadPairs<false>(d, y + 2 * k, ar, ai);
    LoadPairs<false>(d, y + 2 * last, br, bi);
    br = Mirrored(d, br);
    bi = Mirrored(d, bi);
    const auto er = hn::Add(ar, br), ei = hn::Sub(ai, bi);
    auto odd_r = hn::Sub(ar, br), odd_i = hn::Add(ai, bi);
    Turn(odd_r, odd_i, hn::LoadU(d, plan.turns + k), hn::Neg(hn::LoadU(d, plan.turns + plan.turn_count + k)));
    StorePairs<false>(d, hn::Sub(er, odd_i), hn::Add(ei, odd_r), z + 2 * k);
    StorePairs<false>(d, Mirrored(d, hn::Add(er, odd_i)), Mirrored(d, hn::Sub(odd_r, ei)), z + 2 * last);
  });
}

/// RFFT of an odd length: points with imaginary parts of 0.
template <class T>
void RealRowsOfOddLength(const fft_geometry& g, const T* x, T* y) {
  const std::int64_t n = g.length, bins = n / 2 + 1;
  const auto plan = plan_of_complex<T>(n, PlanLanes<T>());
  const fft_rows rows(g.rows, n);
  run_in_chunks(rows.count(), rows.products, [&](std::ptrdiff_t chunk) {
    scratch<T> points(product_of(2, n)), all(product_of(2, n)), work(plan->work);
    rows.for_rows(chunk, [&](std::int64_t row) {
      for (std::int64_t t = 0; t < n; ++t) {
        points.data()[2 * t] = t < g.given ? x[row * g.given + t] : T{0};
        points.data()[2 * t + 1] = 0;
      }
      TransformRow<false>(*plan, static_cast<T>(g.scale), points.data(), all.data(), work.data());
      std::copy_n(all.data(), 2 * bins, y + row * 2 * bins);
      y[row * 2 * bins + 1] = 0;
    });
  });
}

template <dtype Type, class T = storage_t<Type>>
void RFFT(const fft_geometry& g, const T* x, T* y) {
  if (g.rows == 0) return;
  const std::int64_t n = g.length, bins = n / 2 + 1;
  if (n % 2 != 0) return RealRowsOfOddLength(g, x, y);
  const auto plan = plan_of_real<T>(n, PlanLanes<T>());
  const fft_rows rows(g.rows, n);
  run_in_chunks(rows.count(), rows.products, [&](std::ptrdiff_t chunk) {
    const bool padded = g.given < n;
    scratch<T> points(padded ? n : 0), pairs(n), work(plan->inner->work);
    if (padded) std::fill(points.data() + g.given, points.data() + n, T{0});
    rows.for_rows(chunk, [&](std::int64_t row) {
      const T* from = x + row * g.given;
      if (padded) from = std::copy_n(from, g.given, points.data()) - g.given;
      TransformRow<false>(*plan->inner, static_cast<T>(g.scale), from, pairs.data(), work.data());
      SplitBins(*plan, pairs.data(), y + row * 2 * bins);
    });
  });
}

/// The bins of a row that a real transform of n points has, with zeros where none are given.
template <class T>
void TakeBins(const T* y, std::int64_t given, std::int64_t n, T* bins) {
  const std::int64_t count = n / 2 + 1, taken = std::min(given, count);
  std::copy_n(y, 2 * taken, bins);
  std::fill(bins + 2 * taken, bins + 2 * count, T{0});
}

/// IRFFT of an odd length: bins with their conjugates.
template <class T>
void BinRowsOfOddLength(const fft_geometry& g, const T* y, T* x) {
  const std::int64_t n = g.length;
  const auto plan = plan_of_complex<T>(n, PlanLanes<T>());
  const fft_rows rows(g.rows, n);
  run_in_chunks(rows.count(), rows.products, [&](std::ptrdiff_t chunk) {
    scratch<T> bins(product_of(2, n)), points(product_of(2, n)), work(plan->work);
    rows.for_rows(chunk, [&](std::int64_t row) {
      T* all = bins.data();
      TakeBins(y + row * 2 * g.given, g.given, n, all);
      all[1] = 0;
      for (std::int64_t k = 1; k <= n / 2; ++k) {
        all[2 * (n - k)] = all[2 * k];
        all[2 * (n - k) + 1] = -all[2 * k + 1];
      }
      TransformRow<true>(*plan, static_cast<T>(g.scale), all, points.data(), work.data());
      for (std::int64_t t = 0; t < n; ++t) x[row * n + t] = points.data()[2 * t];
    });
  });
}

template <dtype Type, class T = part_t<Type>>
void IRFFT(const fft_geometry& g, const T* y, T* x) {
  if (g.rows == 0) return;
  const std::int64_t n = g.length;
  if (n % 2 != 0) return BinRowsOfOddLength(g, y, x);
  const auto plan = plan_of_real<T>(n, PlanLanes<T>());
  const fft_rows rows(g.rows, n);
  run_in_chunks(rows.count(), rows.products, [&](std::ptrdiff_t chunk) {
    const bool padded = g.given < n / 2 + 1;
    scratch<T> bins(padded ? n + 2 : 0), pairs(n), work(plan->inner->work);
    rows.for_rows(chunk, [&](std::int64_t row) {
      const T* from = y + row * 2 * g.given;
      if (padded) {
        TakeBins(from, g.given, n, bins.data());
        from = bins.data();
      }
      JoinBins(*plan, from, pairs.data());
      TransformRow<true>(*plan->inner, static_cast<T>(g.scale), pairs.data(), x + row * n, work.data());
    });
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_FFT_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"
#include "kernels/fft/make_plan.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_FFT_KERNELS)
}  // namespace kerngrad::kernels
#endif
