// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions. Bounds: kernels/common/accuracy.h, for all finite x.
#if defined(KG_MATH_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_TRIG_INL_H_
#undef KG_MATH_TRIG_INL_H_
#else
#define KG_MATH_TRIG_INL_H_
#endif
#include <cmath>

#include "hwy/highway.h"
#include "kernels/math/common-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// (sin r - r) / r^3 and (cos r - 1 + r^2 / 2) / r^4 in r^2 on |r| <= pi / 4; errors 2^-32 and 2^-34, 2^-63 and 2^-65.
// `reduced`: larger arguments go through the C library lane by lane.
template <class T>
struct trig_constants;
template <>
struct trig_constants<float> {
  static constexpr float sin[] = {-0.166666672f, 0.00833333191f, -0.000198400856f, 2.72497732e-06f};
  static constexpr float cos[] = {0.0416666679f, -0.00138888881f, 2.48005999e-05f, -2.73008311e-07f};
  static constexpr float reduced = 1e5f;
};
template <>
struct trig_constants<double> {
  static constexpr double sin[] = {-0.16666666666666666,  0.008333333333333331,    -0.00019841269841265052,
                                   2.755731921932988e-06, -2.5052106229222596e-08, 1.6058531107942803e-10,
                                   -7.586667000208208e-13};
  static constexpr double cos[] = {0.041666666666666664,   -0.0013888888888888887, 2.480158730158464e-05,
                                   -2.755731922139766e-07, 2.087675578928741e-09,  -1.1470460603480262e-11,
                                   4.745855157258217e-14};
  static constexpr double reduced = 8e5;
};

struct subtract_quarters {
  /// a - k pi / 2 for float arguments: the product with the first 33 bits is exact.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V k) const {
    const V r = hn::NegMulAdd(k, Constant(d, 0x1.921fb544p+0), a);
    return hn::NegMulAdd(k, Constant(d, 6.077100506506192e-11), r);
  }
};

/// a = k pi / 2 + r + low with |r| <= pi / 4, for 0 <= a <= trig_constants::reduced. For double lanes pi / 2 is taken
/// in three parts of 33 bits, whose products with k < 2^20 are exact, and a rest: right to 2^-120, where the smallest
/// distance of such an argument to a multiple of pi / 2 is about 2^-60.
template <class D, class V>
HWY_INLINE V ReduceQuarters(D d, V a, V& k, V& low) {
  const V magic = hn::Set(d, format_of<D>::magic);
  k = hn::Sub(hn::MulAdd(a, Constant(d, 0.63661977236758134308), magic), magic);
  if constexpr (fused_floats<D>) {
    // The first difference is exact: it is below 1 and a multiple of 2^-24. The second is rounded once, as in double.
    const V first = hn::NegMulAdd(k, Constant(d, 0x1.921fb6p+0), a);
    const V r = hn::NegMulAdd(k, Constant(d, -0x1.777a5cp-25), first);
    low = hn::Mul(k, Constant(d, 0x1.ee59dap-50));
    return r;
  } else if constexpr (is_float32<D>) {
    low = hn::Zero(d);
    return InDouble(d, a, k, subtract_quarters());
  } else {
    V second, third, rest;
    V r = hn::NegMulAdd(k, Constant(d, 0x1.921fb544p+0), a);
    r = TwoSum(r, hn::Mul(k, Constant(d, -0x1.0b4611a6p-34)), second);
    r = TwoSum(r, hn::Mul(k, Constant(d, -0x1.3198a2e0p-69)), third);
    rest = hn::Add(hn::Add(second, third), hn::Mul(k, Constant(d, -8.4784276603689e-32)));
    return FastTwoSum(r, rest, low);
  }
}

template <class D, class V>
HWY_INLINE V SinOfReduced(D d, V r, V low) {
  const V z = hn::Mul(r, r);
  const V cubic = hn::Mul(hn::Mul(r, z), Polynomial(d, z, trig_constants<hn::TFromD<D>>::sin));
  if constexpr (fused_floats<D>) return hn::Add(r, hn::Add(cubic, low));
  if constexpr (is_float32<D>) return hn::Add(r, cubic);
  const V tail = hn::NegMulAdd(hn::Mul(z, Constant(d, 0.5)), low, low);
  return hn::Add(r, hn::Add(cubic, tail));
}

