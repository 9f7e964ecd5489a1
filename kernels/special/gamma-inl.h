// SPDX-License-Identifier: Apache-2.0
// The gamma function's family on vectors of doubles. Bounds: kernels/special/accuracy.h.
#if defined(KERNGRAD_KERNELS_SPECIAL_GAMMA_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_SPECIAL_GAMMA_INL_H_
#undef KERNGRAD_KERNELS_SPECIAL_GAMMA_INL_H_
#else
#define KERNGRAD_KERNELS_SPECIAL_GAMMA_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/math-inl.h"
#include "kernels/special/constants.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

inline constexpr double pi = 3.14159265358979323846;

/// The rest of Stirling's formula: lgamma(z) - (z - 1/2) log z + z - log(2 pi) / 2 for z >= 3.
template <class D, class V>
HWY_INLINE V StirlingRest(D d, V z) {
  const V inverse = hn::Div(Constant(d, 1.0), z);
  const V v = hn::MulAdd(hn::Mul(inverse, inverse), Constant(d, 18.0), Constant(d, -1.0));
  return hn::Mul(Polynomial(d, v, special_constants::lgamma_far), inverse);
}

/// lgamma(2 + t) for |t| <= 1, where `next` is t + 1.
template <class D, class V>
HWY_INLINE V LgammaNearTwo(D d, V t, V next) {
  // The zero at 1 is +0: t is -1 there.
  return hn::Add(hn::Mul(hn::Mul(t, next), Polynomial(d, t, special_constants::lgamma_near)), hn::Zero(d));
}

/// lgamma(z) for z >= 3, where log_z is log z. Both factors of the first product are small near z = e, where their
/// difference would cancel.
template <class D, class V>
HWY_INLINE V LgammaFar(D d, V z, V log_z) {
  const V rest = hn::Add(Constant(d, 0.4189385332046727), StirlingRest(d, z));
  return hn::MulAdd(hn::Sub(z, Constant(d, 0.5)), hn::Sub(log_z, Constant(d, 1.0)), rest);
}

/// z less the nearest integer, exactly. Large z have none.
template <class D, class V>
HWY_INLINE V Fraction(D d, V z) {
  return hn::Sub(z, Round(d, z));
}

struct lgamma_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V one = Constant(d, 1.0), two = Constant(d, 2.0);
    const V a = hn::Abs(x);
    const auto below = hn::Lt(a, one), near = hn::Lt(a, Constant(d, 3.0));
    // Below 1 this is lgamma(1 + a), which has no logarithm.
    const V t = hn::Sub(a, hn::IfThenElse(below, one, two));
    const V series = LgammaNearTwo(d, t, hn::IfThenElse(below, a, hn::Sub(a, one)));
    const V log_a = Log(d, a);
    V y = hn::IfThenElse(below, hn::Sub(series, log_a), series);
    if (!hn::AllTrue(d, near)) y = hn::IfThenElse(near, y, LgammaFar(d, a, log_a));
    const auto negative = hn::Lt(x, hn::Zero(d));
    if (HWY_LIKELY(hn::AllFalse(d, negative))) return y;
    // The reflection lgamma(-a) = log(pi / (a |sin(pi a)|)) - lgamma(a), below 1 with lgamma(1 + a).
    const V sine = hn::Abs(Sin(d, hn::Mul(Fraction(d, a), Constant(d, pi))));
    const V scale = hn::Mul(hn::Mul(sine, Constant(d, 1 / pi)), hn::IfThenElse(below, one, a));
    const V reflected = hn::Neg(hn::Add(Log(d, scale), hn::IfThenElse(below, series, y)));
    return hn::IfThenElse(hn::And(negative, hn::Lt(a, Infinity(d))), reflected, y);
  }
};

/// The logarithm of |gamma(x)|; infinite at 0 and at negative integers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Lgamma(D d, V x) {
  return AsDouble(d, x, lgamma_in_double());
}

