// SPDX-License-Identifier: Apache-2.0
// Incomplete gamma and beta functions on vectors of doubles. Bounds: kernels/special/accuracy.h.
#if defined(KERNGRAD_KERNELS_SPECIAL_INCOMPLETE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_SPECIAL_INCOMPLETE_INL_H_
#undef KERNGRAD_KERNELS_SPECIAL_INCOMPLETE_INL_H_
#else
#define KERNGRAD_KERNELS_SPECIAL_INCOMPLETE_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/math-inl.h"
#include "kernels/special/gamma-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// Series and fractions end when a term no longer counts, or after so many: arguments of 1e8 take about 1e5.
inline constexpr int most_terms = 200000;

/// x^a e^-x / gamma(a + 1) with the exponent in pairs.
template <class D, class V>
HWY_INLINE V GammaPrefix(D d, V a, V x) {
  const V one = Constant(d, 1.0);
  const auto small = hn::Lt(a, Constant(d, 2.0)), moved = hn::Lt(a, Constant(d, 3.0));
  // Below 2 from lgamma(1 + a), then from Stirling's formula, which starts at 3.
  V log_rest, rest;
  const V log_x = LogPair(d, x, log_rest);
  V below = hn::Zero(d), below_low = below, above = below, above_low = below;
  AddProduct(d, a, log_x, log_rest, below, below_low);
  AddPair(hn::Neg(x), hn::Neg(LgammaNearTwo(d, hn::Sub(a, one), a)), below, below_low);
  const V z = hn::Add(a, hn::IfThenElseZero(moved, one));
  const V log_quotient = LogOfQuotient(d, x, z, hn::Zero(d), log_rest);
  AddProduct(d, z, log_quotient, log_rest, above, above_low);
  const V gap = TwoSum(z, hn::Neg(x), rest);
  AddPair(gap, hn::Sub(rest, StirlingRest(d, z)), above, above_low);
  V scale = hn::Sqrt(hn::Div(Constant(d, 0.5 / pi), z));
  scale = hn::Mul(scale, hn::IfThenElse(moved, hn::Div(z, x), one));
  const V power = ExpOfPair(d, hn::IfThenElse(small, below, above), hn::IfThenElse(small, below_low, above_low));
  return hn::Mul(power, hn::IfThenElse(small, one, scale));
}

/// The sum of x^k / ((a + 1) ... (a + k)) from k = 0 on, in the lanes of a mask.
template <class D, class V, class M>
HWY_INLINE V GammaSeries(D d, V a, V x, M wanted, double precision) {
  const V one = Constant(d, 1.0), limit = Constant(d, precision);
  V sum = one, term = one, k = a;
  for (int i = 0; i < most_terms && !hn::AllFalse(d, wanted); ++i) {
    k = hn::Add(k, one);
    term = hn::Mul(term, hn::Div(x, k));
    sum = hn::IfThenElse(wanted, hn::Add(sum, term), sum);
    wanted = hn::And(wanted, hn::Gt(term, hn::Mul(sum, limit)));
  }
  return sum;
}