template <class D, class V>
HWY_INLINE V CosOfReduced(D d, V r, V low) {
  const V one = Constant(d, 1.0);
  const V z = hn::Mul(r, r);
  const V half = hn::Mul(z, Constant(d, 0.5));
  const V head = hn::Sub(one, half);
  const V lost = hn::Sub(hn::Sub(one, head), half);
  const V quartic = hn::Mul(hn::Mul(z, z), Polynomial(d, z, trig_constants<hn::TFromD<D>>::cos));
  return hn::Add(head, hn::Add(lost, hn::NegMulAdd(r, low, quartic)));
}

/// sin(a + quarters pi / 2) for a >= 0 within reach of the reduction.
template <class D, class V>
HWY_INLINE V SinOfQuarters(D d, V a, double quarters) {
  const hn::RebindToUnsigned<D> du;
  using TU = hn::TFromD<decltype(du)>;
  V k, low;
  const V r = ReduceQuarters(d, a, k, low);
  const auto number = hn::BitCast(du, hn::Add(k, Constant(d, format_of<D>::magic + quarters)));
  const auto odd = hn::Ne(hn::And(number, hn::Set(du, TU{1})), hn::Zero(du));
  const auto sign = hn::ShiftLeft<8 * sizeof(TU) - 2>(hn::And(number, hn::Set(du, TU{2})));
  const V y = hn::IfThenElse(hn::RebindMask(d, odd), CosOfReduced(d, r, low), SinOfReduced(d, r, low));
  return hn::Xor(y, hn::BitCast(d, sign));
}

// In double for float, too: the C library's float functions are not right to one unit in the last place.
struct scalar_sin {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(std::sin(static_cast<double>(x)));
  }
};
struct scalar_cos {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(std::cos(static_cast<double>(x)));
  }
};
struct scalar_tan {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(std::tan(static_cast<double>(x)));
  }
};

/// y where |x| is within reach of the reduction, and the scalar function elsewhere (NaN and infinities too).
template <class D, class V, class F>
HWY_INLINE V WithScalarTail(D d, V x, V y, F scalar) {
  const auto reduced = hn::Le(hn::Abs(x), hn::Set(d, trig_constants<hn::TFromD<D>>::reduced));
  if (HWY_LIKELY(hn::AllTrue(d, reduced))) return y;
  return hn::IfThenElse(reduced, y, PerLane(d, x, scalar));
}

template <class D, class V>
HWY_INLINE V LimitReduced(D d, V a) {
  return hn::IfThenElseZero(hn::Le(a, hn::Set(d, trig_constants<hn::TFromD<D>>::reduced)), a);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sin(D d, V x) {
  const V y = SinOfQuarters(d, LimitReduced(d, hn::Abs(x)), 0.0);
  return WithScalarTail(d, x, hn::Xor(y, hn::And(x, hn::SignBit(d))), scalar_sin());
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Cos(D d, V x) {
  return WithScalarTail(d, x, SinOfQuarters(d, LimitReduced(d, hn::Abs(x)), 1.0), scalar_cos());
}

struct tan_of_reduced {
  /// sin / cos, or -cos / sin in the odd quarters.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a) const {
    const hn::RebindToUnsigned<D> du;
    V k, low;
    const V r = ReduceQuarters(d, a, k, low);
    const auto number = hn::BitCast(du, hn::Add(k, hn::Set(d, format_of<D>::magic)));
    const auto odd_bit = hn::And(number, hn::Set(du, hn::TFromD<decltype(du)>{1}));
    const auto odd = hn::RebindMask(d, hn::Ne(odd_bit, hn::Zero(du)));
    const V s = SinOfReduced(d, r, low), c = CosOfReduced(d, r, low);
    return hn::Div(hn::IfThenElse(odd, c, s), hn::IfThenElse(odd, hn::Neg(s), c));
  }
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Tan(D d, V x) {
  const V y = AsDouble(d, LimitReduced(d, hn::Abs(x)), tan_of_reduced());
  return WithScalarTail(d, x, hn::Xor(y, hn::And(x, hn::SignBit(d))), scalar_tan());
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KG_MATH_TRIG_INL_H_
