// SPDX-License-Identifier: Apache-2.0
// Error function, Gelu, powers, inverse square root and rounding. Bounds: kernels/common/accuracy.h.
#if defined(KG_MATH_SPECIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_SPECIAL_INL_H_
#undef KG_MATH_SPECIAL_INL_H_
#else
#define KG_MATH_SPECIAL_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/common-inl.h"
#include "kernels/math/exp-inl.h"
#include "kernels/math/log-inl.h"
#include "kernels/math/tables-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// small: erf(x) / x - 1 in x^2, errors 2^-31 for |x| <= 0.93 and 2^-62 for |x| <= 1.
// tail, float: log(erfc(a)) / a in a on [0.92, 4], relative error 2^-25.
// tail, double: (1 + 2 a) e^(a^2) erfc(a) in (a - 4) / (a + 4) on [0, 28], error 2^-61.
template <class T>
struct erf_constants;
template <>
struct erf_constants<float> {
  static constexpr float small[] = {0.128379166f,   -0.376126349f,    0.112836912f,   -0.0268591177f,
                                    0.00520028686f, -0.000813379069f, 8.33086742e-05f};
  static constexpr float tail[] = {-1.12873423f,    -0.634838641f,   -0.106669024f,    0.024020303f,   -0.00366869732f,
                                   0.000276244828f, 1.27936819e-05f, -4.49995514e-06f, 2.77485299e-07f};
};
template <>
struct erf_constants<double> {
  static constexpr double small[] = {0.1283791670955126,     -0.3761263890318375,     0.11283791670954876,
                                     -0.02686617064507627,   0.005223977624812638,    -0.0008548326980509413,
                                     0.00012055331099279798, -1.4925594957596026e-05, 1.6460995338195405e-06,
                                     -1.635025627869642e-07, 1.4659383821339586e-08,  -1.1371291831046202e-09,
                                     5.954471583150687e-11};
  static constexpr double tail[] = {
      1.2329951186255526,      -0.13962111684056253,    0.015379652102620111,    0.06809705425469303,
      -0.10103906603632955,    0.09373283499833329,     -0.06633036581154421,    0.03716751553787908,
      -0.016197734067039865,   0.005031969972225688,    -0.0007577732147971718,  -0.00019925664291065565,
      0.00015062131217624512,  -2.4399505458525544e-05, -1.1220902504340601e-05, 5.710769473216913e-06,
      2.916445562939141e-07,   -8.277591913537945e-07,  7.703495881102781e-08,   1.1328048304274549e-07,
      -1.9106294487779176e-08, -1.660879467182853e-08,  1.6868082625932292e-09,  2.1031095817570338e-09,
      2.9111659955327447e-10};
};
inline constexpr double erfc_bias = 128;

/// 2^erfc_bias erfc(a) for 0 <= a <= 28, where a^2 = square + square_rest (double lanes).
template <class D, class V>
HWY_INLINE V BiasedErfc(D d, V a, V square, V square_rest) {
  const V four = Constant(d, 4.0);
  const V t = hn::Div(hn::Sub(a, four), hn::Add(a, four));
  const V p = Polynomial(d, t, erf_constants<double>::tail);
  const V e = BiasedExp(d, hn::Neg(square), hn::Neg(square_rest), erfc_bias);
  return hn::Mul(hn::Div(p, hn::MulAdd(a, Constant(d, 2.0), Constant(d, 1.0))), e);
}

/// erf(x) for |x| <= 1.
template <class D, class V>
HWY_INLINE V SmallErf(D d, V x) {
  return hn::MulAdd(x, Polynomial(d, hn::Mul(x, x), erf_constants<hn::TFromD<D>>::small), x);
}

struct erfc_in_double {
  /// Near 0 as 1 - erf(x), which loses less.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V a = Limit(d, hn::Abs(x), 0.0, 28.0);
    V rest;
    const V square = TwoProduct(d, a, a, rest);
    const V y = hn::Mul(BiasedErfc(d, a, square, rest), Constant(d, 0x1p-128));
    const V far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(Constant(d, 2.0), y), y);
    return hn::IfThenElse(hn::Lt(a, Constant(d, 0.5)), hn::Sub(Constant(d, 1.0), SmallErf(d, x)), far);
  }
};

