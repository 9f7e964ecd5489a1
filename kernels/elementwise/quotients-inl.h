// SPDX-License-Identifier: Apache-2.0
// Quotients without their fractions, and remainders, once per target: of integers and of floats.
#if defined(KERNGRAD_KERNELS_QUOTIENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_QUOTIENTS_INL_H_
#undef KERNGRAD_KERNELS_QUOTIENTS_INL_H_
#else
#define KERNGRAD_KERNELS_QUOTIENTS_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/math/common-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

// True if int64 are divided in double lanes. In vectors of two, emulated conversions take longer than two divisions.
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

// From here on every float is whole.
template <class T> constexpr T first_whole = sizeof(T) == 8 ? T(0x1p53) : T(0x1p24);

// floor(a / b) of floats, as FloorDiv below has it, for what the vectors cannot do.
struct exact_floor_quotient {
  template <class T>
  T operator()(T a, T b) const {
    const T floor = std::floor(a / b);
    if (std::isinf(a) && b != 0) return std::numeric_limits<T>::quiet_NaN();
    if (!(std::fabs(floor) <= first_whole<T>)) return floor;
    const T rest = floor == 0 ? a : std::fma(-floor, b, a);
    return rest != 0 && std::signbit(rest) != std::signbit(b) ? floor - 1 : floor;
  }
};

// a - q b for q = floor(a / b) of the rounded quotient, |q| <= first_whole: rounded, with the sign of the exact
// difference. Without FMA the product of floats is exact in double; that of doubles in two parts, unless a splitting
// overflows: then `is_exact` is false.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V RestOfQuotient(D d, V a, V b, V q, bool& is_exact) {
#if HWY_NATIVE_FMA
  (void)d;
  is_exact = true;
  return hn::NegMulAdd(q, b, a);
#else
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    is_exact =
        hn::AllTrue(d, hn::And(hn::Lt(hn::Abs(b), hn::Set(d, 0x1p990)), hn::Lt(hn::Abs(a), hn::Set(d, 0x1p1020))));
    V error;
    const V product = TwoProduct(d, q, b, error);
    return hn::Sub(hn::Sub(a, product), error);
  } else {
    is_exact = true;
    const hn::Half<D> half;
    const hn::Rebind<double, hn::Half<D>> wide;
    const auto rest = [&](auto p, auto by, auto times) HWY_ATTR {
      const auto product = hn::Mul(hn::PromoteTo(wide, times), hn::PromoteTo(wide, by));
      return hn::DemoteTo(half, hn::Sub(hn::PromoteTo(wide, p), product));
    };
    return hn::Combine(d, rest(hn::UpperHalf(half, a), hn::UpperHalf(half, b), hn::UpperHalf(half, q)),
                       rest(hn::LowerHalf(half, a), hn::LowerHalf(half, b), hn::LowerHalf(half, q)));
  }
#endif
}

// Floats: floor(a / b) of the exact quotient up to first_whole, beyond it the rounded quotient; NaN of an infinite a,
// as its remainder is. A rounded quotient is at most whole where the exact one lies just below: then, and where a small
// quotient below 0 vanishes, a - floor b and b have different signs.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V FloatFloorDiv(D d, V a, V b) {
  const V floor = FloorOf(d, hn::Div(a, b));
  bool is_exact = true;
  const V zero = hn::Zero(d), product_rest = RestOfQuotient(d, a, b, floor, is_exact);
  if (HWY_UNLIKELY(!is_exact)) return lane_by_lane(d, a, b, exact_floor_quotient{});
  const V rest = hn::IfThenElse(hn::Eq(floor, zero), a, product_rest);  // also where b is infinite
  const auto is_too_large = hn::And(hn::Lt(hn::Xor(rest, hn::And(b, hn::SignBit(d))), zero),
                                    hn::Le(hn::Abs(floor), hn::Set(d, first_whole<T>)));
  const V q = hn::IfThenElse(is_too_large, hn::Sub(floor, hn::Set(d, 1)), floor);
  const auto has_no_rest = hn::And(hn::Eq(hn::Abs(a), hn::Set(d, std::numeric_limits<T>::infinity())), hn::Ne(b, zero));
  return hn::IfThenElse(has_no_rest, hn::Set(d, std::numeric_limits<T>::quiet_NaN()), q);
}

// Floats: as above. Integers: as floor_quotient.
template <class D, class V = hn::Vec<D>, class T = hn::TFromD<D>>
HWY_INLINE V FloorDiv(D d, V a, V b) {
  if constexpr (hwy::IsFloat<T>()) {
    return FloatFloorDiv(d, a, b);
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

// a - trunc(a / b) b in the operands' own lanes. Below `most`, which leaves it a bit after the point, the rounded
// quotient is the right one or, from just below an integer, that integer: then the remainder is |b| too small, and
// adding |b| back is exact. The product of doubles is subtracted in two exact parts, which a splitting without FMA has
// up to 2^990 only, and none has where the product overflows.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V remainder_by_lanes(D d, V a, V b, bool& is_exact) {
  constexpr bool is_double = sizeof(hn::TFromD<D>) == 8;
  constexpr double most = is_double ? 0x1p52 : 0x1p23;
  constexpr double widest = is_double ? 0x1p990 : std::numeric_limits<double>::infinity();
  const V dividend = hn::Abs(a), divisor = hn::Abs(b);
  const V quotient = hn::Trunc(hn::Div(dividend, divisor));
  auto fits = hn::And(hn::Lt(quotient, Constant(d, most)), hn::Lt(divisor, Constant(d, widest)));
  if constexpr (is_double) fits = hn::And(fits, hn::Lt(dividend, Constant(d, 0x1p1020)));
  is_exact = hn::AllTrue(d, fits);
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

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // KERNGRAD_KERNELS_QUOTIENTS_INL_H_