struct digamma_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    // 2 less the positive zero of digamma, in two parts.
    constexpr double zero_high = 0.5383678550316376, zero_low = 1.5522348162858677e-17;
    const V one = Constant(d, 1.0), zero = hn::Zero(d);
    const V a = hn::Abs(x), inverse = hn::Div(one, a);
    const auto below = hn::Lt(a, one), near = hn::Lt(a, Constant(d, 3.0));
    const V t = hn::Sub(a, hn::IfThenElse(below, one, Constant(d, 2.0)));
    const V from_zero = hn::Add(hn::Add(t, Constant(d, zero_high)), Constant(d, zero_low));
    const V series = hn::Mul(from_zero, Polynomial(d, t, special_constants::digamma_near));
    V y = hn::IfThenElse(below, hn::Sub(series, inverse), series);
    if (!hn::AllTrue(d, near)) {
      const V v = hn::MulAdd(hn::Mul(inverse, inverse), Constant(d, 18.0), Constant(d, -1.0));
      const V rest = hn::MulAdd(Polynomial(d, v, special_constants::digamma_far), inverse, Constant(d, 0.5));
      y = hn::IfThenElse(near, y, hn::NegMulAdd(rest, inverse, Log(d, a)));
    }
    y = hn::IfThenElse(hn::Eq(a, zero), hn::CopySign(Infinity(d), hn::Neg(x)), y);
    const auto negative = hn::Lt(x, zero);
    if (HWY_LIKELY(hn::AllFalse(d, negative))) return y;
    // The reflection psi(-a) = psi(1 + a) + pi cot(pi a); psi(1 + a) = psi(a) + 1 / a.
    const V r = Fraction(d, a);
    const V slope = hn::Div(Constant(d, pi), Tan(d, hn::Mul(r, Constant(d, pi))));
    const V reflected = hn::Add(hn::IfThenElse(below, series, hn::Add(y, inverse)), slope);
    const V negative_y = hn::IfThenElse(hn::Eq(r, zero), QuietNan(d), reflected);
    return hn::IfThenElse(negative, negative_y, y);
  }
};

/// The derivative of lgamma; NaN at negative integers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Digamma(D d, V x) {
  return AsDouble(d, x, digamma_in_double());
}

/// Derivative number n >= 1 of digamma, from Euler and Maclaurin's sum for Hurwitz's zeta (DLMF 25.11.28).
struct polygamma_in_double {
  static constexpr int terms = 11;
  static constexpr int most = 100;  ///< of n: larger factorials leave float64
  int n;
  double scale;                // (-1)^(n + 1) n!
  double far;                  // from here on the sum needs no more terms in front
  double tail[terms];          // B_2j (s)_(2j-1) / (2j)! with s = n + 1
  double cotangent[most + 2];  // the n-th derivative of cot(x) as a polynomial in cot(x)

  explicit polygamma_in_double(int order)
      : n(order), scale(order % 2 == 1 ? 1 : -1), far(10.0 + order), tail{}, cotangent{} {
    constexpr double bernoulli[terms] = {1.0 / 6,       -1.0 / 30,       1.0 / 42,      -1.0 / 30,
                                         5.0 / 66,      -691.0 / 2730,   7.0 / 6,       -3617.0 / 510,
                                         43867.0 / 798, -174611.0 / 330, 854513.0 / 138};
    for (int i = 2; i <= n; ++i) scale *= i;
    const double s = n + 1;
    double rising = s / 2;  // (s)_(2j-1) / (2j)!
    for (int j = 0; j < terms; ++j) {
      tail[j] = bernoulli[j] * rising;
      rising *= (s + 2 * j + 1) * (s + 2 * j + 2) / ((2 * j + 3) * (2 * j + 4));
    }
    cotangent[1] = 1;
    for (int k = 0; k < n; ++k) {  // p becomes -(1 + c^2) p'
      double next[most + 2] = {};
      for (int i = 1; i <= k + 1; ++i) {
        next[i - 1] -= i * cotangent[i];
        next[i + 1] -= i * cotangent[i];
      }
      for (int i = 0; i <= n + 1; ++i) cotangent[i] = next[i];
    }
  }

