// SPDX-License-Identifier: Apache-2.0
// Powers and logarithms of the bases 2 and 10, the cube root. Bounds: kernels/common/accuracy.h.
#if defined(KG_MATH_BASE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_BASE_INL_H_
#undef KG_MATH_BASE_INL_H_
#else
#define KG_MATH_BASE_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/common-inl.h"
#include "kernels/math/exp-inl.h"
#include "kernels/math/log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// (2^r - 1) / r on |r| <= 1/2, errors 2^-26 and 2^-54.
template <class T>
struct exp2_constants;
template <>
struct exp2_constants<float> {
  static constexpr float p[] = {0.693147182f,   0.240226507f,   0.0555035695f,
                                0.00961808302f, 0.00133908633f, 0.000154531634f};
  static constexpr double lowest = -240, highest = 190;
};
template <>
struct exp2_constants<double> {
  static constexpr double p[] = {0.6931471805599453,     0.24022650695910072,    0.055504108664821625,
                                 0.00961812910762848,    0.001333355814640647,   0.00015403530393370734,
                                 1.5252733841556773e-05, 1.3215486808705563e-06, 1.0178057087733941e-07,
                                 7.0548973041554995e-09, 4.4558179083360645e-10, 2.5729324177362305e-11};
  static constexpr double lowest = -2000, highest = 2000;
};

/// 2^k 2^r with integral k and |r| <= 1/2, which is exact.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp2(D d, V x) {
  using constants = exp2_constants<hn::TFromD<D>>;
  const V magic = hn::Set(d, format_of<D>::magic);
  x = Limit(d, x, constants::lowest, constants::highest);
  const V k = hn::Sub(hn::Add(x, magic), magic), r = hn::Sub(x, k);
  return Scale(d, hn::MulAdd(r, Polynomial(d, r, constants::p), Constant(d, 1.0)), k);
}

// log_b(2), whose product with an exponent is exact, and 1 / ln b; each in two parts.
template <class T>
struct base2_constants;
template <>
struct base2_constants<float> {
  static constexpr float unit = 1, unit_rest = 0, slope = 0x1.715476p+0f, slope_rest = 1.925963033500011e-08f;
};
template <>
struct base2_constants<double> {
  static constexpr double unit = 1, unit_rest = 0, slope = 0x1.71547652b82fep+0, slope_rest = 2.0355273740931033e-17;
};
template <class T>
struct base10_constants;
template <>
struct base10_constants<float> {
  static constexpr float unit = 0x1.344p-2f, unit_rest = 4.605038981195214e-06f;
  static constexpr float slope = 0x1.bcb7b2p-2f, slope_rest = -1.0103049952192578e-08f;
};
template <>
struct base10_constants<double> {
  static constexpr double unit = 0x1.34413509f6p-2, unit_rest = 3.694239077158931e-13;
  static constexpr double slope = 0x1.bcb7b1526e50ep-2, slope_rest = 1.098319650216765e-17;
};

/// k log_b(2) + log_b(1 + f). Near 1, where k is 0, the product with f decides and is taken exactly.
template <template <class> class Base>
struct log_of_base {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V f, V k) const {
    using base = Base<hn::TFromD<D>>;
    const V slope = hn::Set(d, base::slope);
    V product_rest, error;
    const V product = TwoProduct(d, f, slope, product_rest);
    const V sum = FastTwoSum(hn::Mul(k, hn::Set(d, base::unit)), product, error);
    V rest = hn::MulAdd(f, hn::Set(d, base::slope_rest), hn::MulAdd(k, hn::Set(d, base::unit_rest), product_rest));
    rest = hn::MulAdd(LogTail(d, f, hn::Zero(d)), slope, rest);
    return hn::Add(sum, hn::Add(rest, error));
  }
};