// a e^(a^2 / 2) erfc(a / sqrt(2)) / 2 in (a - centre) / (a + centre), float: for 0.49 <= a <= 14.5, relative error
// 2^-28; double: for 0.74 <= a <= 39.6, relative error 2^-53. Below `near` the way through erf loses less.
template <class T>
struct gelu_constants;
template <>
struct gelu_constants<float> {
  static constexpr float tail[] = {0.353328317f,    0.136482269f,    -0.150852397f,   0.0706128478f,
                                   -0.00357620954f, -0.00900325365f, 0.000463836768f, 0.00162925746f,
                                   0.000187712925f, -0.00025642637f, -8.39451823e-05f};
  static constexpr double centre = 2.5, near = 0.9, farthest = 15.0;
};
template <>
struct gelu_constants<double> {
  static constexpr double tail[] = {
      0.37220803771796906,     0.08942712969107965,    -0.1250684230829097,    0.09968702058692598,
      -0.04932154805627338,    0.011942025761472432,   0.001643558943080355,   -0.0018170570105817817,
      1.582197110052327e-05,   0.00027184531209712456, -4.274850436762175e-06, -4.718792615492871e-05,
      -3.6454590074872287e-06, 8.585075807329637e-06,  2.2568224278391317e-06, -1.3409088419869017e-06,
      -8.360131825764637e-07,  1.1357690835615328e-07, 2.3411696161426217e-07, 2.6659476841526947e-09,
      -4.300763840775424e-08,  4.468416424283632e-09};
  static constexpr double centre = 3.5, near = 0.75, farthest = 39.6;
};

/// -a^2 / 2 in two parts. A float is cut, so that the square of its larger part is exact.
template <class D, class V>
HWY_INLINE V HalfSquare(D d, V a, V& rest) {
  const V half = Constant(d, 0.5);
  if constexpr (is_float32<D>) {
    const hn::RebindToUnsigned<D> du;
    const V high = hn::And(a, hn::BitCast(d, hn::Set(du, 0xfffff000U)));
    rest = hn::Mul(hn::Mul(half, hn::Sub(high, a)), hn::Add(high, a));
    return hn::Mul(hn::Neg(half), hn::Mul(high, high));
  } else {
    const V square = TwoProduct(d, a, a, rest);
    rest = hn::Mul(hn::Neg(half), rest);
    return hn::Mul(hn::Neg(half), square);
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erf(D d, V x) {
  if constexpr (has_tables<D>) return ErfByTable(d, x);
  using constants = erf_constants<hn::TFromD<D>>;
  const V one = Constant(d, 1.0);
  const V a = hn::Abs(x);
  const V small = SmallErf(d, a);
  if constexpr (is_float32<D>) {
    const V limited = Limit(d, a, 0.0, 4.0);
    const V large = hn::Sub(one, Exp(d, hn::Mul(limited, Polynomial(d, limited, constants::tail))));
    return hn::CopySign(hn::IfThenElse(hn::Lt(a, Constant(d, 0.927734375)), small, large), x);
  } else {
    const V limited = Limit(d, a, 0.0, 6.0);
    const V biased = BiasedErfc(d, limited, hn::Mul(limited, limited), hn::Zero(d));
    const V large = hn::NegMulAdd(biased, Constant(d, 0x1p-128), one);
    return hn::CopySign(hn::IfThenElse(hn::Lt(a, one), small, large), x);
  }
}

/// 1 - erf(x) without cancellation.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erfc(D d, V x) {
  return AsDouble(d, x, erfc_in_double());
}

/// x (1 + erf(x / sqrt(2))) / 2 as max(x, 0) - |x| erfc(|x| / sqrt(2)) / 2, near 0 through erf; at -infinity the limit
/// -0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Gelu(D d, V x) {
  using T = hn::TFromD<D>;
  using constants = gelu_constants<T>;
  const V half = Constant(d, 0.5), centre = Constant(d, constants::centre);
  const V a = Limit(d, hn::Abs(x), 0.0, constants::farthest);
  V rest;
  const V square = HalfSquare(d, a, rest);
  const V t = hn::Div(hn::Sub(a, centre), hn::Add(a, centre));
  const V e = BiasedExp(d, square, rest, exp_constants<T>::bias);
  const V down = PowerOfTwo(d, Constant(d, -exp_constants<T>::bias));
  const V tail = hn::Mul(hn::Mul(Polynomial(d, t, constants::tail), e), down);
  const V far = hn::Sub(hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x), tail);
  const V near = hn::MulAdd(half, SmallErf(d, hn::Mul(x, Constant(d, 0.70710678118654752440))), half);
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, Constant(d, constants::near)), hn::Mul(x, near), far), x);
}