  /// z^-m by products.
  template <class D, class V>
  static HWY_INLINE V Power(D d, V z, int m) {
    const V one = Constant(d, 1.0);
    V power = one, square = z;
    for (int rest = m; rest > 0; rest >>= 1) {
      if (rest & 1) power = hn::Mul(power, square);
      if (rest > 1) square = hn::Mul(square, square);
    }
    return hn::Div(one, power);
  }

  /// n! (-1)^(n + 1) zeta(n + 1, z) for z > 0.
  template <class D, class V>
  HWY_INLINE V Positive(D d, V z) const {
    const V one = Constant(d, 1.0), limit = Constant(d, far);
    V sum = hn::Zero(d);
    for (;;) {
      const auto small = hn::Lt(z, limit);
      if (hn::AllFalse(d, small)) break;
      sum = hn::Add(sum, hn::IfThenElseZero(small, Power(d, z, n + 1)));
      z = hn::Add(z, hn::IfThenElseZero(small, one));
    }
    const V inverse = hn::Div(one, z);
    V rest = Polynomial(d, hn::Mul(inverse, inverse), tail);
    rest = hn::MulAdd(rest, inverse, hn::MulAdd(z, Constant(d, 1.0 / n), Constant(d, 0.5)));
    // Two powers, because z^n overflows where n! / z^n does not vanish. Infinite z have the limit 0.
    const V first = Power(d, z, n / 2), second = Power(d, z, n - n / 2);
    rest = hn::Mul(hn::Mul(hn::Mul(hn::Mul(rest, inverse), Constant(d, scale)), first), second);
    return hn::MulAdd(sum, Constant(d, scale), hn::IfThenZeroElse(hn::Eq(second, hn::Zero(d)), rest));
  }

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V zero = hn::Zero(d);
    const auto negative = hn::Lt(x, zero);
    const V z = hn::IfThenElse(negative, hn::Sub(Constant(d, 1.0), x), x);
    const V y = Positive(d, hn::Abs(z));
    if (HWY_LIKELY(hn::AllFalse(d, negative))) return y;
    // The reflection: psi_n(x) = (-1)^n psi_n(1 - x) - pi^(n + 1) cot^(n)(pi x).
    const V r = Fraction(d, x);
    const V c = hn::Div(Constant(d, 1.0), Tan(d, hn::Mul(r, Constant(d, pi))));
    V p = Constant(d, cotangent[n + 1]);
    for (int i = n; i >= 0; --i) p = hn::MulAdd(p, c, Constant(d, cotangent[i]));
    const V side = n % 2 == 0 ? y : hn::Neg(y);
    const V reflected = hn::NegMulAdd(p, Constant(d, std::pow(pi, n + 1)), side);
    const V pole = n % 2 == 0 ? QuietNan(d) : Infinity(d);
    return hn::IfThenElse(negative, hn::IfThenElse(hn::Eq(r, zero), pole, reflected), y);
  }
};

// Logarithms in two parts, high and low. They are references, because vectors of SVE cannot be members.

/// log(a / c) for c and its rest, right to about 2^-63 of itself.
template <class D, class V>
HWY_INLINE V LogOfQuotient(D d, V a, V c, V c_rest, V& low) {
  V error, log_rest;
  const V q = hn::Div(a, c);
  const V back = TwoProduct(d, q, c, error);
  const V remainder = hn::NegMulAdd(q, c_rest, hn::Sub(hn::Sub(a, back), error));
  const V log = LogPair(d, q, log_rest);
  low = hn::Add(log_rest, hn::Div(remainder, a));
  return log;
}

/// Adds the product of a with a pair to the pair of the sum.
template <class D, class V>
HWY_INLINE void AddProduct(D d, V a, V high, V low, V& sum, V& sum_low) {
  V product_rest, rest;
  const V product = TwoProduct(d, a, high, product_rest);
  sum = TwoSum(sum, product, rest);
  sum_low = hn::Add(sum_low, hn::Add(rest, hn::MulAdd(a, low, product_rest)));
}
/// Adds a pair.
template <class V>
HWY_INLINE void AddPair(V high, V low, V& sum, V& sum_low) {
  V rest;
  sum = TwoSum(sum, high, rest);
  sum_low = hn::Add(sum_low, hn::Add(rest, low));
}
/// e to the power of a pair.
template <class D, class V>
HWY_INLINE V ExpOfPair(D d, V high, V low) {
  V rest;
  const V sum = FastTwoSum(high, low, rest);
  return BiasedExp(d, sum, rest, 0.0);
}