template <template <class> class Base>
struct any_log_of_base {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return AnyLog(d, x, log_of_base<Base>());
  }
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log2(D d, V x) {
  if constexpr (is_float32<D> && !HWY_NATIVE_FMA) return InDouble(d, x, any_log_of_base<base2_constants>());
  else return AnyLog(d, x, log_of_base<base2_constants>());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log10(D d, V x) {
  if constexpr (is_float32<D> && !HWY_NATIVE_FMA) return InDouble(d, x, any_log_of_base<base10_constants>());
  else return AnyLog(d, x, log_of_base<base10_constants>());
}

// The cube root of [2^-1.5, 2^1.5] to 1.4 %.
struct cbrt_constants {
  static constexpr double start[] = {0.506807926, 0.657672909, -0.192480426, 0.0260399254};
};

/// Halley's step towards the cube root of t, which cubes the relative error of y; t - y^3 from exact parts.
template <class D, class V>
HWY_INLINE V CbrtStep(D d, V t, V y) {
  V square_rest, cube_rest;
  const V square = TwoProduct(d, y, y, square_rest);
  const V cube = TwoProduct(d, square, y, cube_rest);
  const V residual = hn::Sub(hn::Sub(t, cube), hn::MulAdd(square_rest, y, cube_rest));
  return hn::MulAdd(y, hn::Div(residual, hn::Add(hn::Add(cube, cube), t)), y);
}

struct cbrt_in_lanes {
  /// x = 2^(3 q) t with t in [2^-1.5, 2^1.5]: the root is 2^q times that of t.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    constexpr double up = 0x1p54, up_root = 0x1p-18;
    const V a = hn::Abs(x), one = Constant(d, 1.0), magic = hn::Set(d, format_of<D>::magic);
    const auto denormal = hn::Lt(a, hn::Set(d, format_of<D>::min_normal));
    V k;
    const V f = SplitExponent(d, hn::Mul(a, hn::IfThenElse(denormal, Constant(d, up), one)), k);
    const V q = hn::Sub(hn::MulAdd(k, Constant(d, 1.0 / 3), magic), magic);
    const V t = hn::Mul(hn::Add(f, one), PowerOfTwo(d, hn::NegMulAdd(q, Constant(d, 3.0), k)));
    V y = Constant(d, cbrt_constants::start[3]);
    for (int i = 3; i-- > 0;) y = hn::MulAdd(y, t, Constant(d, cbrt_constants::start[i]));
    y = CbrtStep(d, t, CbrtStep(d, t, y));
    if constexpr (!is_float32<D>) y = CbrtStep(d, t, y);
    y = hn::Mul(hn::Mul(y, PowerOfTwo(d, q)), hn::IfThenElse(denormal, Constant(d, up_root), one));
    const auto inside = hn::And(hn::Gt(a, hn::Zero(d)), hn::Lt(a, Infinity(d)));
    return hn::IfThenElse(inside, hn::CopySign(y, x), x);
  }
};

/// The root with the sign of x; zeros, infinities and NaN stay.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Cbrt(D d, V x) {
  if constexpr (is_float32<D> && !HWY_NATIVE_FMA) return InDouble(d, x, cbrt_in_lanes());
  else return cbrt_in_lanes()(d, x);
}

struct hypot_in_double {
  /// From 2^500 on the squares overflow, below 2^-400 their digits get lost: both sides are scaled by a power of two.
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V one = Constant(d, 1.0);
    const V p = hn::Abs(a), q = hn::Abs(b);
    const V most = hn::IfThenElse(hn::Lt(p, q), q, p);
    const auto big = hn::Gt(most, Constant(d, 0x1p500)), small = hn::Lt(most, Constant(d, 0x1p-400));
    const V down = hn::IfThenElse(big, Constant(d, 0x1p-600), hn::IfThenElse(small, Constant(d, 0x1p600), one));
    const V back = hn::IfThenElse(big, Constant(d, 0x1p600), hn::IfThenElse(small, Constant(d, 0x1p-600), one));
    const V u = hn::Mul(p, down), v = hn::Mul(q, down);
    const V y = hn::Mul(hn::Sqrt(hn::MulAdd(u, u, hn::Mul(v, v))), back);
    const auto infinite = hn::Or(hn::Eq(p, Infinity(d)), hn::Eq(q, Infinity(d)));
    return hn::IfThenElse(infinite, Infinity(d), y);
  }
};

/// sqrt(a^2 + b^2) without overflow on the way; infinite where one is, whatever the other.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Hypot(D d, V a, V b) {
  if constexpr (is_float32<D>) return InDouble(d, a, b, hypot_in_double());
  else return hypot_in_double()(d, a, b);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KG_MATH_BASE_INL_H_
