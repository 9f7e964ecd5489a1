// SPDX-License-Identifier: Apache-2.0
// Inverse trigonometric functions. Bounds: kernels/common/accuracy.h. Float lanes with fused multiply-adds carry the
// roundings of roots and quotients along; without them they go through double lanes.
#if defined(KG_MATH_ARC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_ARC_INL_H_
#undef KG_MATH_ARC_INL_H_
#else
#define KG_MATH_ARC_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/common-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

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

// pi / 2 and its rest; (asin s - s) / s^3 in s^2 up to 1/4, error 2^-28; (atan t - t) / t^3 in t^2 up to 1, error 2^-28
// of the arc, by least squares in which each coefficient makes up for the rounding of those before it.
struct arc_constants_of_floats {
  static constexpr float half_pi = 1.57079637f, half_pi_rest = -4.37113883e-08f;
  static constexpr float asin[] = {0.166666657f,  0.0750009418f, 0.0445994027f,
                                   0.0311006624f, 0.0171492379f, 0.0336908475f};
  static constexpr float atan[] = {-0.333332956f, 0.199984536f,   -0.14263308f,  0.109475791f,   -0.0839061067f,
                                   0.0577461869f, -0.0309740175f, 0.0108082248f, -0.00177041674f};
};

/// asin(a) = s + rest for a <= 1/2; above, the angle with asin(a) = pi / 2 - 2 (s + rest). NaN above 1. The root's
/// rounding error is the residual over 2 s.
template <class D, class V, class M>
HWY_INLINE V ArcSineOfFloats(D d, V a, M& large, V& rest) {
  const V half = Constant(d, 0.5), zero = hn::Zero(d);
  large = hn::Gt(a, half);
  const V z = hn::IfThenElse(large, hn::NegMulAdd(half, a, half), hn::Mul(a, a));
  const V s = hn::IfThenElse(large, hn::Sqrt(z), a);
  const V residual = hn::IfThenElseZero(hn::And(large, hn::Lt(a, Constant(d, 1.0))), hn::NegMulAdd(s, s, z));
  const V root_rest = hn::Div(hn::Mul(half, residual), hn::IfThenElse(hn::Eq(s, zero), half, s));
  rest = hn::MulAdd(hn::Mul(s, z), Polynomial(d, z, arc_constants_of_floats::asin), root_rest);
  return s;
}

/// asin(x) = pi / 2 - 2 y above 1/2, where y is the angle of ArcSineOfFloats.
template <class D, class V>
HWY_INLINE V AsinOfFloats(D d, V x) {
  hn::Mask<D> large;
  V rest, error;
  const V s = ArcSineOfFloats(d, hn::Abs(x), large, rest);
  const V quarter = hn::IfThenElseZero(large, hn::Set(d, arc_constants_of_floats::half_pi));
  const V quarter_rest = hn::IfThenElseZero(large, hn::Set(d, arc_constants_of_floats::half_pi_rest));
  const V factor = hn::IfThenElse(large, Constant(d, -2.0), Constant(d, 1.0));
  const V sum = FastTwoSum(quarter, hn::Mul(factor, s), error);
  return hn::CopySign(hn::Add(sum, hn::MulAdd(factor, rest, hn::Add(error, quarter_rest))), x);
}

/// acos(x) = pi / 2 - asin(x); 2 y near 1; pi - 2 y near -1.
template <class D, class V>
HWY_INLINE V AcosOfFloats(D d, V x) {
  hn::Mask<D> large;
  V rest, error;
  const V s = ArcSineOfFloats(d, hn::Abs(x), large, rest);
  const V one = Constant(d, 1.0), two = Constant(d, 2.0);
  const auto negative = hn::Lt(x, hn::Zero(d));
  const V quarters = hn::IfThenElse(large, hn::IfThenElseZero(negative, two), one);
  const V size = hn::IfThenElse(large, two, hn::Neg(one));
  const V factor = hn::IfThenElse(negative, hn::Neg(size), size);
  const V base = hn::Mul(quarters, hn::Set(d, arc_constants_of_floats::half_pi));
  const V sum = FastTwoSum(base, hn::Mul(factor, s), error);
  const V small = hn::MulAdd(quarters, hn::Set(d, arc_constants_of_floats::half_pi_rest), error);
  return hn::Add(sum, hn::MulAdd(factor, rest, small));
}

