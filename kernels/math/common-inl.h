// SPDX-License-Identifier: Apache-2.0
// Tools of the vector mathematics: polynomials, powers of two, exact sums and products, float lanes in double.
// The coefficients in the math-*-inl.h files are interpolations at Chebyshev nodes, computed with 80 digits.
#if defined(KG_MATH_COMMON_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KG_MATH_COMMON_INL_H_
#undef KG_MATH_COMMON_INL_H_
#else
#define KG_MATH_COMMON_INL_H_
#endif
#include <cstddef>
#include <limits>

#include "hwy/highway.h"
#include "kernels/common/target-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr bool is_float32 = sizeof(hn::TFromD<D>) == 4;
/// True if the lanes of D are looked up in the tables of math-tables-inl.h.
template <class D>
inline constexpr bool has_tables = KG_AVX512 && is_float32<D>;
/// True if D has float lanes and fused multiply-adds, with which rounding errors of float lanes cost little.
template <class D>
inline constexpr bool fused_floats = HWY_NATIVE_FMA && is_float32<D>;

template <class T>
struct float_format;
template <>
struct float_format<float> {
  static constexpr int mantissa_bits = 23, exponent_bias = 127;
  static constexpr float magic = 12582912.f;    // 1.5 * 2^23: adding it rounds to an integer in the low bits
  static constexpr float integers = 8388608.f;  // 2^23: from here on every value is an integer
  static constexpr float min_normal = 1.17549435e-38f;
};
template <>
struct float_format<double> {
  static constexpr int mantissa_bits = 52, exponent_bias = 1023;
  static constexpr double magic = 6755399441055744.0;
  static constexpr double integers = 4503599627370496.0;
  static constexpr double min_normal = 2.2250738585072014e-308;
};
template <class D>
using format_of = float_format<hn::TFromD<D>>;