/// gamma(a, x) x^-a e^x by Legendre's fraction (DLMF 8.9.2). Lentz's method counts the terms of each lane. Then the
/// fraction is evaluated from its end, where rounding errors do not add up.
template <class D, class V, class M>
HWY_INLINE V GammaFraction(D d, V a, V x, M wanted, double precision) {
  const V one = Constant(d, 1.0), two = Constant(d, 2.0), limit = Constant(d, precision);
  const V first = hn::Add(hn::Sub(x, a), one);
  V b = first, c = Constant(d, 1e300), e = hn::Div(one, b), n = hn::Zero(d), count = n;
  int most = 0;
  for (; most < most_terms && !hn::AllFalse(d, wanted); ++most) {
    n = hn::Add(n, one);
    count = hn::IfThenElse(wanted, n, count);
    const V numerator = hn::Mul(n, hn::Sub(a, n));
    b = hn::Add(b, two);
    e = hn::Div(one, hn::MulAdd(numerator, e, b));
    c = hn::Add(b, hn::Div(numerator, c));
    wanted = hn::And(wanted, hn::Gt(hn::Abs(hn::Sub(hn::Mul(c, e), one)), limit));
  }
  // The rest after the last term that counts is a few of such terms: half as many more take it in.
  count = FloorOf(d, hn::MulAdd(count, Constant(d, 1.5), two));
  V f = hn::MulAdd(count, two, first);
  for (int i = most + most / 2 + 2; i > 0; --i) {
    const V k = Constant(d, i);
    const V numerator = hn::Mul(k, hn::Sub(a, k));
    const V next = hn::Add(hn::Add(first, Constant(d, 2.0 * i - 2)), hn::Div(numerator, f));
    f = hn::IfThenElse(hn::Le(k, count), next, f);
  }
  return hn::Div(one, f);
}

/// 1 - x^a / gamma(1 + a) (1 + a sum of (-x)^k / ((a + k) k!)), which keeps its digits for small a and x.
template <class D, class V>
HWY_INLINE V UpperNearZero(D d, V a, V x) {
  const V one = Constant(d, 1.0);
  const V power =
      Expm1(d, hn::NegMulAdd(hn::Mul(hn::Sub(a, one), a),
                             Polynomial(d, hn::Sub(a, one), special_constants::lgamma_near), hn::Mul(a, Log(d, x))));
  V sum = hn::Zero(d), term = one;
  for (int k = 1; k <= 20; ++k) {
    term = hn::Mul(term, hn::Mul(x, Constant(d, -1.0 / k)));
    sum = hn::Add(sum, hn::Div(term, hn::Add(a, Constant(d, k))));
  }
  return hn::Neg(hn::MulAdd(hn::Mul(hn::Add(power, one), a), sum, power));
}

/// The regularized incomplete gamma functions: P, or Q = 1 - P where Upper.
template <bool Upper>
struct gammainc_in_double {
  double precision;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V x) const {
    const V zero = hn::Zero(d), one = Constant(d, 1.0), infinity = Infinity(d);
    const auto inside =
        hn::And(hn::And(hn::Gt(a, zero), hn::Gt(x, zero)), hn::And(hn::Lt(a, infinity), hn::Lt(x, infinity)));
    const auto large = hn::Ge(a, one);
    // The upper function takes the fraction up to x = a, so that 1 - P never cancels much.
    const V start = Upper ? a : hn::Add(a, hn::IfThenElseZero(large, one));
    const auto by_fraction = hn::And(inside, hn::And(hn::Ge(x, one), hn::Gt(x, start)));
    const auto by_series = hn::AndNot(by_fraction, inside);
    const V prefix = GammaPrefix(d, a, x);
    const V lower = hn::Mul(prefix, GammaSeries(d, a, x, by_series, precision));
    const V upper = hn::Mul(hn::Mul(prefix, a), GammaFraction(d, a, x, by_fraction, precision));
    V y;
    if constexpr (Upper) {
      y = hn::IfThenElse(by_fraction, upper, hn::Sub(one, lower));
      const auto near = hn::AndNot(large, hn::And(by_series, hn::Lt(x, one)));
      if (!hn::AllFalse(d, near)) y = hn::IfThenElse(near, UpperNearZero(d, a, x), y);
    } else {
      y = hn::IfThenElse(by_fraction, hn::Sub(one, upper), lower);
    }
    // At the ends: P(a, 0) = 0, P(a, infinity) = P(0, x) = 1, P(infinity, x) = 0.
    const auto none =
        hn::And(hn::Or(hn::Eq(x, zero), hn::Eq(a, infinity)), hn::And(hn::Gt(a, zero), hn::Lt(x, infinity)));
    const auto all =
        hn::And(hn::Or(hn::Eq(x, infinity), hn::Eq(a, zero)), hn::And(hn::Gt(x, zero), hn::Lt(a, infinity)));
    const auto defined = hn::And(hn::Ge(a, zero), hn::Ge(x, zero));
    const V ends = hn::IfThenElse(none, Upper ? one : zero, hn::IfThenElse(all, Upper ? zero : one, QuietNan(d)));
    return hn::IfThenElse(inside, y, hn::IfThenElse(defined, ends, QuietNan(d)));
  }
};