struct rsqrt_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Div(Constant(d, 1.0), hn::Sqrt(x));
  }
};

/// y = 1 / sqrt(x), corrected by half of 1 - x y^2, which the exact parts of the products give. Zeros and infinities
/// have none, nor have without FMA the doubles from 2^997 on, which the splitting overflows.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Rsqrt(D d, V x) {
  if constexpr (is_float32<D> && !HWY_NATIVE_FMA) return InDouble(d, x, rsqrt_in_double());
  const V y = rsqrt_in_double()(d, x);
  V root_rest, square_rest;
  const V root = TwoProduct(d, x, y, root_rest);
  const V square = TwoProduct(d, root, y, square_rest);
  const V residual = hn::NegMulAdd(root_rest, y, hn::Sub(hn::Sub(Constant(d, 1.0), square), square_rest));
  const V corrected = hn::MulAdd(hn::Mul(Constant(d, 0.5), y), residual, y);
  return hn::IfThenElse(hn::Eq(residual, residual), corrected, y);
}

/// To the nearest integer, ties to even; keeps the sign of zero. (hn::Round of EMU128 does neither.)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Round(D d, V x) {
  const V integers = hn::Set(d, format_of<D>::integers);
  const V a = hn::Abs(x);
  const V rounded = hn::CopySign(hn::Sub(hn::Add(a, integers), integers), x);
  return hn::IfThenElse(hn::Lt(a, integers), rounded, x);
}

// (atanh(s) / s - 1 - s^2 / 3) / s^4 in s^2 up to 0.0295, error 2^-67; 1 / 3 and ln 2 each in two parts.
struct pow_constants {
  static constexpr double p[] = {0.2,
                                 0.14285714285714282,
                                 0.11111111111114222,
                                 0.09090909089826257,
                                 0.07692307880906311,
                                 0.06666648241986253,
                                 0.058834076517174025,
                                 0.05228139187610312,
                                 0.05381433714049944};
  static constexpr double third = 0.3333333333333333, third_rest = 1.8503717077085944e-17;
};

/// log(a) = result + rest for positive finite a, relative error 2^-63:
/// k ln 2 + 2 s (1 + s^2 / 3 + s^4 P(s^2)) with s = f / (2 + f), everything but P in pairs of doubles.
template <class D, class V>
HWY_INLINE V LogPair(D d, V a, V& log_rest) {
  using constants = log_constants<double>;
  const V two = Constant(d, 2.0);
  const auto denormal = hn::Lt(a, Constant(d, float_format<double>::min_normal));
  V k, t_rest, z_rest, third_rest, w_rest, product_rest, sum_rest, error;
  const V f = SplitExponent(d, hn::IfThenElse(denormal, hn::Mul(a, Constant(d, constants::up)), a), k);
  k = hn::Sub(k, hn::IfThenElseZero(denormal, Constant(d, constants::up_bits)));
  const V sum = FastTwoSum(two, f, sum_rest);
  const V s = hn::Div(f, sum);
  const V back = TwoProduct(d, s, sum, t_rest);
  const V remainder = hn::NegMulAdd(s, sum_rest, hn::Sub(hn::Sub(f, back), t_rest));
  const V s_rest = hn::Div(remainder, sum);
  const V z = TwoProduct(d, s, s, z_rest);
  z_rest = hn::MulAdd(hn::Add(s, s), s_rest, z_rest);
  const V third = TwoProduct(d, z, Constant(d, pow_constants::third), third_rest);
  third_rest = hn::MulAdd(z, Constant(d, pow_constants::third_rest), third_rest);
  third_rest = hn::MulAdd(z_rest, Constant(d, pow_constants::third), third_rest);
  const V p = hn::MulAdd(hn::Mul(z, z), Polynomial(d, z, pow_constants::p), third_rest);
  const V w = FastTwoSum(third, p, w_rest);
  const V s2 = hn::Add(s, s), s2_rest = hn::Add(s_rest, s_rest);
  const V product = TwoProduct(d, s2, w, product_rest);
  product_rest = hn::MulAdd(s2, w_rest, hn::MulAdd(s2_rest, w, product_rest));
  V log1 = FastTwoSum(s2, product, error);
  V rest = hn::Add(hn::Add(error, product_rest), s2_rest);
  log1 = FastTwoSum(hn::Mul(k, Constant(d, ln2<double>::high)), log1, error);
  rest = hn::Add(hn::MulAdd(k, Constant(d, ln2<double>::low), rest), error);
  return FastTwoSum(log1, rest, log_rest);
}

