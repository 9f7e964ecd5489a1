// SPDX-License-Identifier: Apache-2.0
// The logarithm, and the inverse hyperbolic functions made of it. Bounds: kernels/common/accuracy.h.
#if defined(KG_MATH_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_LOG_INL_H_
#undef KG_MATH_LOG_INL_H_
#else
#define KG_MATH_LOG_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/common-inl.h"
#include "kernels/math/tables-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// float: (log(1 + f) - f + f^2 / 2) / f^3 in f, error 2^-25 of f^3. double: (2 atanh(s) / s - 2) / s^2 in s^2, error
// 2^-58 of s^2, where s = f / (2 + f). Both for 1 + f in [sqrt(1/2), sqrt(2)].
template <class T>
struct log_constants;
template <>
struct log_constants<float> {
  static constexpr float p[] = {0.333333313f,  -0.24999997f, 0.200007156f,  -0.166678026f, 0.142490581f,
                                -0.124256872f, 0.116854198f, -0.114797339f, 0.0697161183f};
  static constexpr double up = 0x1p23, up_bits = 23;
};
template <>
struct log_constants<double> {
  static constexpr double p[] = {0.6666666666666666,  0.4000000000000088,  0.28571428570801954, 0.22222222392089008,
                                 0.18181795600060793, 0.15386241881938595, 0.13268714792348096, 0.1308723619665962};
  static constexpr double up = 0x1p54, up_bits = 54;
};

/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], for positive normal x.
template <class D, class V>
HWY_INLINE V SplitExponent(D d, V x, V& k) {
  using format = format_of<D>;
  const hn::RebindToUnsigned<D> du;
  const V one = Constant(d, 1.0);
  const auto offset = hn::BitCast(du, Constant(d, 0.70710678118654752440));
  const auto shifted = hn::Add(hn::BitCast(du, x), hn::Sub(hn::BitCast(du, one), offset));
  const auto mantissa = hn::Set(du, (hn::TFromD<decltype(du)>{1} << format::mantissa_bits) - 1);
  const V m = hn::BitCast(d, hn::Add(hn::And(shifted, mantissa), offset));
  // The biased exponent in the low bits of 2^mantissa_bits is that number plus the exponent.
  const V integers = hn::Set(d, format::integers);
  const auto exponent = hn::Or(hn::ShiftRight<format::mantissa_bits>(shifted), hn::BitCast(du, integers));
  k = hn::Sub(hn::BitCast(d, exponent), hn::Set(d, format::integers + format::exponent_bias));
  return hn::Sub(m, one);
}

/// log(1 + f) - f + small.
template <class D, class V>
HWY_INLINE V LogTail(D d, V f, V small) {
  using constants = log_constants<hn::TFromD<D>>;
  const V square = hn::Mul(f, f);
  if constexpr (is_float32<D>) {
    const V y = hn::MulAdd(hn::Mul(f, square), Polynomial(d, f, constants::p), small);
    return hn::NegMulAdd(Constant(d, 0.5), square, y);
  } else {
    const V s = hn::Div(f, hn::Add(f, Constant(d, 2.0)));
    const V z = hn::Mul(s, s);
    const V half = hn::Mul(Constant(d, 0.5), square);
    const V p = hn::MulAdd(z, Polynomial(d, z, constants::p), half);
    return hn::Sub(hn::MulAdd(s, p, small), half);
  }
}

/// k ln 2 + log(1 + f) + small.
template <class D, class V>
HWY_INLINE V LogOfParts(D d, V f, V k, V small) {
  V error;
  const V sum = FastTwoSum(hn::Mul(k, hn::Set(d, ln2<hn::TFromD<D>>::high)), f, error);
  const V tail = LogTail(d, f, hn::MulAdd(k, hn::Set(d, ln2<hn::TFromD<D>>::low), small));
  return hn::Add(sum, hn::Add(tail, error));
}

