// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/binary.h"

#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/binary.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/activation-inl.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// Applies a scalar function lane by lane, for what Highway has no vector operation.
template <class D, class V, class F>
HWY_INLINE V lane_by_lane(D d, V a, V b, F f) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T x[hn::MaxLanes(D{})];
  HWY_ALIGN T y[hn::MaxLanes(D{})];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) x[i] = f(x[i], y[i]);
  return hn::Load(d, x);
}

// Integer division towards minus infinity. By zero it gives 0; the lowest value by -1 wraps to itself.
struct floor_quotient {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      using U = std::make_unsigned_t<T>;
      if (b == -1) return static_cast<T>(U{0} - static_cast<U>(a));
      return static_cast<T>(a / b - (a % b != 0 && (a < 0) != (b < 0)));
    } else {
      return static_cast<T>(a / b);
    }
  }
};
// The remainder with the divisor's sign; 0 for division by zero.
struct floor_remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const T r = static_cast<T>(a % b);
      return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
    } else {
      return static_cast<T>(a % b);
    }
  }
};
struct truncated_remainder {
  template <class T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};

// floor(a / b) of half a vector of int32 in double precision. A quotient that is not whole is at least 2^-31 of
// itself away from the next integer, so that the rounding of the division cannot reach it.
template <class H, class V = hn::Vec<H>>
HWY_INLINE V half_quotient(H half, V a, V b) {
  const hn::Rebind<double, H> wide;
  return hn::DemoteTo(half, hn::Floor(hn::Div(hn::PromoteTo(wide, a), hn::PromoteTo(wide, b))));
}

// a / b of a quarter of a vector of bytes, b > 0, in float: a quotient that is not whole is at least 2^-8 away from the
// next integer, far beyond the rounding of the division.
template <class Q, class V = hn::Vec<Q>>
HWY_INLINE V quarter_quotient(Q quarter, V a, V b) {
  const hn::Rebind<std::int32_t, Q> ints;
  const hn::Rebind<float, Q> floats;
  const auto p = hn::ConvertTo(floats, hn::PromoteTo(ints, a)), q = hn::ConvertTo(floats, hn::PromoteTo(ints, b));
  return hn::DemoteTo(quarter, hn::ConvertTo(ints, hn::Div(p, q)));
}
template <class H, class V = hn::Vec<H>>
HWY_INLINE V half_quotient_of_bytes(H half, V a, V b) {
  const hn::Half<H> quarter;
  return hn::Combine(half, quarter_quotient(quarter, hn::UpperHalf(quarter, a), hn::UpperHalf(quarter, b)),
                     quarter_quotient(quarter, hn::LowerHalf(quarter, a), hn::LowerHalf(quarter, b)));
}

// Whether int64 are divided in double lanes: in vectors of two, emulated conversions take longer than two divisions.
template <class D> constexpr bool divides_in_doubles = hn::MaxLanes(D{}) >= 4;

// floor(a / b) and the remainder of int64, b != 0, in double lanes, and whether they are right: below 2^52 a quotient
// that is not whole is further below the next integer than the division rounds, and all else is exact.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V int64_quotient(D d, V a, V b, V& rest, bool& is_right) {
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<double, D> wide;
  const auto half = hn::Set(bits, std::uint64_t{1} << 52), range = hn::Set(bits, std::uint64_t{1} << 53);
  const auto is_small = [&](V x) HWY_ATTR { return hn::Lt(hn::Add(hn::BitCast(bits, x), half), range); };
  is_right = hn::AllTrue(bits, hn::And(is_small(a), is_small(b)));
  const auto p = hn::ConvertTo(wide, a), q = hn::ConvertTo(wide, b);
  const auto quotient = hn::Floor(hn::Div(p, q));
  rest = hn::ConvertTo(d, hn::Sub(p, hn::Mul(quotient, q)));
  return hn::ConvertTo(d, quotient);
}

