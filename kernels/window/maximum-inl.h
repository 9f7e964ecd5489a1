// SPDX-License-Identifier: Apache-2.0
// Maxima that ignore NaN and keep the first of equal elements, once per target.
#if defined(KERNGRAD_KERNELS_MAXIMUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_MAXIMUM_INL_H_
#undef KERNGRAD_KERNELS_MAXIMUM_INL_H_
#else
#define KERNGRAD_KERNELS_MAXIMUM_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernels/common/target-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// The value below every other: what an empty maximum is.
template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}

/// x where it is larger, else best: also where x is NaN or a zero of the other sign.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V larger_of(D, V best, V x) {
#if KG_MAX_GIVES_SECOND
  return hn::Max(x, best);  // gives the second of its operands unless the first is larger
#else
  return hn::IfThenElse(hn::Gt(x, best), x, best);
#endif
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