// ln 2 = high + low, where the product of high with an exponent (and with 32nds of one in float) is exact.
template <class T>
struct ln2;
template <>
struct ln2<float> {
  static constexpr float high = 0.693359375f, low = -2.12194440e-4f;
};
template <>
struct ln2<double> {
  static constexpr double high = 0x1.62e42feep-1, low = 1.90821492927058770002e-10;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Constant(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Infinity(D d) {
  return hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V QuietNan(D d) {
  return hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN());
}

/// c[0] + c[1] x + ... by Horner's rule.
template <class D, class V, class T, size_t N>
HWY_INLINE V Polynomial(D d, V x, const T (&c)[N]) {
  V p = hn::Set(d, c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) p = hn::MulAdd(p, x, hn::Set(d, c[i]));
  return p;
}

/// x limited to [low, high]; NaN stays NaN, which hn::Min and hn::Max do not promise: on x86 they give the second of
/// their operands when one is NaN.
template <class D, class V>
HWY_INLINE V Limit(D d, V x, double low, double high) {
  const V lowest = Constant(d, low), highest = Constant(d, high);
#if KG_MAX_GIVES_SECOND
  return hn::Min(highest, hn::Max(lowest, x));
#else
  x = hn::IfThenElse(hn::Lt(x, lowest), lowest, x);
  return hn::IfThenElse(hn::Gt(x, highest), highest, x);
#endif
}

/// 2^k for integral k within the exponents of normal numbers.
template <class D, class V>
HWY_INLINE V PowerOfTwo(D d, V k) {
  const hn::RebindToUnsigned<D> du;
  const V one = Constant(d, 1.0);
  const auto bits = hn::BitCast(du, hn::Add(k, hn::Set(d, format_of<D>::magic)));
  return hn::BitCast(d, hn::Add(hn::ShiftLeft<format_of<D>::mantissa_bits>(bits), hn::BitCast(du, one)));
}

/// y 2^k, rounded once, for y in about [0.5, 2] and integral k up to twice the exponents of normal numbers.
template <class D, class V>
HWY_INLINE V Scale(D d, V y, V k) {
#if KG_AVX512
  (void)d;
  if constexpr (sizeof(V) == 64 && is_float32<D>) return V{_mm512_scalef_ps(y.raw, k.raw)};
  if constexpr (sizeof(V) == 32 && is_float32<D>) return V{_mm256_scalef_ps(y.raw, k.raw)};
  if constexpr (sizeof(V) == 16 && is_float32<D>) return V{_mm_scalef_ps(y.raw, k.raw)};
  if constexpr (sizeof(V) == 64 && !is_float32<D>) return V{_mm512_scalef_pd(y.raw, k.raw)};
  if constexpr (sizeof(V) == 32 && !is_float32<D>) return V{_mm256_scalef_pd(y.raw, k.raw)};
  if constexpr (sizeof(V) == 16 && !is_float32<D>) return V{_mm_scalef_pd(y.raw, k.raw)};
#else
  const V magic = hn::Set(d, format_of<D>::magic);
  const V half = hn::Sub(hn::MulAdd(k, Constant(d, 0.5), magic), magic);
  return hn::Mul(hn::Mul(y, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(k, half)));
#endif
}

/// a + b exactly, as the rounded sum and its error.
template <class V>
HWY_INLINE V TwoSum(V a, V b, V& error) {
  const V sum = hn::Add(a, b);
  const V part = hn::Sub(sum, a);
  error = hn::Add(hn::Sub(a, hn::Sub(sum, part)), hn::Sub(b, part));
  return sum;
}
/// The same for |a| >= |b| or a = 0.
template <class V>
HWY_INLINE V FastTwoSum(V a, V b, V& error) {
  const V sum = hn::Add(a, b);
  error = hn::Add(hn::Sub(a, sum), b);
  return sum;
}
/// a b exactly for double lanes, as the rounded product and its error (Dekker's splitting where FMA is missing).
template <class D, class V>
HWY_INLINE V TwoProduct(D d, V a, V b, V& error) {
  const V product = hn::Mul(a, b);
#if !HWY_NATIVE_FMA
  const V splitter = Constant(d, 134217729.0);
  const V ca = hn::Mul(a, splitter), cb = hn::Mul(b, splitter);
  const V ah = hn::Sub(ca, hn::Sub(ca, a)), bh = hn::Sub(cb, hn::Sub(cb, b));
  const V al = hn::Sub(a, ah), bl = hn::Sub(b, bh);
  error = hn::Sub(hn::Mul(ah, bh), product);
  error = hn::Add(error, hn::Mul(ah, bl));
  error = hn::Add(error, hn::Mul(al, bh));
  error = hn::Add(error, hn::Mul(al, bl));
#else
  (void)d;
  error = hn::MulSub(a, b, product);
#endif
  return product;
}

/// Applies a scalar function to every lane: for rare arguments.
template <class D, class F, class V = hn::Vec<D>>
HWY_NOINLINE V PerLane(D d, V x, F function) {
  HWY_ALIGN hn::TFromD<D> lanes[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::StoreU(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = function(lanes[i]);
  return hn::LoadU(d, lanes);
}

/// double -> float with overflow to infinity.
template <class DF, class DD, class V>
HWY_INLINE hn::Vec<DF> Narrow(DF df, DD dd, V x) {
#if KG_EMULATED
  // DemoteTo saturates here, infinities too. From half an ulp above the largest float on, the result is infinite.
  const auto narrow = hn::DemoteTo(df, x);
  const auto excess = hn::Abs(hn::Mul(x, Constant(dd, 0x1p-128)));  // 1 - 2^-25 is the first infinite value
  const auto beyond = hn::Ge(excess, Constant(dd, 1 - 0x1p-25));
  const auto overflow = hn::DemoteTo(df, hn::IfThenElseZero(beyond, Constant(dd, 1.0)));
  return hn::IfThenElse(hn::Gt(overflow, hn::Zero(df)), hn::CopySign(Infinity(df), narrow), narrow);
#else
  (void)dd;
  return hn::DemoteTo(df, x);
#endif
}

// True if the double lanes for all lanes of a float vector need two vectors.
template <class D>
inline constexpr bool needs_two = hn::MaxLanes(D()) * sizeof(double) > HWY_MAX_BYTES;

/// Applies f(dd, V) in double lanes to float lanes.
template <class D, class F, class V = hn::Vec<D>>
HWY_INLINE V InDouble(D d, V x, F f) {
  if constexpr (needs_two<D>) {
    const hn::RepartitionToWide<D> dd;
    const hn::Half<D> dh;
    const auto lower = f(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, x)));
    const auto upper = f(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, x)));
    return hn::Combine(d, Narrow(dh, dd, upper), Narrow(dh, dd, lower));
  } else {
    const hn::Rebind<double, D> dd;
    return Narrow(d, dd, f(dd, hn::PromoteTo(dd, x)));
  }
}

/// Applies f(dd, V, V) in double lanes to two vectors of float lanes.
template <class D, class F, class V = hn::Vec<D>>
HWY_INLINE V InDouble(D d, V x, V y, F f) {
  if constexpr (needs_two<D>) {
    const hn::RepartitionToWide<D> dd;
    const hn::Half<D> dh;
    const auto lower = f(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, x)), hn::PromoteTo(dd, hn::LowerHalf(dh, y)));
    const auto upper = f(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, x)), hn::PromoteTo(dd, hn::UpperHalf(dh, y)));
    return hn::Combine(d, Narrow(dh, dd, upper), Narrow(dh, dd, lower));
  } else {
    const hn::Rebind<double, D> dd;
    return Narrow(d, dd, f(dd, hn::PromoteTo(dd, x), hn::PromoteTo(dd, y)));
  }
}

/// f in double lanes, whichever lanes come in.
template <class D, class F, class V = hn::Vec<D>>
HWY_INLINE V AsDouble(D d, V x, F f) {
  if constexpr (is_float32<D>) {
    return InDouble(d, x, f);
  } else {
    return f(d, x);
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KG_MATH_COMMON_INL_H_