// Floats: floor(a / b) of the rounded quotient. Integers: as floor_quotient.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V FloorDiv(D d, V a, V b) {
  if constexpr (hwy::IsFloat<T>()) {
    return FloorOf(d, hn::Div(a, b));
  } else if constexpr (sizeof(T) == 4) {
    const hn::Half<D> half;
    const V one = hn::Set(d, 1);
    const auto is_zero = hn::Eq(b, hn::Zero(d));
    const auto is_minus_one = hn::Eq(b, hn::Set(d, -1));
    const V by = hn::IfThenElse(is_minus_one, one, hn::IfThenElse(is_zero, one, b));
    const V q = hn::Combine(d, half_quotient(half, hn::UpperHalf(half, a), hn::UpperHalf(half, by)),
                            half_quotient(half, hn::LowerHalf(half, a), hn::LowerHalf(half, by)));
    return hn::IfThenElse(is_minus_one, hn::Neg(a), hn::IfThenZeroElse(is_zero, q));
  } else if constexpr (sizeof(T) == 1) {
    const hn::Half<D> half;
    const V by = hn::Max(b, hn::Set(d, 1));
    const V q = hn::Combine(d, half_quotient_of_bytes(half, hn::UpperHalf(half, a), hn::UpperHalf(half, by)),
                            half_quotient_of_bytes(half, hn::LowerHalf(half, a), hn::LowerHalf(half, by)));
    return hn::IfThenZeroElse(hn::Eq(b, hn::Zero(d)), q);
  } else {
    if constexpr (divides_in_doubles<D>) {
      V rest;
      bool is_right;
      const auto is_zero = hn::Eq(b, hn::Zero(d));
      const V q = int64_quotient(d, a, hn::IfThenElse(is_zero, hn::Set(d, 1), b), rest, is_right);
      if (HWY_LIKELY(is_right)) return hn::IfThenZeroElse(is_zero, q);
    }
    return lane_by_lane(d, a, b, floor_quotient{});
  }
}

// a - trunc(a / b) b of half a vector of float32, computed in double precision, and whether it is exact: below 2^27
// the quotient is right (it is at least 2^-24 away from an integer that it does not equal) and quotient times
// divisor takes at most 51 bits.
template <class H, class V, class M>
HWY_INLINE V half_remainder(H half, V a, V b, M& exact) {
  const hn::Rebind<double, H> wide;
  const auto p = hn::PromoteTo(wide, a), q = hn::PromoteTo(wide, b);
  const auto quotient = hn::Trunc(hn::Div(p, q));
  exact = hn::And(hn::Lt(hn::Abs(quotient), hn::Set(wide, 134217728.0)),
                  hn::Lt(hn::Abs(q), hn::Set(wide, std::numeric_limits<double>::infinity())));
  return hn::DemoteTo(half, hn::NegMulAdd(quotient, q, p));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V remainder_by_halves(D d, V a, V b, bool& is_exact) {
  const hn::Half<D> half;
  const hn::Rebind<double, hn::Half<D>> wide;
  hn::Mask<decltype(wide)> upper_exact, lower_exact;
  const auto upper = half_remainder(half, hn::UpperHalf(half, a), hn::UpperHalf(half, b), upper_exact);
  const auto lower = half_remainder(half, hn::LowerHalf(half, a), hn::LowerHalf(half, b), lower_exact);
  is_exact = hn::AllTrue(wide, hn::And(upper_exact, lower_exact));
  return hn::Combine(d, upper, lower);
}

// a - trunc(a / b) b in the operands' own lanes. Below `most`, which leaves it a bit behind the point, the rounded
// quotient is the right one or, from just below an integer, that integer: then the remainder is |b| too small, and
// adding |b| back is exact. The product is subtracted in two exact parts, which a splitting without FMA has of doubles
// up to 2^990 only.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V remainder_by_lanes(D d, V a, V b, bool& is_exact) {
  constexpr bool is_double = sizeof(hn::TFromD<D>) == 8;
  constexpr double most = is_double ? 0x1p52 : 0x1p23;
  constexpr double widest = is_double ? 0x1p990 : std::numeric_limits<double>::infinity();
  const V dividend = hn::Abs(a), divisor = hn::Abs(b);
  const V quotient = hn::Trunc(hn::Div(dividend, divisor));
  is_exact = hn::AllTrue(d, hn::And(hn::Lt(quotient, Constant(d, most)), hn::Lt(divisor, Constant(d, widest))));
  V r;
  if constexpr (is_double) {
    V rest;
    const V product = TwoProduct(d, quotient, divisor, rest);
    r = hn::Sub(hn::Sub(dividend, product), rest);
  } else {
    r = hn::NegMulAdd(quotient, divisor, dividend);
  }
  return hn::CopySign(hn::IfThenElse(hn::Lt(r, hn::Zero(d)), hn::Add(r, divisor), r), a);
}