/// The beta function as e^(log + low) times the result. Arguments below 3 are moved up by 3, which the factor takes
/// back.
template <class D, class V>
HWY_INLINE V BetaFactor(D d, V a, V b, V& log, V& low) {
  const V one = Constant(d, 1.0), two = Constant(d, 2.0), three = Constant(d, 3.0), half = Constant(d, 0.5);
  const auto small_a = hn::Lt(a, three), small_b = hn::Lt(b, three);
  V p_rest, q_rest, c_rest, p_low, q_low;
  const V p = TwoSum(a, hn::IfThenElseZero(small_a, three), p_rest);
  const V q = TwoSum(b, hn::IfThenElseZero(small_b, three), q_rest);
  const V c = TwoSum(p, q, c_rest);
  const V log_p = LogOfQuotient(d, p, c, c_rest, p_low), log_q = LogOfQuotient(d, q, c, c_rest, q_low);
  log = low = hn::Zero(d);
  AddProduct(d, hn::Sub(p, half), log_p, p_low, log, low);
  AddProduct(d, hn::Sub(q, half), log_q, q_low, log, low);
  // The rounding errors of p and q times the derivatives, about: digamma's differences.
  const V half_c = hn::Div(half, c);
  const V p_slope = hn::Add(log_p, hn::Sub(half_c, hn::Div(half, p)));
  const V q_slope = hn::Add(log_q, hn::Sub(half_c, hn::Div(half, q)));
  low = hn::Add(low, hn::MulAdd(p_rest, p_slope, hn::Mul(q_rest, q_slope)));
  low = hn::Add(low, hn::Sub(hn::Add(StirlingRest(d, p), StirlingRest(d, q)), StirlingRest(d, c)));
  // gamma(z) = gamma(z + 3) / (z (z + 1) (z + 2)), and the same for the sum, three or six times.
  const auto rising = [&](V z) HWY_ATTR { return hn::Mul(z, hn::MulAdd(z, hn::Add(z, three), two)); };
  const V sum = hn::Add(a, b), later = hn::Add(sum, three);
  V factor = hn::Sqrt(hn::Div(Constant(d, 2 * pi), c));
  factor = hn::Mul(factor, hn::IfThenElse(hn::Or(small_a, small_b), rising(sum), one));
  factor = hn::Div(factor, hn::IfThenElse(small_a, rising(a), one));
  factor = hn::Div(factor, hn::IfThenElse(small_b, rising(b), one));
  return hn::Mul(factor, hn::IfThenElse(hn::And(small_a, small_b), rising(later), one));
}

struct beta_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V zero = hn::Zero(d), infinity = Infinity(d);
    V log, low;
    const V factor = BetaFactor(d, a, b, log, low);
    V y = hn::Mul(ExpOfPair(d, log, low), factor);
    const auto vanishing = hn::Or(hn::Eq(a, zero), hn::Eq(b, zero));
    const auto endless = hn::Or(hn::Eq(a, infinity), hn::Eq(b, infinity));
    y = hn::IfThenElse(vanishing, infinity, hn::IfThenElse(endless, zero, y));
    const auto outside = hn::Or(hn::Or(hn::Lt(a, zero), hn::Lt(b, zero)), hn::And(vanishing, endless));
    y = hn::IfThenElse(outside, QuietNan(d), y);
    return hn::IfThenElse(hn::And(hn::Eq(a, a), hn::Eq(b, b)), y, QuietNan(d));
  }
};

/// gamma(a) gamma(b) / gamma(a + b) for operands from 0 on.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Beta(D d, V a, V b) {
  if constexpr (is_float32<D>) return InDouble(d, a, b, beta_in_double());
  else return beta_in_double()(d, a, b);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KERNGRAD_KERNELS_SPECIAL_GAMMA_INL_H_