struct pow_of_pairs {
  /// a^b for a > 0 in double lanes: the product b log(a) in a pair; b beyond 2^65 overflows or underflows anyway.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    V log_rest, rest;
    const V log_a = LogPair(d, a, log_rest);
    const V exponent = Limit(d, b, -0x1p65, 0x1p65);
    const V product = TwoProduct(d, exponent, log_a, rest);
    rest = hn::MulAdd(exponent, log_rest, rest);
    rest = hn::IfThenElseZero(hn::Lt(hn::Abs(product), Constant(d, 1000.0)), rest);
    return BiasedExp(d, product, rest, 0.0);
  }
};

// Base-2 logarithm and exponential to 2^-34 and 2^-32. log: log2(1 + f) / s in s^2, s = f / (2 + f), for 1 + f in
// [sqrt(1/2), sqrt(2)]. exp: (2^r - 1) / r in r on |r| <= 1/2.
struct float_pow_constants {
  static constexpr double log[] = {2.885390081789987, 0.9617966734515485, 0.5770835660048659, 0.41167376623771057,
                                   0.3407120415619086};
  static constexpr double exp[] = {0.6931471805599453,    0.24022650922288757,  0.055504108839096185,
                                   0.009618056678524637,  0.001333350238616277, 0.0001546144469856913,
                                   1.5297323760701075e-05};
};

struct pow_of_floats {
  /// a^b for a > 0 from floats: b log2(a) is below 150 and right to 2^-26 where the result is finite and not zero.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
#if KG_AVX512
    return PowByTable(d, a, b);
#else
    V k;
    const V f = SplitExponent(d, a, k);
    const V s = hn::Div(f, hn::Add(f, Constant(d, 2.0)));
    const V log = hn::MulAdd(s, Polynomial(d, hn::Mul(s, s), float_pow_constants::log), k);
    const V t = Limit(d, hn::Mul(b, log), -200.0, 200.0);
    const V magic = hn::Set(d, format_of<D>::magic);
    const V whole = hn::Sub(hn::Add(t, magic), magic);
    const V r = hn::Sub(t, whole);
    const V y = hn::MulAdd(r, Polynomial(d, r, float_pow_constants::exp), Constant(d, 1.0));
    return hn::Mul(y, PowerOfTwo(d, whole));
#endif
  }
};

/// C's pow, all special cases: x^0 = 1^y = 1 even for NaN; x < 0 only with integral y, which gives the sign.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Pow(D d, V a, V b) {
  const V zero = hn::Zero(d), one = Constant(d, 1.0), infinity = Infinity(d);
  const V magnitude = hn::Abs(a);
  V y;
  if constexpr (is_float32<D>) {
    y = InDouble(d, magnitude, b, pow_of_floats());
  } else {
    y = pow_of_pairs()(d, magnitude, b);
  }
  const auto vanishing = hn::Eq(magnitude, zero), endless_base = hn::Eq(magnitude, infinity);
  const auto falling = hn::Lt(b, zero);
  y = hn::IfThenElse(endless_base, hn::IfThenElse(falling, zero, infinity), y);
  y = hn::IfThenElse(vanishing, hn::IfThenElse(falling, infinity, zero), y);
  // Odd integers are below 2^(mantissa bits + 1), where half of them is not an integer.
  const V half = hn::Mul(b, Constant(d, 0.5));
  const auto integral = hn::Eq(Round(d, b), b);
  const auto odd = hn::And(integral, hn::Ne(Round(d, half), half));
  y = hn::IfThenElse(odd, hn::CopySign(y, a), y);
  y = hn::IfThenElse(hn::AndNot(integral, hn::And(hn::Lt(a, zero), hn::Lt(magnitude, infinity))), QuietNan(d), y);
  y = hn::IfThenElse(hn::And(hn::Eq(a, a), hn::Eq(b, b)), y, QuietNan(d));
  // (-1)^inf = 1 as well.
  const auto endless = hn::And(hn::Eq(magnitude, one), hn::Eq(hn::Abs(b), infinity));
  return hn::IfThenElse(hn::Or(hn::Or(hn::Eq(b, zero), hn::Eq(a, one)), endless), one, y);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KG_MATH_SPECIAL_INL_H_
