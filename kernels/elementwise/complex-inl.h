// SPDX-License-Identifier: Apache-2.0
// Functions of complex numbers on vectors of real and of imaginary parts, once per target. Each takes operands in a
// range where neither it nor its steps leave the type; complex_scalar.h computes the other lanes one by one. Measured
// in units in the last place of the modulus, the errors stay below those of kernels/elementwise/complex_bounds.h.
#if defined(KERNGRAD_KERNELS_COMPLEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_COMPLEX_INL_H_
#undef KERNGRAD_KERNELS_COMPLEX_INL_H_
#else
#define KERNGRAD_KERNELS_COMPLEX_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/elementwise/complex-loops-inl.h"
#include "kernels/elementwise/complex_scalar.h"
#include "kernels/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Largest real part whose exponential, and square of a hyperbolic sine, is well inside the type; exponents of moduli
// whose squares are.
template <class T>
struct complex_range;
template <>
struct complex_range<float> {
  static constexpr float most_exponent = 80, most_tanh = 40, least = 0x1p-50f, most = 0x1p60f;
};
template <>
struct complex_range<double> {
  static constexpr double most_exponent = 700, most_tanh = 300, least = 0x1p-400, most = 0x1p400;
};

template <class D, class V>
HWY_INLINE auto IsWithin(D d, V x, hn::TFromD<D> most) {
  return hn::Le(hn::Abs(x), hn::Set(d, most));
}
// Both parts are finite numbers, and the squares of the larger one and of the modulus are normal numbers.
template <class D, class V>
HWY_INLINE auto HasSquare(D d, V re, V im) {
  using range = complex_range<hn::TFromD<D>>;
  const V low = hn::Set(d, range::least);
  const auto large = hn::Or(hn::Ge(hn::Abs(re), low), hn::Ge(hn::Abs(im), low));
  return hn::And(large, hn::And(IsWithin(d, re, range::most), IsWithin(d, im, range::most)));
}

/// Lanes outside of the mask by a scalar function of one or two numbers in double precision.
template <class D, class M, class V, class F>
HWY_NOINLINE void ByLane(D d, M done, part_vectors<V> z, V re, V im, F scalar) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T x[hn::MaxLanes(D{})];
  HWY_ALIGN T y[hn::MaxLanes(D{})];
  HWY_ALIGN T u[hn::MaxLanes(D{})];
  HWY_ALIGN T v[hn::MaxLanes(D{})];
  HWY_ALIGN T is_done[hn::MaxLanes(D{})];
  hn::Store(re, d, x), hn::Store(im, d, y);
  hn::Store(z.re, d, u), hn::Store(z.im, d, v);
  hn::Store(hn::IfThenElseZero(done, hn::Set(d, T{1})), d, is_done);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if (is_done[i] != 0) continue;
    const complex_scalar::number<double> w = scalar(complex_scalar::number<double>{x[i], y[i]});
    u[i] = static_cast<T>(w.re), v[i] = static_cast<T>(w.im);
  }
  z.re = hn::Load(d, u), z.im = hn::Load(d, v);
}
template <class D, class M, class V, class F>
HWY_NOINLINE void ByLane(D d, M done, part_vectors<V> z, V a, V b, V c, V e, F scalar) {
  using T = hn::TFromD<D>;
  using wide = complex_scalar::number<double>;
  HWY_ALIGN T left_re[hn::MaxLanes(D{})];
  HWY_ALIGN T left_im[hn::MaxLanes(D{})];
  HWY_ALIGN T right_re[hn::MaxLanes(D{})];
  HWY_ALIGN T right_im[hn::MaxLanes(D{})];
  HWY_ALIGN T u[hn::MaxLanes(D{})];
  HWY_ALIGN T v[hn::MaxLanes(D{})];
  HWY_ALIGN T is_done[hn::MaxLanes(D{})];
  hn::Store(a, d, left_re), hn::Store(b, d, left_im);
  hn::Store(c, d, right_re), hn::Store(e, d, right_im);
  hn::Store(z.re, d, u), hn::Store(z.im, d, v);
  hn::Store(hn::IfThenElseZero(done, hn::Set(d, T{1})), d, is_done);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if (is_done[i] != 0) continue;
    const wide w = scalar(wide{left_re[i], left_im[i]}, wide{right_re[i], right_im[i]});
    u[i] = static_cast<T>(w.re), v[i] = static_cast<T>(w.im);
  }
  z.re = hn::Load(d, u), z.im = hn::Load(d, v);
}

