// SPDX-License-Identifier: Apache-2.0
// The exponential function and what is made of it. Bounds: kernels/common/accuracy.h. Each function keeps NaN, reaches
// infinity and goes through the denormals to zero where the real function does, and keeps the sign of zero if odd.
#if defined(KG_MATH_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_EXP_INL_H_
#undef KG_MATH_EXP_INL_H_
#else
#define KG_MATH_EXP_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/common/vectors-inl.h"
#include "kernels/math/common-inl.h"
#include "kernels/math/log-inl.h"
#include "kernels/math/tables-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2; errors 2^-29 and 2^-65. `whole` serves where 1 is added back: error 2^-28 of
// e^r.
template <class T>
struct exp_constants;
template <>
struct exp_constants<float> {
  static constexpr float p[] = {0.5f, 0.166666672f, 0.041666463f, 0.00833331048f, 0.00139336858f, 0.000198910304f};
  static constexpr float whole[] = {0.5f, 0.166665107f, 0.0416664705f, 0.00836966466f, 0.00139342865f};
  static constexpr float lowest = -170.f, highest = 130.f, lowest_expm1 = -20.f;
  static constexpr float bias = 64.f, far = -60.f;
};
template <>
struct exp_constants<double> {
  static constexpr double p[] = {0.5,
                                 0.16666666666666666,
                                 0.04166666666666668,
                                 0.008333333333333333,
                                 0.0013888888888879043,
                                 0.0001984126984126328,
                                 2.4801587336526005e-05,
                                 2.7557319247274564e-06,
                                 2.755726318947621e-07,
                                 2.5052071034565116e-08,
                                 2.0918170876658783e-09,
                                 1.608665004457821e-10};
  static constexpr const double (&whole)[12] = p;
  static constexpr double lowest = -1400, highest = 1400, lowest_expm1 = -40;
  static constexpr double bias = 128, far = -600;
};

/// x = k ln 2 + r + error with |r| <= ln 2 / 2 and integral k.
template <class D, class V>
HWY_INLINE V ReduceExp(D d, V x, V& k, V& error) {
  using constants = ln2<hn::TFromD<D>>;
  const V magic = hn::Set(d, format_of<D>::magic);
  k = hn::Sub(hn::MulAdd(x, Constant(d, 1.4426950408889634), magic), magic);
  const V high = hn::NegMulAdd(k, hn::Set(d, constants::high), x);
  const V r = hn::NegMulAdd(k, hn::Set(d, constants::low), high);
  error = hn::NegMulAdd(k, hn::Set(d, constants::low), hn::Sub(high, r));
  return r;
}

/// 2^bias e^(x + small), rounded once at the end: the bias keeps products with tiny exponentials out of the denormals.
template <class D, class V>
HWY_INLINE V BiasedExp(D d, V x, V small, V bias) {
  using constants = exp_constants<hn::TFromD<D>>;
  x = Limit(d, x, constants::lowest, constants::highest);
  V k, unused;
  const V r = hn::Add(ReduceExp(d, x, k, unused), small);
  const V p = Polynomial(d, r, constants::p);
  const V y = hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), Constant(d, 1.0));
  return Scale(d, y, hn::Add(k, bias));
}
template <class D, class V>
HWY_INLINE V BiasedExp(D d, V x, V small, double bias) {
  return BiasedExp(d, x, small, Constant(d, bias));
}