/// of_parts(f, k) for x = 2^k (1 + f), and what a logarithm is elsewhere: log(0) = -inf, log(x < 0) = NaN.
template <class D, class V, class F>
HWY_INLINE V AnyLog(D d, V x, F of_parts) {
  using constants = log_constants<hn::TFromD<D>>;
  const V lowest = hn::Set(d, format_of<D>::min_normal);
  const auto normal = hn::And(hn::Ge(x, lowest), hn::Lt(x, Infinity(d)));
  V k;
  if (HWY_LIKELY(hn::AllTrue(d, normal))) {
    const V f = SplitExponent(d, x, k);
    return of_parts(d, f, k);
  }
  const auto denormal = hn::Lt(x, lowest);
  const V f = SplitExponent(d, hn::IfThenElse(denormal, hn::Mul(x, Constant(d, constants::up)), x), k);
  k = hn::Sub(k, hn::IfThenElseZero(denormal, Constant(d, constants::up_bits)));
  const V y = of_parts(d, f, k);
  const V outside = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(Infinity(d)), QuietNan(d));
  // x itself is the answer for +inf and NaN.
  const V special = hn::IfThenElse(hn::Le(x, hn::Zero(d)), outside, x);
  return hn::IfThenElse(hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, Infinity(d))), y, special);
}

struct natural_log {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V f, V k) const {
    return LogOfParts(d, f, k, hn::Zero(d));
  }
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log(D d, V x) {
  if constexpr (has_tables<D>) return LogByTable(d, x, hn::SignBit(d), hn::SignBit(d));
  return AnyLog(d, x, natural_log());
}

/// log(u) with u = 1 + x rounded, corrected by the error of that sum. log1p(-1) = -inf, below NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log1p(D d, V x) {
  const V one = Constant(d, 1.0);
  const auto inside = hn::And(hn::Gt(x, hn::Neg(one)), hn::Lt(x, Infinity(d)));
  V error;
  const V u = TwoSum(one, x, error);
  V y;
  if constexpr (has_tables<D>) {
    y = LogByTable(d, u, hn::SignBit(d), hn::Div(error, u));
  } else {
    V k;
    const V f = SplitExponent(d, u, k);
    y = LogOfParts(d, f, k, hn::Div(error, u));
  }
  y = hn::CopySign(y, x);
  if (HWY_LIKELY(hn::AllTrue(d, inside))) return y;
  const V outside = hn::IfThenElse(hn::Eq(x, hn::Neg(one)), hn::Neg(Infinity(d)), QuietNan(d));
  return hn::IfThenElse(inside, y, hn::IfThenElse(hn::Le(x, hn::Neg(one)), outside, x));
}

struct asinh_in_double {
  /// log1p(a + a^2 / (1 + sqrt(1 + a^2))), from 2^60 on log(a) + ln 2.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = Constant(d, 1.0);
    const V a = hn::Abs(x);
    const auto big = hn::Gt(a, Constant(d, 0x1p60));
    const V square = hn::Mul(a, a);
    const V small = hn::Add(a, hn::Div(square, hn::Add(one, hn::Sqrt(hn::Add(one, square)))));
    const V y = Log1p(d, hn::IfThenElse(big, a, small));
    return hn::CopySign(hn::Add(y, hn::IfThenElseZero(big, Constant(d, 0.69314718055994530942))), x);
  }
};

struct acosh_in_double {
  /// log1p(t + sqrt(2 t + t^2)) with t = x - 1, from 2^60 on log(x) + ln 2; NaN below 1.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = Constant(d, 1.0);
    const auto big = hn::Gt(x, Constant(d, 0x1p60));
    const V t = hn::Sub(x, one);
    const V small = hn::Add(t, hn::Sqrt(hn::MulAdd(t, t, hn::Add(t, t))));
    const V y =
        hn::Add(Log1p(d, hn::IfThenElse(big, x, small)), hn::IfThenElseZero(big, Constant(d, 0.69314718055994530942)));
    return hn::IfThenElse(hn::Lt(x, one), QuietNan(d), y);
  }
};

struct atanh_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V a = hn::Abs(x);
    const V quotient = hn::Div(hn::Add(a, a), hn::Sub(Constant(d, 1.0), a));
    return hn::CopySign(hn::Mul(Constant(d, 0.5), Log1p(d, quotient)), x);
  }
};

/// log(u 2^k) + small for u >= 1 and integral k; what it gives for infinity and NaN means nothing.
template <class D, class V>
HWY_INLINE V ScaledLog(D d, V u, V k, V small) {
  if constexpr (has_tables<D>) {
    return LogByTable(d, u, k, small);
  } else {
    V exponent;
    const V f = SplitExponent(d, u, exponent);
    return LogOfParts(d, f, hn::Add(exponent, k), small);
  }
}