/// quarters pi / 2 + direction atan(t + t_rest) for 0 <= t <= 1, where the rest counts as t_rest (1 - t^2 / 2):
/// the derivative to a tenth.
template <class D, class V>
HWY_INLINE V ArcTangentOfFloats(D d, V t, V t_rest, V quarters, V direction) {
  V error;
  const V z = hn::Mul(t, t);
  t_rest = hn::NegMulAdd(hn::Mul(z, Constant(d, 0.5)), t_rest, t_rest);
  const V rest = hn::MulAdd(hn::Mul(t, z), Polynomial(d, z, arc_constants_of_floats::atan), t_rest);
  const V base = hn::Mul(quarters, hn::Set(d, arc_constants_of_floats::half_pi));
  const V sum = FastTwoSum(base, hn::Mul(direction, t), error);
  const V small = hn::MulAdd(quarters, hn::Set(d, arc_constants_of_floats::half_pi_rest), error);
  return hn::Add(sum, hn::MulAdd(direction, rest, small));
}

/// atan(a), above 1 as pi / 2 - atan(1 / a).
template <class D, class V>
HWY_INLINE V AtanOfFloats(D d, V x) {
  const V a = hn::Abs(x), one = Constant(d, 1.0);
  const auto steep = hn::Gt(a, one);
  const V inverse = hn::Div(one, a);
  const V t = hn::IfThenElse(steep, inverse, a);
  // Infinity has no residual.
  const auto inexact = hn::And(steep, hn::Lt(a, Infinity(d)));
  const V t_rest = hn::IfThenElseZero(inexact, hn::Mul(inverse, hn::NegMulAdd(a, inverse, one)));
  const V quarters = hn::IfThenElseZero(steep, one);
  return hn::CopySign(ArcTangentOfFloats(d, t, t_rest, quarters, hn::IfThenElse(steep, hn::Neg(one), one)), x);
}

/// As atan2_in_double.
template <class D, class V>
HWY_INLINE V Atan2OfFloats(D d, V y, V x) {
  const V one = Constant(d, 1.0), zero = hn::Zero(d);
  const V a = hn::Abs(y), b = hn::Abs(x);
  const auto steep = hn::Gt(a, b);
  const V smaller = hn::IfThenElse(steep, b, a), larger = hn::IfThenElse(steep, a, b);
  V t = hn::IfThenElse(hn::Eq(larger, zero), zero, hn::Div(smaller, larger));
  t = hn::IfThenElse(hn::Eq(smaller, Infinity(d)), one, t);
  // NaN where a part is zero, infinite or NaN: there is nothing to correct.
  const V correction = hn::Div(hn::NegMulAdd(t, larger, smaller), larger);
  const V t_rest = hn::IfThenElseZero(hn::Eq(correction, correction), correction);
  const auto left = hn::Lt(hn::CopySign(one, x), zero);
  const V quarters = hn::IfThenElse(steep, one, hn::IfThenElseZero(left, Constant(d, 2.0)));
  const auto same = hn::Eq(hn::IfThenElseZero(steep, one), hn::IfThenElseZero(left, one));
  const V angle = ArcTangentOfFloats(d, t, t_rest, quarters, hn::IfThenElse(same, one, hn::Neg(one)));
  const auto number = hn::And(hn::Eq(x, x), hn::Eq(y, y));
  return hn::IfThenElse(number, hn::CopySign(angle, y), QuietNan(d));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Asin(D d, V x) {
  if constexpr (fused_floats<D>) return AsinOfFloats(d, x);
  return AsDouble(d, x, asin_in_double());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Acos(D d, V x) {
  if constexpr (fused_floats<D>) return AcosOfFloats(d, x);
  return AsDouble(d, x, acos_in_double());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Atan(D d, V x) {
  if constexpr (fused_floats<D>) return AtanOfFloats(d, x);
  return AsDouble(d, x, atan_in_double());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Atan2(D d, V y, V x) {
  if constexpr (fused_floats<D>) {
    return Atan2OfFloats(d, y, x);
  } else if constexpr (is_float32<D>) {
    return InDouble(d, y, x, atan2_in_double());
  } else {
    return atan2_in_double()(d, y, x);
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KG_MATH_ARC_INL_H_
