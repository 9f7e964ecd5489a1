// SPDX-License-Identifier: Apache-2.0
// Bessel functions of orders 0 and 1 on vectors of doubles. Bounds: kernels/special/accuracy.h.
#if defined(KERNGRAD_KERNELS_SPECIAL_BESSEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_SPECIAL_BESSEL_INL_H_
#undef KERNGRAD_KERNELS_SPECIAL_BESSEL_INL_H_
#else
#define KERNGRAD_KERNELS_SPECIAL_BESSEL_INL_H_
#endif
#include "hwy/highway.h"
#include "kernels/math/math-inl.h"
#include "kernels/special/constants.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

struct bessel_i0 {
  static constexpr const auto& near = special_constants::i0_near;
  static constexpr const auto& far = special_constants::i0_far;
};
struct bessel_i1 {
  static constexpr const auto& near = special_constants::i1_near;
  static constexpr const auto& far = special_constants::i1_far;
};

/// A modified Bessel function: up to 8 a series of positive terms, then e^a / sqrt(a) times a polynomial in 1 / a.
template <class Order>
struct bessel_i_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V a = Limit(d, hn::Abs(x), 0.0, 1400.0);
    const auto near = hn::Le(a, Constant(d, 8.0));
    V y = Polynomial(d, hn::Mul(hn::Mul(a, a), Constant(d, 1.0 / 64)), Order::near);
    if constexpr (std::is_same_v<Order, bessel_i1>) y = hn::Mul(y, a);
    if (!hn::AllTrue(d, near)) {
      const V v = hn::Sub(hn::Div(Constant(d, 16.0), a), Constant(d, 1.0));
      const V p = hn::Div(Polynomial(d, v, Order::far), hn::Sqrt(a));
      // The bias keeps e^a finite where the product is.
      const V e = BiasedExp(d, a, hn::Zero(d), -64.0);
      y = hn::IfThenElse(near, y, hn::Mul(hn::Mul(p, e), Constant(d, 0x1p64)));
    }
    if constexpr (std::is_same_v<Order, bessel_i1>) y = hn::CopySign(y, x);
    return y;
  }
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V BesselI0(D d, V x) {
  return AsDouble(d, x, bessel_i_in_double<bessel_i0>());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V BesselI1(D d, V x) {
  return AsDouble(d, x, bessel_i_in_double<bessel_i1>());
}

/// Sine and cosine of a >= 0 with one reduction.
template <class D, class V>
HWY_INLINE void SinCos(D d, V a, V& sine, V& cosine) {
  const hn::RebindToUnsigned<D> du;
  using TU = hn::TFromD<decltype(du)>;
  V k, low;
  const V r = ReduceQuarters(d, LimitReduced(d, a), k, low);
  const auto number = hn::BitCast(du, hn::Add(k, hn::Set(d, format_of<D>::magic)));
  const auto odd = hn::RebindMask(d, hn::Ne(hn::And(number, hn::Set(du, TU{1})), hn::Zero(du)));
  const V s = SinOfReduced(d, r, low), c = CosOfReduced(d, r, low);
  const auto sign = [&](auto quarter) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<8 * sizeof(TU) - 2>(hn::And(quarter, hn::Set(du, TU{2}))));
  };
  sine = WithScalarTail(d, a, hn::Xor(hn::IfThenElse(odd, c, s), sign(number)), scalar_sin());
  cosine =
      WithScalarTail(d, a, hn::Xor(hn::IfThenElse(odd, s, c), sign(hn::Add(number, hn::Set(du, TU{1})))), scalar_cos());
}

// Squares of the first two positive zeros, each in two parts, and the end of the polynomial that has them.
struct bessel_j0 {
  static constexpr double limit = 6.5;
  static constexpr double squares[] = {5.783185962946784, 4.123247343506204e-16, 30.471262343662087,
                                       -2.366534485750659e-16};
  static constexpr const auto& near = special_constants::j0_near;
  static constexpr const auto& p = special_constants::j0_p;
  static constexpr const auto& q = special_constants::j0_q;
};
struct bessel_j1 {
  static constexpr double limit = 7.5;
  static constexpr double squares[] = {14.681970642123893, -9.858177825793294e-17, 49.2184563216946,
                                       5.086354069436341e-16};
  static constexpr const auto& near = special_constants::j1_near;
  static constexpr const auto& p = special_constants::j1_p;
  static constexpr const auto& q = special_constants::j1_q;
};

/// A Bessel function: near 0 its zeros times a polynomial, elsewhere Hankel's form (DLMF 10.17.3) with P and Q as
/// polynomials in 1 / a^2. The phase a - pi / 4 is never rounded: cos a + sin a and sin a - cos a stand for it.
template <class Order>
struct bessel_j_in_double {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    constexpr bool first = std::is_same_v<Order, bessel_j1>;
    constexpr double limit = Order::limit;
    const V a = hn::Abs(x), one = Constant(d, 1.0);
    const auto near = hn::Le(a, Constant(d, limit));
    V square_rest;
    const V square = TwoProduct(d, a, a, square_rest);
    // a^2 less the square of a zero, rounded about once.
    const auto from_zero = [&](int i) HWY_ATTR {
      const V rest = hn::Sub(square_rest, Constant(d, Order::squares[i + 1]));
      return hn::Add(hn::Sub(square, Constant(d, Order::squares[i])), rest);
    };
    const V v = hn::MulAdd(square, Constant(d, 2 / (limit * limit)), hn::Neg(one));
    V y = hn::Mul(hn::Mul(from_zero(0), from_zero(2)), Polynomial(d, v, Order::near));
    // J0 rounds to 1 where its next term x^2 / 4 is below half of 2^-53.
    if constexpr (first) y = hn::Mul(y, a);
    else y = hn::IfThenElse(hn::Lt(a, Constant(d, 0x1p-26)), one, y);
    if (!hn::AllTrue(d, near)) {
      const V inverse = hn::Div(one, a);
      const V w = hn::MulAdd(hn::Mul(inverse, inverse), Constant(d, 2 * limit * limit), hn::Neg(one));
      const V p = Polynomial(d, w, Order::p), q = hn::Mul(Polynomial(d, w, Order::q), inverse);
      V s, c;
      SinCos(d, a, s, c);
      const V sum = hn::Add(s, c), difference = hn::Sub(s, c);
      const V wave = first ? hn::MulAdd(p, difference, hn::Mul(q, sum)) : hn::NegMulAdd(q, difference, hn::Mul(p, sum));
      const V far = hn::Div(hn::Mul(wave, Constant(d, 0.56418958354775628695)), hn::Sqrt(a));  // 1 / sqrt(pi)
      y = hn::IfThenElse(near, y, hn::IfThenZeroElse(hn::Eq(a, Infinity(d)), far));
    }
    if constexpr (first) y = hn::Xor(y, hn::And(x, hn::SignBit(d)));
    return y;
  }
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V BesselJ0(D d, V x) {
  return AsDouble(d, x, bessel_j_in_double<bessel_j0>());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V BesselJ1(D d, V x) {
  return AsDouble(d, x, bessel_j_in_double<bessel_j1>());
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KERNGRAD_KERNELS_SPECIAL_BESSEL_INL_H_