/// v[i] = e^v[i], with room for what is worked out on the way. Each step is done for all vectors before the next one:
/// what waits for nothing stands together, where the processor's schedulers reach it.
template <class D, class V, int N>
HWY_INLINE void ExpSteps(D d, vectors<V, N> v, vectors<V, N> k, vectors<V, N> r, vectors<V, N> p) {
  using T = hn::TFromD<D>;
  using constants = exp_constants<T>;
  constexpr size_t terms = sizeof(constants::whole) / sizeof(T);
  const V one = Constant(d, 1.0), magic = hn::Set(d, format_of<D>::magic);
  for (int i = 0; i < N; ++i) v[i] = Limit(d, v[i], constants::lowest, constants::highest);
  for (int i = 0; i < N; ++i) k[i] = hn::MulAdd(v[i], Constant(d, 1.4426950408889634), magic);
  for (int i = 0; i < N; ++i) k[i] = hn::Sub(k[i], magic);
  for (int i = 0; i < N; ++i) r[i] = hn::NegMulAdd(k[i], hn::Set(d, ln2<T>::high), v[i]);
  for (int i = 0; i < N; ++i) r[i] = hn::NegMulAdd(k[i], hn::Set(d, ln2<T>::low), r[i]);
  for (int i = 0; i < N; ++i) p[i] = hn::Set(d, constants::whole[terms - 1]);
  for (size_t term = terms - 1; term-- > 0;) {
    for (int i = 0; i < N; ++i) p[i] = hn::MulAdd(p[i], r[i], hn::Set(d, constants::whole[term]));
  }
#if HWY_NATIVE_FMA
  for (int i = 0; i < N; ++i) p[i] = hn::MulAdd(p[i], r[i], one);
  for (int i = 0; i < N; ++i) p[i] = hn::MulAdd(p[i], r[i], one);
#else
  for (int i = 0; i < N; ++i) p[i] = hn::Add(hn::MulAdd(hn::Mul(r[i], r[i]), p[i], r[i]), one);
#endif
  for (int i = 0; i < N; ++i) v[i] = Scale(d, p[i], k[i]);
}
template <class D, class V, int N>
HWY_INLINE void ExpOfAll(D d, vectors<V, N> v) {
  with_vectors<3 * N>(d, [&](auto room) KG_INLINED {
    ExpSteps(d, v, room.template row<N>(0), room.template row<N>(1), room.template row<N>(2));
  });
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V x) {
  ExpOfAll(d, vectors<V, 1>{{&x}});
  return x;
}

/// e^x - 1 = 2^k ((1 - 2^-k) + (e^r - 1)), with the error of the first sum carried.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Expm1(D d, V x) {
  using constants = exp_constants<hn::TFromD<D>>;
  V k, error;
  const V r = ReduceExp(d, Limit(d, x, constants::lowest_expm1, constants::highest), k, error);
  const V t = hn::MulAdd(hn::Mul(r, r), Polynomial(d, r, constants::p), error);
  // 1 - 2^-64 is 1 already; a larger k would leave the normal numbers.
  const V inverse = PowerOfTwo(d, hn::Neg(hn::Min(k, Constant(d, 64.0))));
  V rest;
  const V sum = FastTwoSum(hn::Sub(Constant(d, 1.0), inverse), r, rest);
  return hn::CopySign(Scale(d, hn::Add(sum, hn::Add(rest, t)), k), x);
}

/// sigmoid(-|x|) = e^-|x| / (1 + e^-|x|), the smaller one of sigmoid(x) and 1 - sigmoid(x), with all its digits.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SigmoidTail(D d, V x) {
  if constexpr (has_tables<D>) {
    SigmoidTailOfAll(d, vectors<V, 1>{{&x}});
    return x;
  }
  const V e = Exp(d, hn::Or(x, hn::SignBit(d)));
  return hn::Div(e, hn::Add(Constant(d, 1.0), e));
}
/// sigmoid(x) of its tail.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SigmoidOfTail(D d, V tail, V x) {
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), hn::Sub(Constant(d, 1.0), tail), tail);
}
/// 1 / (1 + e^-x), through e^-|x| so that the left tail does not underflow early.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sigmoid(D d, V x) {
  return SigmoidOfTail(d, SigmoidTail(d, x), x);
}

/// The derivative of the sigmoid from its tail t: s (1 - s) = t (1 - t), without the cancellation where s is near 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SigmoidSlope(D d, V tail) {
  return hn::Mul(tail, hn::Sub(Constant(d, 1.0), tail));
}
/// dy times the derivative of the sigmoid at x.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SigmoidGrad(D d, V dy, V x) {
  return hn::Mul(dy, SigmoidSlope(d, SigmoidTail(d, x)));
}
/// dy times the derivative of the hyperbolic tangent at x: 1 - tanh(x)^2 = 4 s (1 - s), s = sigmoid(2 x).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V TanhGrad(D d, V dy, V x) {
  const V slope = SigmoidSlope(d, SigmoidTail(d, hn::Add(x, x)));
  return hn::Mul(dy, hn::Mul(Constant(d, 4.0), slope));
}

/// x / (1 + e^-x); at -infinity the limit -0. Far to the left both sides of the fraction are scaled down, so that the
/// exponential does not overflow before the quotient underflows.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Silu(D d, V x) {
  using constants = exp_constants<hn::TFromD<D>>;
  const V one = Constant(d, 1.0), down = Constant(d, -constants::bias);
  const auto far = hn::Lt(x, Constant(d, constants::far));
  const V unit = hn::IfThenElse(far, PowerOfTwo(d, down), one);
  const V e = BiasedExp(d, hn::Neg(x), hn::Zero(d), hn::IfThenElseZero(far, down));
  const V limited = hn::IfThenElse(hn::Lt(x, Constant(d, constants::lowest)), Constant(d, constants::lowest), x);
  return hn::Div(hn::Mul(limited, unit), hn::Add(unit, e));
}