// The exact remainder with the sign of a, as std::fmod.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V TruncatedMod(D d, V a, V b) {
  constexpr bool is_float = sizeof(hn::TFromD<D>) == 4;
  bool is_exact = false;
  V r;
  if constexpr (!is_float || HWY_NATIVE_FMA) r = remainder_by_lanes(d, a, b, is_exact);
  if constexpr (is_float) {
    if (HWY_UNLIKELY(!is_exact)) {
      const auto is_zero = hn::Eq(b, hn::Zero(d));
      r = remainder_by_halves(d, a, hn::IfThenElse(is_zero, hn::Set(d, 1), b), is_exact);
      r = hn::IfThenElse(is_zero, hn::Set(d, std::numeric_limits<float>::quiet_NaN()), r);
    }
  }
  if (HWY_LIKELY(is_exact)) return r;
  return lane_by_lane(d, a, b, truncated_remainder{});
}

// The remainder with the sign of b. Integers: as floor_remainder. Floats: exact up to one rounded addition of b where
// the signs differ, a zero result has the sign of b, and NaN comes from an infinite a, a zero b or a NaN: the rules
// of Python's %.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V FloorMod(D d, V a, V b) {
  if constexpr (hwy::IsFloat<T>()) {
    const V r = TruncatedMod(d, a, b);
    // IfNegativeThenElse of Highway 1.0.3 blends floats byte by byte, so the sign bits become a mask first.
    const hn::RebindToSigned<D> bits;
    const auto differ = hn::Lt(hn::BitCast(bits, hn::Xor(r, b)), hn::Zero(bits));
    const V adjusted = hn::IfThenElse(hn::RebindMask(d, differ), hn::Add(r, b), r);
    return hn::IfThenElse(hn::Eq(r, hn::Zero(d)), hn::CopySign(hn::Zero(d), b), adjusted);
  } else if constexpr (sizeof(T) <= 4) {
    const V r = hn::Sub(a, Product(d, FloorDiv(d, a, b), b));
    return hn::IfThenZeroElse(hn::Eq(b, hn::Zero(d)), r);
  } else {
    if constexpr (divides_in_doubles<D>) {
      V rest;
      bool is_right;
      const auto is_zero = hn::Eq(b, hn::Zero(d));
      int64_quotient(d, a, hn::IfThenElse(is_zero, hn::Set(d, 1), b), rest, is_right);
      if (HWY_LIKELY(is_right)) return hn::IfThenZeroElse(is_zero, rest);
    }
    return lane_by_lane(d, a, b, floor_remainder{});
  }
}

// The remainder with the sign of a. Integers: from that with the sign of b, from which it differs where the signs do.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V TruncatedRemainder(D d, V a, V b) {
  if constexpr (hwy::IsFloat<T>()) {
    return hn::CopySign(TruncatedMod(d, a, b), a);  // of zeros too
  } else {
    const V r = FloorMod(d, a, b);
    if constexpr (std::is_unsigned_v<T>) return r;
    const V zero = hn::Zero(d);
    return hn::IfThenElse(hn::And(hn::Ne(r, zero), hn::Lt(hn::Xor(a, b), zero)), hn::Sub(r, b), r);
  }
}

// a log(b), and 0 where a is 0 and b a number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Xlogy(D d, V a, V b) {
  const auto vanishes = hn::And(hn::Eq(a, hn::Zero(d)), hn::Eq(b, b));
  return hn::IfThenZeroElse(vanishes, hn::Mul(a, Log(d, b)));
}

