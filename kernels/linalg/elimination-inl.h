// SPDX-License-Identifier: Apache-2.0
// Steps of elimination with one matrix per lane. Included once per target, after kernels/linalg/lanes-inl.h.
#if defined(KERNGRAD_KERNELS_LINALG_ELIMINATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_LINALG_ELIMINATION_INL_H_
#undef KERNGRAD_KERNELS_LINALG_ELIMINATION_INL_H_
#else
#define KERNGRAD_KERNELS_LINALG_ELIMINATION_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/linalg/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::linalg::lanes::HWY_NAMESPACE {

// Row of the largest element of column k at or below the diagonal; a NaN counts as the largest.
template <class T, int N>
HWY_INLINE vec<T> PivotOf(matrices<T, N> m, std::int64_t k) {
  const tag<T> d;
  vec<T> most = hn::Abs(m.get(k, k)), at = hn::Set(d, static_cast<T>(k));
  for (std::int64_t r = k + 1; r < m.n(); ++r) {
    const vec<T> here = hn::Abs(m.get(r, k));
    const auto larger = hn::Or(hn::Gt(here, most), hn::IsNaN(here));
    most = hn::IfThenElse(larger, here, most), at = hn::IfThenElse(larger, hn::Set(d, static_cast<T>(r)), at);
  }
  return at;
}

// Exchanges row k and the one that `pivot` names, from column `first` on.
template <class T, int N>
HWY_INLINE void ExchangeRows(matrices<T, N> m, std::int64_t k, vec<T> pivot, std::int64_t first) {
  const tag<T> d;
  for (std::int64_t r = k + 1; r < m.n(); ++r) {
    const auto here = hn::Eq(pivot, hn::Set(d, static_cast<T>(r)));
    for (std::int64_t c = first; c < m.n(); ++c) {
      const vec<T> x = m.get(k, c), y = m.get(r, c);
      m.set(k, c, hn::IfThenElse(here, y, x)), m.set(r, c, hn::IfThenElse(here, x, y));
    }
  }
}

// Calls each(divided) once, with a function that gives x / pivot. As in LAPACK, one reciprocal serves all x, except in
// lanes where it is not a normal number: that of a denormal pivot overflows. The branch is outside of loops over x,
// which compilers unroll.
template <class T, class F>
HWY_INLINE void WithDivision(vec<T> pivot, const F& each) {
  using limits = std::numeric_limits<T>;
  const tag<T> d;
  const vec<T> reciprocal = hn::Div(hn::Set(d, T(1)), pivot), size = hn::Abs(reciprocal);
  const auto normal = hn::And(hn::Ge(size, hn::Set(d, limits::min())), hn::Le(size, hn::Set(d, limits::max())));
  if (HWY_LIKELY(hn::AllTrue(d, normal))) each([&](vec<T> x) HWY_ATTR { return hn::Mul(x, reciprocal); });
  else each([&](vec<T> x) HWY_ATTR { return hn::IfThenElse(normal, hn::Mul(x, reciprocal), hn::Div(x, pivot)); });
}

// Subtracts multiples of row k from the rows below. A zero pivot is taken as 1: what it divides is zero as well.
template <class T, int N>
HWY_INLINE void Eliminate(matrices<T, N> m, std::int64_t k, vec<T>& info) {
  const tag<T> d;
  const vec<T> zero = hn::Zero(d), one = hn::Set(d, T(1)), pivot = m.get(k, k);
  const auto is_zero = hn::Eq(pivot, zero);
  info = hn::IfThenElse(hn::And(is_zero, hn::Eq(info, zero)), hn::Set(d, static_cast<T>(k + 1)), info);
  WithDivision<T>(hn::IfThenElse(is_zero, one, pivot), [&](const auto& divided) HWY_ATTR {
    for (std::int64_t r = k + 1; r < m.n(); ++r) m.set(r, k, divided(m.get(r, k)));
  });
  for (std::int64_t c = k + 1; c < m.n(); ++c) {
    const vec<T> x = m.get(k, c);
    for (std::int64_t r = k + 1; r < m.n(); ++r) m.set(r, c, hn::NegMulAdd(m.get(r, k), x, m.get(r, c)));
  }
}

// The products of the n pivots in each lane, in double precision.
template <class T>
HWY_INLINE void MultiplyPivots(const T* pivots, std::int64_t n, T* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag<T>()));
  double products[most_lanes<T>];
  std::fill_n(products, lanes, 1.0);
  int out_of_range = 0;
  // The compiler makes vectors of the loops over lanes.
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t l = 0; l < lanes; ++l) {
      products[l] *= static_cast<double>(pivots[k * lanes + l]);
      const double size = std::fabs(products[l]);
      out_of_range |= static_cast<int>(!(size > 0x1p-900)) | static_cast<int>(!(size < 0x1p900));
    }
  for (std::int64_t l = 0; l < lanes; ++l) to[l] = static_cast<T>(products[l]);
  if (HWY_LIKELY(out_of_range == 0)) return;
  for (std::int64_t l = 0; l < lanes; ++l) to[l] = static_cast<T>(product_of_pivots<double>(pivots + l, n, lanes));
}

}  // namespace kerngrad::linalg::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // KERNGRAD_KERNELS_LINALG_ELIMINATION_INL_H_