// (log1p(e) - e) / e^2 on [0, 1], error 2^-27 of the logarithm.
struct softplus_constants {
  static constexpr float log1p[] = {-0.499999225f, 0.333302051f,   -0.249553755f, 0.196788713f,   -0.153079122f,
                                    0.10600581f,   -0.0568797179f, 0.0197892711f, -0.00322684762f};
};

/// log(1 + e^x) = max(x, 0) + log1p(e^-|x|), whose argument is at most 1: a polynomial does for floats.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Softplus(D d, V x) {
  const V e = BiasedExp(d, hn::Neg(hn::Abs(x)), hn::Zero(d), 0.0);
  V tail;
  if constexpr (is_float32<D>) {
    tail = hn::MulAdd(hn::Mul(e, e), Polynomial(d, e, softplus_constants::log1p), e);
  } else {
    tail = Log1p(d, e);
  }
  return hn::Add(hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x), tail);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Elu(D d, V x) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), Expm1(d, x), x);
}

/// scale (x < 0 ? alpha (e^x - 1) : x).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Selu(D d, V x) {
  const V scale = Constant(d, 1.0507009873554804934193349852946);
  const V scale_alpha = Constant(d, 1.0507009873554804934193349852946 * 1.6732632423543772848170429916717);
  const auto negative = hn::Lt(x, hn::Zero(d));
  return hn::Mul(hn::IfThenElse(negative, Expm1(d, x), x), hn::IfThenElse(negative, scale_alpha, scale));
}

// (sinh x - x) / x^3 in x^2 on |x| <= 1, errors 2^-32 and 2^-71, and (tanh x - x) / x^3 on |x| <= 0.625 and 0.55,
// errors 2^-29 and 2^-57.
template <class T>
struct hyperbolic_constants;
template <>
struct hyperbolic_constants<float> {
  static constexpr float sinh[] = {0.166666672f, 0.00833333936f, 0.000198380949f, 2.80633117e-06f};
  static constexpr float tanh[] = {-0.333333343f, 0.133333027f,    -0.0539592281f,
                                   0.0217686668f, -0.00834311917f, 0.00229180953f};
  static constexpr float tanh_limit = 0.625f;
};
template <>
struct hyperbolic_constants<double> {
  static constexpr double sinh[] = {0.16666666666666666,   0.008333333333333333,   0.00019841269841269773,
                                    2.755731922404061e-06, 2.5052108363972185e-08, 1.6059048410081293e-10,
                                    7.646624280324512e-13, 2.8445596736423572e-15};
  static constexpr double tanh[] = {-0.3333333333333333,    0.13333333333332714,    -0.05396825396743174,
                                    0.021869488493563037,   -0.008863234395418095,  0.003592110347096176,
                                    -0.0014556615775702321, 0.0005889348072446843,  -0.0002346310452829557,
                                    8.510707927347019e-05,  -2.0598556673230578e-05};
  static constexpr double tanh_limit = 0.55;
};

/// e^a / 2 - 1 / (2 e^a); below 1 a polynomial.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sinh(D d, V x) {
  const V a = hn::Abs(x);
  const V z = hn::Mul(a, a);
  const V small = hn::MulAdd(hn::Mul(a, z), Polynomial(d, z, hyperbolic_constants<hn::TFromD<D>>::sinh), a);
  const V half = BiasedExp(d, a, hn::Zero(d), -1.0);
  const V large = hn::Sub(half, hn::Div(Constant(d, 0.25), half));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, Constant(d, 1.0)), small, large), x);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Cosh(D d, V x) {
  const V half = BiasedExp(d, hn::Abs(x), hn::Zero(d), -1.0);
  return hn::Add(half, hn::Div(Constant(d, 0.25), half));
}

/// 1 - 2 / (e^2a + 1); for small arguments a polynomial.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Tanh(D d, V x) {
  if constexpr (has_tables<D>) return TanhByTable(d, x);
  using constants = hyperbolic_constants<hn::TFromD<D>>;
  const V one = Constant(d, 1.0);
  const V a = hn::Abs(x);
  const V z = hn::Mul(a, a);
  const V small = hn::MulAdd(hn::Mul(a, z), Polynomial(d, z, constants::tanh), a);
  const V large = hn::Sub(one, hn::Div(Constant(d, 2.0), hn::Add(Exp(d, hn::Add(a, a)), one)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, hn::Set(d, constants::tanh_limit)), small, large), x);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KG_MATH_EXP_INL_H_