/// Sine and cosine with one reduction.
template <class D, class V>
HWY_INLINE void SinCos(D d, V x, V& sine, V& cosine) {
  const hn::RebindToUnsigned<D> du;
  using TU = hn::TFromD<decltype(du)>;
  const auto reached = hn::Le(hn::Abs(x), hn::Set(d, trig_constants<hn::TFromD<D>>::reduced));
  if (HWY_UNLIKELY(!hn::AllTrue(d, reached))) {
    sine = Sin(d, x);
    cosine = Cos(d, x);
    return;
  }
  V k, low;
  const V r = ReduceQuarters(d, hn::Abs(x), k, low);
  const auto number = hn::BitCast(du, hn::Add(k, Constant(d, format_of<D>::magic)));
  const auto next = hn::Add(number, hn::Set(du, TU{1}));
  const auto odd = hn::RebindMask(d, hn::Ne(hn::And(number, hn::Set(du, TU{1})), hn::Zero(du)));
  const auto sign_of = [&](auto quarter) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<8 * sizeof(TU) - 2>(hn::And(quarter, hn::Set(du, TU{2}))));
  };
  const V s = SinOfReduced(d, r, low), c = CosOfReduced(d, r, low);
  sine = hn::Xor(hn::Xor(hn::IfThenElse(odd, c, s), sign_of(number)), hn::And(x, hn::SignBit(d)));
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), sign_of(next));
}

struct Exp_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    V s, c;
    SinCos(d, im, s, c);
    const V e = Exp(d, re);
    y.re = hn::Mul(e, c), y.im = hn::Mul(e, s);
    const auto fast = hn::And(IsWithin(d, re, complex_range<hn::TFromD<D>>::most_exponent), hn::IsFinite(im));
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, re, im, complex_scalar::exp<double>);
  }
};

/// log|z| is log(1 + (|z|^2 - 1)) / 2 near the circle, where the square less 1 is computed without cancellation.
struct Log_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    const V one = Constant(d, 1.0), p = hn::Abs(re), q = hn::Abs(im);
    const V most = hn::IfThenElse(hn::Lt(p, q), q, p), least = hn::IfThenElse(hn::Lt(p, q), p, q);
    const V square = hn::MulAdd(most, most, hn::Mul(least, least));
    const V excess = hn::MulAdd(least, least, hn::Mul(hn::Sub(most, one), hn::Add(most, one)));
    const auto near = hn::And(hn::Gt(square, Constant(d, 0.5)), hn::Lt(square, Constant(d, 3.0)));
    const V u = hn::IfThenElse(near, hn::Add(excess, one), square);
    const V lost = hn::Div(hn::Sub(excess, hn::Sub(u, one)), u);
    const V log = Log(d, u);
    y.re = hn::Mul(hn::Add(log, hn::IfThenElseZero(near, lost)), Constant(d, 0.5));
    y.im = Atan2(d, im, re);
    const auto fast = HasSquare(d, re, im);
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, re, im, complex_scalar::log<double>);
  }
};

struct Sqrt_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    const V half = Constant(d, 0.5), p = hn::Abs(re), q = hn::Abs(im);
    const V modulus = hn::Sqrt(hn::MulAdd(p, p, hn::Mul(q, q)));
    const V large = hn::Sqrt(hn::Mul(hn::Add(p, modulus), half));
    const V small = hn::Mul(hn::Div(q, large), half);
    const auto left = hn::Lt(re, hn::Zero(d));
    y.re = hn::IfThenElse(left, small, large);
    y.im = hn::CopySign(hn::IfThenElse(left, large, small), im);
    const auto fast = HasSquare(d, re, im);
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, re, im, complex_scalar::sqrt<double>);
  }
};

template <class D, class V>
HWY_INLINE auto IsHyperbolic(D d, V re, V im) {
  return hn::And(IsWithin(d, re, complex_range<hn::TFromD<D>>::most_exponent), hn::IsFinite(im));
}
struct Sinh_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    V s, c;
    SinCos(d, im, s, c);
    y.re = hn::Mul(Sinh(d, re), c), y.im = hn::Mul(Cosh(d, re), s);
    const auto fast = IsHyperbolic(d, re, im);
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, re, im, complex_scalar::sinh<double>);
  }
};
struct Cosh_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    V s, c;
    SinCos(d, im, s, c);
    y.re = hn::Mul(Cosh(d, re), c), y.im = hn::Mul(Sinh(d, re), s);
    const auto fast = IsHyperbolic(d, re, im);
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, re, im, complex_scalar::cosh<double>);
  }
};
/// (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y), in which nothing cancels.
struct Tanh_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    V s, c;
    SinCos(d, im, s, c);
    const V sh = Sinh(d, re), ch = Cosh(d, re);
    const V length = hn::MulAdd(sh, sh, hn::Mul(c, c));
    y.re = hn::Div(hn::Mul(sh, ch), length), y.im = hn::Div(hn::Mul(s, c), length);
    const auto fast = hn::And(IsWithin(d, re, complex_range<hn::TFromD<D>>::most_tanh), hn::IsFinite(im));
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, re, im, complex_scalar::tanh<double>);
  }
};

// sin z = -i sinh(i z), cos z = cosh(i z), tan z = -i tanh(i z).
template <class Hyperbolic>
struct turned_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    V turned_re, turned_im;
    Hyperbolic()(d, hn::Neg(im), re, part_vectors<V>{turned_re, turned_im});
    y.re = turned_im, y.im = hn::Neg(turned_re);
  }
};
using Sin_numbers = turned_numbers<Sinh_numbers>;
using Tan_numbers = turned_numbers<Tanh_numbers>;
struct Cos_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    Cosh_numbers()(d, hn::Neg(im), re, y);
  }
};