/// log(a + sqrt(a^2 + sign)) for a >= 0 in float lanes. The square is exact in two parts, the root's error is the
/// residual over twice the root, and the error of the sum enters over the sum. From 2^13 on this is log(2 a).
template <class D, class V>
HWY_INLINE V LogOfRootSum(D d, V a, double sign) {
  const V one = Constant(d, 1.0);
  V square_rest, sum_rest, rest;
  const V square = TwoProduct(d, a, a, square_rest);
  const V sum = TwoSum(square, Constant(d, sign), sum_rest);
  const V root = hn::Sqrt(sum);
  const V residual = hn::Add(hn::NegMulAdd(root, root, sum), hn::Add(sum_rest, square_rest));
  const V u = TwoSum(root, a, rest);
  // The root is 0 for a = 1 only, else at least 2^-12, and so is u times the root.
  const V divisor = hn::Max(hn::Mul(u, root), Constant(d, 0x1p-20));
  const V small = hn::Div(hn::MulAdd(rest, root, hn::Mul(Constant(d, 0.5), residual)), divisor);
  const auto big = hn::Gt(a, Constant(d, 0x1p13));
  const V y = ScaledLog(d, hn::IfThenElse(big, a, u), hn::IfThenElseZero(big, one), hn::IfThenZeroElse(big, small));
  return hn::IfThenElse(hn::Lt(a, Infinity(d)), y, a);
}

/// Below 1/16 the series, which loses nothing where the argument of the logarithm is almost 1.
template <class D, class V>
HWY_INLINE V AsinhOfFloats(D d, V x) {
  const V a = hn::Abs(x), z = hn::Mul(a, a);
  const V series = hn::MulAdd(hn::Mul(a, z), hn::MulAdd(z, Constant(d, 0.075), Constant(d, -1.0 / 6)), a);
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, Constant(d, 0.0625)), series, LogOfRootSum(d, a, 1.0)), x);
}

template <class D, class V>
HWY_INLINE V AcoshOfFloats(D d, V x) {
  return hn::IfThenElse(hn::Lt(x, Constant(d, 1.0)), QuietNan(d), LogOfRootSum(d, x, -1.0));
}

/// log((1 + a) / (1 - a)) / 2 with the errors of both sums and of the quotient; below 1/16 the series.
template <class D, class V>
HWY_INLINE V AtanhOfFloats(D d, V x) {
  const V a = hn::Abs(x), one = Constant(d, 1.0), half = Constant(d, 0.5), z = hn::Mul(a, a);
  V p = hn::MulAdd(z, Constant(d, 1.0 / 7), Constant(d, 0.2));
  p = hn::MulAdd(z, p, Constant(d, 1.0 / 3));
  const V series = hn::MulAdd(hn::Mul(a, z), p, a);
  V above_rest, below_rest;
  const V above = FastTwoSum(one, a, above_rest);
  const V below = FastTwoSum(one, hn::Neg(a), below_rest);
  const V u = hn::Div(above, below);
  const V residual = hn::NegMulAdd(u, below_rest, hn::Add(hn::NegMulAdd(u, below, above), above_rest));
  const V large = hn::Mul(half, ScaledLog(d, u, hn::SignBit(d), hn::Div(residual, above)));
  const V outside = hn::IfThenElse(hn::Eq(a, one), Infinity(d), QuietNan(d));
  const V y = hn::IfThenElse(hn::Lt(a, Constant(d, 0.0625)), series, hn::IfThenElse(hn::Lt(a, one), large, outside));
  return hn::CopySign(y, x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Asinh(D d, V x) {
  if constexpr (fused_floats<D>) return AsinhOfFloats(d, x);
  return AsDouble(d, x, asinh_in_double());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Acosh(D d, V x) {
  if constexpr (fused_floats<D>) return AcoshOfFloats(d, x);
  return AsDouble(d, x, acosh_in_double());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Atanh(D d, V x) {
  if constexpr (fused_floats<D>) return AtanhOfFloats(d, x);
  return AsDouble(d, x, atanh_in_double());
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KG_MATH_LOG_INL_H_
