// SPDX-License-Identifier: Apache-2.0
// Trigonometric functions and their inverses. Bounds: kernels/accuracy.h; sin, cos and tan hold for all finite x.
#if defined(KG_MATH_TRIG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_TRIG_INL_H_
#undef KG_MATH_TRIG_INL_H_
#else
#define KG_MATH_TRIG_INL_H_
#endif
#include <cmath>

#include "hwy/highway.h"
#include "kernels/math-common-inl.h"

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
  if constexpr (is_float32<D>) {
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

// pi / 2 and its rest; (asin s - s) / s^3 in s^2 up to 1/4, error 2^-55; (atan t - t) / t^3 in t^2 up to
// (sqrt(2) - 1)^2, error 2^-64.
struct arc_constants {
  static constexpr double half_pi = 1.5707963267948966, half_pi_rest = 6.123233995736766e-17;
  static constexpr double asin[] = {
      0.16666666666666669,  0.07499999999998425,  0.04464285714637338,  0.030381944137085216, 0.0223721730020056,
      0.0173523912659092,   0.013971235301124917, 0.011478952690254089, 0.010324318288763578, 0.005450878187643824,
      0.017419357965078285, -0.0148814093931001,  0.02877844261277394};
  static constexpr double atan[] = {
      -0.3333333333333333,  0.19999999999999993,  -0.1428571428571149,  0.11111111110751482,  -0.0909090906681608,
      0.07692306729194896,  -0.0666664186913118,  0.058819230561139996, -0.05258020272656562, 0.0471925918824097,
      -0.04103887546858586, 0.030622995553648818, -0.013905374533032585};
};

/// asin(a) for a <= 1/2; above, the angle y with asin(a) = pi / 2 - 2 y. NaN above 1.
template <class D, class V, class M>
HWY_INLINE V ArcSine(D d, V a, M& large) {
  const V half = Constant(d, 0.5);
  large = hn::Gt(a, half);
  const V z = hn::IfThenElse(large, hn::Mul(half, hn::Sub(Constant(d, 1.0), a)), hn::Mul(a, a));
  const V s = hn::IfThenElse(large, hn::Sqrt(z), a);
  return hn::MulAdd(hn::Mul(s, z), Polynomial(d, z, arc_constants::asin), s);
}

struct asin_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    hn::Mask<D> large;
    const V y = ArcSine(d, hn::Abs(x), large);
    const V rest = hn::Sub(hn::Add(y, y), Constant(d, arc_constants::half_pi_rest));
    return hn::CopySign(hn::IfThenElse(large, hn::Sub(Constant(d, arc_constants::half_pi), rest), y), x);
  }
};

struct acos_in_double {
  /// pi / 2 - asin x; 2 y near 1; pi - 2 y near -1.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    hn::Mask<D> large;
    const V y = ArcSine(d, hn::Abs(x), large);
    const auto negative = hn::Lt(x, hn::Zero(d));
    const V angle = hn::IfThenElse(large, hn::Add(y, y), y);
    const V quarters = hn::IfThenElse(large, hn::IfThenElseZero(negative, Constant(d, 2.0)), Constant(d, 1.0));
    // Near 1 the angle is added to nothing, in the middle and near -1 it is subtracted with the sign of x.
    const V up = hn::IfThenElse(large, angle, hn::Neg(angle));
    const V signed_angle = hn::IfThenElse(negative, hn::Neg(up), up);
    const V rest = hn::MulAdd(quarters, Constant(d, arc_constants::half_pi_rest), signed_angle);
    return hn::MulAdd(quarters, Constant(d, arc_constants::half_pi), rest);
  }
};

/// atan(a) for a >= 0: a, (a - 1) / (a + 1) or -1 / a brings it to [0, sqrt(2) - 1].
template <class D, class V>
HWY_INLINE V ArcTangent(D d, V a) {
  const V one = Constant(d, 1.0);
  const auto small = hn::Lt(a, Constant(d, 0.41421356237309503)), large = hn::Gt(a, Constant(d, 2.414213562373095));
  const V numerator = hn::IfThenElse(small, a, hn::IfThenElse(large, hn::Neg(one), hn::Sub(a, one)));
  const V denominator = hn::IfThenElse(small, one, hn::IfThenElse(large, a, hn::Add(a, one)));
  const V t = hn::Div(numerator, denominator);
  const V quarters = hn::IfThenElse(small, hn::Zero(d), hn::IfThenElse(large, one, Constant(d, 0.5)));
  const V z = hn::Mul(t, t);
  const V rest = hn::MulAdd(hn::Mul(t, z), Polynomial(d, z, arc_constants::atan),
                            hn::Mul(quarters, Constant(d, arc_constants::half_pi_rest)));
  return hn::MulAdd(quarters, Constant(d, arc_constants::half_pi), hn::Add(t, rest));
}

struct atan_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::CopySign(ArcTangent(d, hn::Abs(x)), x);
  }
};

struct atan2_in_double {
  /// atan(smaller / larger) in its octant; the signs of zeros count, and equal infinities lie on the diagonals.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V y, V x) const {
    const V one = Constant(d, 1.0), zero = hn::Zero(d);
    const V a = hn::Abs(y), b = hn::Abs(x);
    const auto steep = hn::Gt(a, b);
    const V smaller = hn::IfThenElse(steep, b, a), larger = hn::IfThenElse(steep, a, b);
    V quotient = hn::IfThenElse(hn::Eq(larger, zero), zero, hn::Div(smaller, larger));
    quotient = hn::IfThenElse(hn::Eq(smaller, Infinity(d)), one, quotient);
    const V angle = ArcTangent(d, quotient);
    const auto left = hn::Lt(hn::CopySign(one, x), zero);
    const V quarters = hn::IfThenElse(steep, one, hn::IfThenElseZero(left, Constant(d, 2.0)));
    const auto same = hn::Eq(hn::IfThenElseZero(steep, one), hn::IfThenElseZero(left, one));
    const V turned = hn::IfThenElse(same, angle, hn::Neg(angle));
    const V rest = hn::MulAdd(quarters, Constant(d, arc_constants::half_pi_rest), turned);
    const V result = hn::CopySign(hn::MulAdd(quarters, Constant(d, arc_constants::half_pi), rest), y);
    const auto number = hn::And(hn::Eq(x, x), hn::Eq(y, y));
    return hn::IfThenElse(number, result, QuietNan(d));
  }
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Asin(D d, V x) {
  return AsDouble(d, x, asin_in_double());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Acos(D d, V x) {
  return AsDouble(d, x, acos_in_double());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Atan(D d, V x) {
  return AsDouble(d, x, atan_in_double());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Atan2(D d, V y, V x) {
  if constexpr (is_float32<D>) {
    return InDouble(d, y, x, atan2_in_double());
  } else {
    return atan2_in_double()(d, y, x);
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KG_MATH_TRIG_INL_H_
