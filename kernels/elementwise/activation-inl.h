// SPDX-License-Identifier: Apache-2.0
// The activations that are a comparison or two on vectors, once per target: kernels of their own and ends of the fused
// layers.
#if defined(KERNGRAD_KERNELS_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_ACTIVATION_INL_H_
#undef KERNGRAD_KERNELS_ACTIVATION_INL_H_
#else
#define KERNGRAD_KERNELS_ACTIVATION_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 0 where x < 0, else x: NaN and -0 pass.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Relu([[maybe_unused]] D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) return x;
  else return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Relu6(D d, V x) {
  const V six = hn::Set(d, 6);
  return hn::IfThenElse(hn::Gt(x, six), six, Relu(d, x));
}

// x where it is not below 0, alpha x elsewhere.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Prelu(D d, V x, V alpha) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(alpha, x), x);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
