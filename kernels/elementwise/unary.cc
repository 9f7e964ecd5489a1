// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/unary.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/unary.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/activation-inl.h"
#include "kernels/elementwise/maps-inl.h"
#include "kernels/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// |x|; integers wrap: the magnitude of the lowest value is itself.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V Magnitude([[maybe_unused]] D d, V x) {
  if constexpr (hwy::IsFloat<T>()) {
    return hn::Abs(x);
  } else {
    const V sign = hn::BroadcastSignBit(x);
    return hn::Sub(hn::Xor(x, sign), sign);
  }
}

// -1, 0 or 1. NaN gives 0; a zero keeps its sign.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sign(D d, V x) {
  const V zero = hn::Zero(d);
  return hn::IfThenElse(hn::Gt(x, zero), hn::Set(d, 1),
                        hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, -1), hn::IfThenElseZero(hn::Eq(x, x), x)));
}

// Rounding leaves integers as they are. Round goes to even on halves.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Ceiling([[maybe_unused]] D d, V x) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return CeilOf(d, x);
  else return x;
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Floored([[maybe_unused]] D d, V x) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return FloorOf(d, x);
  else return x;
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Rounded([[maybe_unused]] D d, V x) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return Round(d, x);
  else return x;
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Truncated([[maybe_unused]] D d, V x) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::CopySign(FloorOf(d, hn::Abs(x)), x);
  else return x;
}

// alpha x where x < 0, else x; alpha is rounded to the dtype first.
template <class T>
struct leaky_relu : short_map {
  T alpha;
  explicit leaky_relu(const double* params) : alpha(parameter<T>(params[0])) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(hn::Set(d, alpha), x), x);
  }
};

// 1 where x > 0, NaN where x is NaN, else alpha in the dtype.
template <class T>
struct step : short_map {
  T alpha;
  explicit step(const double* params) : alpha(parameter<T>(params[0])) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V y = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1), hn::Set(d, alpha));
    if constexpr (hwy::IsFloat<T>()) return hn::IfThenElse(hn::IsNaN(x), x, y);
    else return y;
  }
};

// A bound in the dtype; a NaN bound, which makes all results NaN, excludes nothing itself.
template <class T>
T bound(double value, T none) {
  return std::isnan(value) ? none : parameter<T>(value);
}
template <class T>
constexpr T least = hwy::IsFloat<T>() ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
template <class T>
constexpr T greatest = hwy::IsFloat<T>() ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();

// x < min ? min : x > max ? max : x, where the comparisons are those of double precision and the result is the bound in
// the dtype. Comparing with the bound in the dtype gives the same: its rounding is monotone, so that an x between the
// two can only be the rounded bound itself. For integers the bounds are the integers within them. NaN passes. If a
// bound is NaN, its bits are set in every result.
template <class T>
struct clip : short_map {
  T min, max, none;
  explicit clip(const double* params)
      : min(bound(inner(params[0], std::ceil(params[0])), least<T>)),
        max(bound(inner(params[1], std::floor(params[1])), greatest<T>)),
        none(std::isnan(params[0]) || std::isnan(params[1]) ? std::numeric_limits<T>::quiet_NaN() : T{0}) {}
  static double inner(double value, double whole) { return hwy::IsFloat<T>() ? value : whole; }
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V y = hn::IfThenElse(hn::Gt(x, hn::Set(d, max)), hn::Set(d, max), x);
    const V clipped = hn::IfThenElse(hn::Lt(x, hn::Set(d, min)), hn::Set(d, min), y);
    if constexpr (hwy::IsFloat<T>()) return hn::Or(clipped, hn::Set(d, none));
    else return clipped;
  }
};

namespace {

template <class Map, class T>
HWY_INLINE void map_all(const unary_geometry& g, const T* x, T* y) {
  flat1<T>(Map(g.params), x, y, static_cast<std::size_t>(g.count));
}
template <dtype Type, class T = lane_t<Type>>
void LeakyRelu(const unary_geometry& g, const T* x, T* y) {
  map_all<leaky_relu<T>>(g, x, y);
}
template <dtype Type, class T = lane_t<Type>>
void Step(const unary_geometry& g, const T* x, T* y) {
  map_all<step<T>>(g, x, y);
}
template <dtype Type, class T = lane_t<Type>>
void ClipByValue(const unary_geometry& g, const T* x, T* y) {
  map_all<clip<T>>(g, x, y);
}

}  // namespace

// Kinds of the list that maps-inl.h lacks.
#define KG_MAP_FOUR(Name, parameters, expression)      \
  struct Name##_map : long_map {                       \
    template <class D, class V>                        \
    HWY_INLINE V operator()(D d, V x) const {          \
      return Name(d, x);                               \
    }                                                  \
    template <class D, class V>                        \
      requires has_tables<D>                           \
    HWY_INLINE void four(D d, vectors<V, 4> v) const { \
      Name##OfAll(d, v);                               \
    }                                                  \
  };
KG_UNARY_KERNELS(KG_DEFINE_MAP1)
KG_DEFINE_KERNELS(KG_PARAMETRIC_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_UNARY_KERNELS(KG_DISPATCH_MAP1)
KG_DISPATCH_KERNELS(KG_PARAMETRIC_KERNELS)

}  // namespace kerngrad::kernels
#endif