struct Neg_numbers : lanes_map {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return hn::Neg(x);
  }
};
struct Square_numbers : lanes_map {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return ComplexProduct(d, x, x);
  }
};
struct Add_numbers : lanes_map {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};
struct Sub_numbers : lanes_map {
  template <class D, class V>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};
struct Multiply_numbers : lanes_map {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return ComplexProduct(d, a, b);
  }
};
struct Equal_numbers : parts_test {
  template <class D, class V>
  HWY_INLINE auto operator()(D, part_vectors<V> a, part_vectors<V> b) const {
    return hn::And(hn::Eq(a.re, b.re), hn::Eq(a.im, b.im));
  }
};
struct NotEqual_numbers : parts_test {
  template <class D, class V>
  HWY_INLINE auto operator()(D d, part_vectors<V> a, part_vectors<V> b) const {
    return hn::Not(Equal_numbers()(d, a, b));
  }
};

struct RealDiv_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V a, V b, V c, V e, part_vectors<V> y) const {
    const V length = hn::MulAdd(c, c, hn::Mul(e, e));
    y.re = hn::Div(hn::MulAdd(a, c, hn::Mul(b, e)), length);
    y.im = hn::Div(hn::NegMulAdd(a, e, hn::Mul(b, c)), length);
    const auto zero = hn::And(hn::Eq(a, hn::Zero(d)), hn::Eq(b, hn::Zero(d)));
    const auto fast = hn::And(hn::Or(HasSquare(d, a, b), zero), HasSquare(d, c, e));
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, a, b, c, e, complex_scalar::quotient<double>);
  }
};
struct Reciprocal_numbers : parts_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V re, V im, part_vectors<V> y) const {
    const V length = hn::MulAdd(re, re, hn::Mul(im, im));
    y.re = hn::Div(re, length), y.im = hn::Div(hn::Neg(im), length);
    const auto fast = HasSquare(d, re, im);
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, re, im, complex_scalar::reciprocal<double>);
  }
};

/// a^n for whole n of up to most_factors by squaring; other lanes are not defined.
template <class D, class V>
HWY_INLINE void WholePower(D d, V a, V b, V n, part_vectors<V> y) {
  const V one = Constant(d, 1.0), two = Constant(d, 2.0), half = Constant(d, 0.5);
  V left = hn::IfThenElseZero(IsWithin(d, n, complex_scalar::most_factors), hn::Abs(n));
  y.re = one, y.im = hn::Zero(d);
  while (!hn::AllTrue(d, hn::Eq(left, hn::Zero(d)))) {
    const V rest = hn::Floor(hn::Mul(left, half));
    const auto odd = hn::Ne(hn::NegMulAdd(rest, two, left), hn::Zero(d));
    const V re = hn::NegMulAdd(y.im, b, hn::Mul(y.re, a)), im = hn::MulAdd(y.im, a, hn::Mul(y.re, b));
    y.re = hn::IfThenElse(odd, re, y.re), y.im = hn::IfThenElse(odd, im, y.im);
    const V square = hn::NegMulAdd(b, b, hn::Mul(a, a));
    b = hn::Mul(hn::Mul(a, b), two), a = square;
    left = rest;
  }
  const auto below = hn::Lt(n, hn::Zero(d));
  if (hn::AllFalse(d, below)) return;
  V re, im;
  Reciprocal_numbers()(d, y.re, y.im, part_vectors<V>{re, im});
  y.re = hn::IfThenElse(below, re, y.re), y.im = hn::IfThenElse(below, im, y.im);
}

struct Pow_numbers : wide_map {
  template <class D, class V>
  HWY_INLINE void operator()(D d, V a, V b, V c, V e, part_vectors<V> y) const {
    V re, im;
    Log_numbers()(d, a, b, part_vectors<V>{re, im});
    const V x = hn::NegMulAdd(e, im, hn::Mul(c, re)), angle = hn::MulAdd(e, re, hn::Mul(c, im));
    Exp_numbers()(d, x, angle, y);
    const auto whole =
        hn::And(hn::And(hn::Eq(e, hn::Zero(d)), IsWithin(d, c, complex_scalar::most_factors)), hn::Eq(Round(d, c), c));
    if (!hn::AllFalse(d, whole)) {
      WholePower(d, a, b, c, part_vectors<V>{re, im});
      const auto exact = hn::And(whole, hn::And(hn::IsFinite(re), hn::IsFinite(im)));
      y.re = hn::IfThenElse(exact, re, y.re), y.im = hn::IfThenElse(exact, im, y.im);
    }
    const auto fast = hn::And(HasSquare(d, a, b), hn::And(hn::IsFinite(c), hn::IsFinite(e)));
    if (HWY_UNLIKELY(!hn::AllTrue(d, fast))) ByLane(d, fast, y, a, b, c, e, complex_scalar::pow<double>);
  }
};

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard that toggles per target
