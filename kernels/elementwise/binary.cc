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
#include "kernels/elementwise/maps-inl.h"
#include "kernels/elementwise/quotients-inl.h"
#include "kernels/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// a log(b), and 0 where a is 0 and b a number.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Xlogy(D d, V a, V b) {
  const auto vanishes = hn::And(hn::Eq(a, hn::Zero(d)), hn::Eq(b, b));
  return hn::IfThenZeroElse(vanishes, hn::Mul(a, Log(d, b)));
}

// True if an integer can be shifted by b bits.
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

// Kinds of the list that maps-inl.h lacks.
#define KG_MAP_COMPLEX_TEST(Name, parameters, expression)           \
  KG_MAP_OF(Name##_complex_map, short_test, parameters, expression) \
  KG_MAP_FOR_COMPLEX(Name##_map, Name##_complex_map)
KG_TYPED_CALL
KG_BINARY_KERNELS(KG_DEFINE_MAP2)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_BINARY_KERNELS(KG_DISPATCH_MAP2)

}  // namespace kerngrad::kernels
#endif