// Whether an integer can be shifted by b bits.
template <class D, class V>
HWY_INLINE auto IsShift(D d, V b) {
  constexpr hn::TFromD<D> bits = sizeof(hn::TFromD<D>) * 8;
  return hn::And(hn::Gt(b, hn::Set(d, -1)), hn::Lt(b, hn::Set(d, bits)));
}
// a 2^b, cut to the dtype; 0 where b is no shift.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V LeftShift(D d, V a, V b) {
  const auto is_shift = IsShift(d, b);
  return hn::IfThenElseZero(is_shift, hn::Shl(a, hn::IfThenElseZero(is_shift, b)));
}
// floor(a / 2^b); the sign everywhere where b is no shift.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V RightShift(D d, V a, V b) {
  constexpr hn::TFromD<D> last = sizeof(hn::TFromD<D>) * 8 - 1;
  return hn::Shr(a, hn::IfThenElse(IsShift(d, b), b, hn::Set(d, last)));
}

// The greater operand; NaN when one is NaN; of zeros (and of equal operands) the second.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Maximum(D, V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  else return hn::Max(a, b);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Minimum(D, V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  else return hn::Min(a, b);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V SquaredDifference(D d, V a, V b) {
  const V difference = hn::Sub(a, b);
  return Product(d, difference, difference);
}

// a to the power b. Integers: repeated squaring with wrap-around; a negative exponent gives 0 except for the bases
// 1 and -1 (0 to a negative power is 0, too).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Power(D d, V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    return Pow(d, a, b);
  } else {
    const V zero = hn::Zero(d), one = hn::Set(d, 1);
    const auto negative = hn::Lt(b, zero);
    // The bases 1 and -1 depend on the exponent's parity only, others vanish.
    const auto unit = hn::Or(hn::Eq(a, one), hn::Eq(a, hn::Set(d, -1)));
    V exponent = hn::IfThenElse(negative, hn::And(b, one), b);
    V base = hn::IfThenElse(hn::And(negative, hn::Not(unit)), zero, a);
    V power = hn::IfThenElse(hn::And(negative, hn::Not(unit)), zero, one);
    while (!hn::AllTrue(d, hn::Eq(exponent, zero))) {
      const auto odd = hn::Ne(hn::And(exponent, one), zero);
      power = hn::IfThenElse(odd, Product(d, power, base), power);
      base = Product(d, base, base);
      exponent = hn::ShiftRight<1>(exponent);
    }
    return power;
  }
}

// The gradient of Relu from its result y: dy where y > 0, 0 elsewhere.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ReluGrad(D d, V dy, V y) {
  return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), dy);
}

// The gradient of Elu from its result y: dy where y >= 0, dy (y + 1) elsewhere.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V EluGrad(D d, V dy, V y) {
  return hn::IfThenElse(hn::Ge(y, hn::Zero(d)), dy, hn::Mul(dy, hn::Add(y, hn::Set(d, 1))));
}

// a >= b; Highway has Ge for floats only, and Not(Lt) is wrong for NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto NotLess(D, V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::Ge(a, b);
  else return hn::Not(hn::Lt(a, b));
}

// One quotient of complex numbers in double precision, where nothing over- or underflows, rounded once per part.
// Division by zero gives NaN in both parts.
struct complex_quotient {
  std::int64_t operator()(std::int64_t left, std::int64_t right) const {
    float a[2], b[2], y[2];
    std::memcpy(a, &left, sizeof a);
    std::memcpy(b, &right, sizeof b);
    const double ar = a[0], ai = a[1], br = b[0], bi = b[1];
    const double scale = br * br + bi * bi;
    y[0] = static_cast<float>((ar * br + ai * bi) / scale);
    y[1] = static_cast<float>((ai * br - ar * bi) / scale);
    std::int64_t bits;
    std::memcpy(&bits, y, sizeof bits);
    return bits;
  }
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ComplexQuotient(D d, V a, V b) {
  const hn::Repartition<std::int64_t, D> wide;
  return hn::BitCast(d, lane_by_lane(wide, hn::BitCast(wide, a), hn::BitCast(wide, b), complex_quotient{}));
}

// Complex numbers are equal when both parts are; d has one 64-bit lane per number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto ComplexEqual(D d, V a, V b) {
  const hn::Repartition<float, D> parts;
  const auto same = hn::Eq(hn::BitCast(parts, a), hn::BitCast(parts, b));
  return hn::Eq(hn::BitCast(d, hn::VecFromMask(parts, same)), hn::Set(d, -1));
}

