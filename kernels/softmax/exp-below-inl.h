// SPDX-License-Identifier: Apache-2.0
// Exponentials of numbers less their maximum, for softmax and attention. Included once per target.
#if defined(KERNGRAD_KERNELS_EXP_BELOW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_EXP_BELOW_INL_H_
#undef KERNGRAD_KERNELS_EXP_BELOW_INL_H_
#else
#define KERNGRAD_KERNELS_EXP_BELOW_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// e^x for x <= 0 or NaN: Exp without its upper limit.
template <class D, class V>
HWY_INLINE V exp_below(D d, V x) {
  using constants = exp_constants<hn::TFromD<D>>;
  const V lowest = Constant(d, constants::lowest);
  V k, unused;
  const V r = ReduceExp(d, hn::IfThenElse(hn::Lt(x, lowest), lowest, x), k, unused);
  const V p = Polynomial(d, r, constants::p);
  return Scale(d, hn::Add(hn::MulAdd(hn::Mul(r, r), p, r), Constant(d, 1.0)), k);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