// Float results are right to half of 2^-24 when terms below 2^-34 are left out.
template <class D>
inline constexpr double term_precision = is_float32<D> ? 0x1p-34 : 0x1p-54;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Gammainc(D d, V a, V x) {
  const gammainc_in_double<false> f{term_precision<D>};
  if constexpr (is_float32<D>) return InDouble(d, a, x, f);
  else return f(d, a, x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Gammaincc(D d, V a, V x) {
  const gammainc_in_double<true> f{term_precision<D>};
  if constexpr (is_float32<D>) return InDouble(d, a, x, f);
  else return f(d, a, x);
}

// The fraction of the incomplete beta function in the form of Didonato and Morris (1992):
// alpha_1 / (beta_1 + alpha_2 / (beta_2 + ...)). `slope` is p - (p + q) y, which cancels near the mean.

/// alpha number n + 1 for n >= 1.
template <class D, class V>
HWY_INLINE V BetaNumerator(D d, V p, V q, V y, V n) {
  // p is added last: it may be tiny.
  const V before = hn::Sub(n, Constant(d, 1.0)), last = hn::Add(before, p);
  const V below = hn::Div(y, hn::Add(hn::Add(n, before), p));
  return hn::Mul(hn::Mul(hn::Mul(last, hn::Add(last, q)), hn::Mul(n, hn::Sub(q, n))), hn::Mul(below, below));
}
/// beta number n + 1 for n >= 0.
template <class D, class V>
HWY_INLINE V BetaDenominator(D d, V p, V q, V y, V slope, V n) {
  const V one = Constant(d, 1.0), twice = hn::Add(hn::Add(n, n), p);
  const V below = hn::IfThenElse(hn::Eq(n, hn::Zero(d)), one, hn::Add(hn::Sub(hn::Add(n, n), one), p));
  const V head = hn::MulAdd(n, hn::Div(hn::Mul(hn::Sub(q, n), y), below), n);
  const V tail = hn::Add(hn::MulAdd(n, hn::Sub(Constant(d, 2.0), y), one), slope);
  return hn::Add(head, hn::Mul(hn::Div(hn::Add(p, n), hn::Add(twice, one)), tail));
}

/// The fraction, counted and evaluated as GammaFraction.
template <class D, class V, class M>
HWY_INLINE V BetaFraction(D d, V p, V q, V y, V slope, M wanted, double precision) {
  const V one = Constant(d, 1.0), limit = Constant(d, precision), tiny = Constant(d, 1e-300);
  const auto not_zero = [&](V v) HWY_ATTR { return hn::IfThenElse(hn::Eq(v, hn::Zero(d)), tiny, v); };
  V c = Constant(d, 1e300), n = hn::Zero(d), count = n;
  V e = hn::Div(one, not_zero(BetaDenominator(d, p, q, y, slope, n)));
  int most = 0;
  for (; most < most_terms && !hn::AllFalse(d, wanted); ++most) {
    n = hn::Add(n, one);
    count = hn::IfThenElse(wanted, n, count);
    const V numerator = BetaNumerator(d, p, q, y, n), denominator = BetaDenominator(d, p, q, y, slope, n);
    e = hn::Div(one, not_zero(hn::MulAdd(numerator, e, denominator)));
    c = not_zero(hn::Add(denominator, hn::Div(numerator, c)));
    wanted = hn::And(wanted, hn::Gt(hn::Abs(hn::Sub(hn::Mul(c, e), one)), limit));
  }
  count = FloorOf(d, hn::MulAdd(count, Constant(d, 1.5), Constant(d, 2.0)));
  V f = BetaDenominator(d, p, q, y, slope, count);
  for (int i = most + most / 2 + 2; i > 0; --i) {
    const V k = Constant(d, i);
    const V quotient = hn::Div(BetaNumerator(d, p, q, y, k), not_zero(f));
    const V next = hn::Add(BetaDenominator(d, p, q, y, slope, hn::Sub(k, one)), quotient);
    f = hn::IfThenElse(hn::Le(k, count), next, f);
  }
  return hn::Div(one, f);
}

/// The regularized incomplete beta function of a, b > 0 and x from 0 to 1.
struct betainc_in_double {
  double precision;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V x) const {
    const V zero = hn::Zero(d), one = Constant(d, 1.0), infinity = Infinity(d);
    const auto positive =
        hn::And(hn::And(hn::Gt(a, zero), hn::Lt(a, infinity)), hn::And(hn::Gt(b, zero), hn::Lt(b, infinity)));
    const auto inside = hn::And(positive, hn::And(hn::Gt(x, zero), hn::Lt(x, one)));
    V rest, log_rest;
    const V other = FastTwoSum(one, hn::Neg(x), rest);
    const V log_x = LogPair(d, x, log_rest);
    V log = zero, low = zero, beta_log, beta_low;
    AddProduct(d, a, log_x, log_rest, log, low);
    const V log_other = LogPair(d, other, log_rest);
    AddProduct(d, b, log_other, hn::Add(log_rest, hn::Div(rest, other)), log, low);
    const V factor = BetaFactor(d, a, b, beta_log, beta_low);
    AddPair(hn::Neg(beta_log), hn::Neg(beta_low), log, low);
    const V prefix = hn::Div(ExpOfPair(d, log, low), factor);
    // The fraction converges fast on one side of the mean. If the other side's result is most of 1, its complement
    // has lost digits: the slow fraction keeps them. Near x = 1 it takes about 1 / sqrt(1 - x) terms for each digit,
    // and b is below 0.1 where the complement is most of 1.
    const V mean = hn::Div(hn::Add(a, one), hn::Add(hn::Add(a, b), Constant(d, 2.0)));
    const auto swapped = hn::And(inside, hn::Gt(x, mean));
    // a (1 - x) - b x, rounded once.
    V a_rest, b_rest, slope_rest;
    const V above = TwoProduct(d, a, other, a_rest), below = TwoProduct(d, b, x, b_rest);
    V slope = TwoSum(above, hn::Neg(below), slope_rest);
    slope = hn::Add(slope, hn::Add(slope_rest, hn::MulAdd(a, rest, hn::Sub(a_rest, b_rest))));
    const auto part = [&](V p, V q, V y, V falls, auto wanted)
                          HWY_ATTR { return hn::Mul(prefix, BetaFraction(d, p, q, y, falls, wanted, precision)); };
    V result = zero;
    auto direct = hn::AndNot(swapped, inside);
    if (!hn::AllFalse(d, swapped)) {
      const V upper = part(b, a, other, hn::Neg(slope), swapped);
      const auto converges = hn::Gt(other, Constant(d, 0x1p-12));
      direct = hn::Or(direct, hn::And(hn::And(swapped, converges), hn::Gt(upper, Constant(d, 0.6))));
      result = hn::Sub(one, upper);
    }
    if (!hn::AllFalse(d, direct)) result = hn::IfThenElse(direct, part(a, b, x, slope, direct), result);
    const auto end = hn::And(positive, hn::Or(hn::Eq(x, zero), hn::Eq(x, one)));
    return hn::IfThenElse(inside, result, hn::IfThenElse(end, x, QuietNan(d)));
  }
};

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KERNGRAD_KERNELS_SPECIAL_INCOMPLETE_INL_H_
