// SPDX-License-Identifier: Apache-2.0
// The exponential integral and the inverse of erf on vectors of doubles. Bounds: kernels/special/accuracy.h.
#if defined(KERNGRAD_KERNELS_SPECIAL_INTEGRAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_SPECIAL_INTEGRAL_INL_H_
#undef KERNGRAD_KERNELS_SPECIAL_INTEGRAL_INL_H_
#else
#define KERNGRAD_KERNELS_SPECIAL_INTEGRAL_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/math-inl.h"
#include "kernels/special/constants.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

/// A polynomial in -log(1 - x^2), in the tails in its root (Giles 2010, "Approximating the erfinv function").
struct erfinv_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = Constant(d, 1.0);
    const V a = hn::Abs(x);
    const V w = hn::Neg(Log(d, hn::Mul(hn::Sub(one, a), hn::Add(one, a))));
    const V v = hn::MulAdd(w, Constant(d, 1 / 3.125), hn::Neg(one));
    V y = hn::Mul(Polynomial(d, v, special_constants::erfinv_centre), x);
    const auto tail = hn::Gt(w, Constant(d, 6.25));
    if (!hn::AllFalse(d, tail)) {
      const V root = hn::Sqrt(w);
      const V u = hn::Mul(hn::Sub(root, Constant(d, 4.3)), Constant(d, 1 / 1.8));
      const V far = hn::CopySign(hn::Mul(Polynomial(d, u, special_constants::erfinv_tail), root), x);
      y = hn::IfThenElse(tail, far, y);
    }
    return hn::IfThenElse(hn::Eq(a, one), hn::CopySign(Infinity(d), x), y);
  }
};

/// The y with erf(y) = x; infinite at -1 and 1, NaN outside.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erfinv(D d, V x) {
  return AsDouble(d, x, erfinv_in_double());
}

struct expi_in_double {
  // The zero of Ei in two parts, and its logarithm.
  static constexpr double zero_high = 0.3725074107813666, zero_low = 1.3140183414386028e-17;
  static constexpr double log_zero = -0.9874983466453419, euler = 0.5772156649015329;

  /// Ei(x) for x > 0: up to 6 as log(x / zero) + (x - zero) R(x), whose parts have one sign (Cody and Thacher 1969).
  template <class D, class V>
  static HWY_INLINE V Positive(D d, V x) {
    const V six = Constant(d, 6.0);
    const auto near = hn::Lt(x, six);
    const V from_zero = hn::Sub(hn::Sub(x, Constant(d, zero_high)), Constant(d, zero_low));
    const V small = hn::Sub(Log(d, x), Constant(d, log_zero));
    const V log =
        hn::IfThenElse(hn::Lt(x, Constant(d, 0.1875)), small, Log1p(d, hn::Mul(from_zero, Constant(d, 1 / zero_high))));
    const V u = hn::Mul(x, Constant(d, 1.0 / 6));
    V y = hn::MulAdd(from_zero, Polynomial(d, u, special_constants::expi_near), log);
    if (hn::AllTrue(d, near)) return y;
    const V limited = Limit(d, x, 1.0, 1400.0);
    const V inverse = hn::Div(Constant(d, 1.0), limited);
    // [1/14, 1/6] to [-1, 1]
    const V v = hn::MulAdd(inverse, Constant(d, 21.0), Constant(d, -2.5));
    V p = Polynomial(d, v, special_constants::expi_middle);
    const auto far = hn::Ge(x, Constant(d, 14.0));
    if (!hn::AllFalse(d, far)) {
      const V w = hn::MulAdd(inverse, Constant(d, 28.0), Constant(d, -1.0));
      p = hn::IfThenElse(far, Polynomial(d, w, special_constants::expi_far), p);
    }
    const V e = BiasedExp(d, limited, hn::Zero(d), -64.0);
    return hn::IfThenElse(near, y, hn::Mul(hn::Mul(hn::Mul(p, inverse), e), Constant(d, 0x1p64)));
  }

  /// Ei(-z) for z > 0.
  template <class D, class V>
  static HWY_INLINE V Negative(D d, V z) {
    const auto near = hn::Lt(z, Constant(d, 1.0));
    V y = hn::Add(Log(d, z), hn::NegMulAdd(z, Polynomial(d, z, special_constants::e1_near), Constant(d, euler)));
    if (hn::AllTrue(d, near)) return y;
    const V limited = Limit(d, z, 0.0, 1400.0);
    const V v = hn::Sub(Constant(d, 1.0), hn::Div(Constant(d, 6.0), hn::Add(limited, Constant(d, 2.0))));
    const V p = hn::Div(Polynomial(d, v, special_constants::e1_far), limited);
    const V e = BiasedExp(d, hn::Neg(limited), hn::Zero(d), 64.0);
    return hn::IfThenElse(near, y, hn::Neg(hn::Mul(hn::Mul(p, e), Constant(d, 0x1p-64))));
  }

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V zero = hn::Zero(d), a = hn::Abs(x);
    const auto negative = hn::Lt(x, zero);
    V y;
    if (hn::AllFalse(d, negative)) y = Positive(d, a);
    else if (hn::AllTrue(d, negative)) y = Negative(d, a);
    else y = hn::IfThenElse(negative, Negative(d, a), Positive(d, a));
    return hn::IfThenElse(hn::Eq(a, zero), hn::Neg(Infinity(d)), y);
  }
};

/// The exponential integral Ei; -infinity at 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Expi(D d, V x) {
  return AsDouble(d, x, expi_in_double());
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KERNGRAD_KERNELS_SPECIAL_INTEGRAL_INL_H_