// Less than a vector of a short map is done at once: the loop for any length saves registers that this does not need.
template <class T, class Map>
HWY_INLINE void flat_of_any_length(Map map, const void* a, const void* b, void* y, std::size_t n) {
  if constexpr (Map::is_short && masked_memory<T>() && !KG_EMULATED) {
    using result = typename Map::result;
    const hn::ScalableTag<T> d;
    if (n < hn::Lanes(d)) {
      if (n == 0) return;
      const auto left = load_first(d, static_cast<const T*>(a), n), right = load_first(d, static_cast<const T*>(b), n);
      return result::put_first(d, map(d, left, right), static_cast<typename result::template type<decltype(d)>*>(y), n);
    }
  }
  flat2<T>(map, a, b, y, n);
}

// One map per line of the list.
#define KG_MAP(Map, base, expression)                                  \
  struct Map : base {                                                  \
    template <class D, class V>                                        \
    HWY_INLINE auto operator()([[maybe_unused]] D d, V a, V b) const { \
      return expression;                                               \
    }                                                                  \
  };
#define KG_BINARY(Name, types, expression) KG_MAP(Name##_map, short_map, expression)
#define KG_BINARY_LONG(Name, types, expression) KG_MAP(Name##_map, long_map, expression)
#define KG_COMPARE(Name, types, expression) KG_MAP(Name##_map, short_test, expression)
#define KG_COMPARE_COMPLEX(Name, types, expression) KG_MAP(Name##_complex_map, short_test, expression)
#define KG_BINARY_COMPLEX(Name, types, expression)                                     \
  struct Name##_complex_map : short_map {                                              \
    template <class W, class V>                                                        \
    HWY_INLINE V operator()(W wide, V left, V right) const {                           \
      const hn::Repartition<float, W> d;                                               \
      return hn::BitCast(wide, value(d, hn::BitCast(d, left), hn::BitCast(d, right))); \
    }                                                                                  \
    template <class D, class V>                                                        \
    static HWY_INLINE V value([[maybe_unused]] D d, V a, V b) {                        \
      return expression;                                                               \
    }                                                                                  \
  };
#include "kernels/elementwise/binary.inc"

// One pair of entries per line and dtype.
#define KG_BINARY(Name, types, expression) types(KG_DEFINE, Name)
#define KG_BINARY_COMPLEX(Name, types, expression) types(KG_DEFINE_COMPLEX, Name)
#define KG_COMPARE_COMPLEX KG_BINARY_COMPLEX
#define KG_DEFINE(Name, type) KG_DEFINE_MAP(Name, type, Name##_map)
#define KG_DEFINE_COMPLEX(Name, type) KG_DEFINE_MAP(Name, type, Name##_complex_map)
#define KG_DEFINE_MAP(Name, type, map)                                                            \
  void Name##_##type(const void* a, const void* b, void* y, std::size_t n) {                      \
    flat_of_any_length<lane_t<dtype::type>>(map{}, a, b, y, n);                                   \
  }                                                                                               \
  void Name##_##type##_broadcast(const void* const* in, void* const* out, const void* geometry) { \
    broadcast2<lane_t<dtype::type>, map>(in, out, geometry);                                      \
  }
#include "kernels/elementwise/binary.inc"

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

#define KG_BINARY(Name, types, expression) types(KG_DISPATCH, Name)
#define KG_DISPATCH(Name, type)                                                                   \
  KG_TARGETS_OF(Name##_##type);                                                                   \
  KG_TARGETS_OF(Name##_##type##_broadcast);                                                       \
  void Name##_##type(const void* a, const void* b, void* y, std::size_t n) {                      \
    KG_ON_TARGET(Name##_##type)(a, b, y, n);                                                      \
  }                                                                                               \
  void Name##_##type##_broadcast(const void* const* in, void* const* out, const void* geometry) { \
    KG_ON_TARGET(Name##_##type##_broadcast)(in, out, geometry);                                   \
  }
#include "kernels/elementwise/binary.inc"

}  // namespace kerngrad::kernels
#endif
