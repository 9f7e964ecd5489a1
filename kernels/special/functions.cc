// SPDX-License-Identifier: Apache-2.0
// Special functions of one operand: float lanes are computed in double. Reference:
// kernels/special/reference_functions.cc.
#include "kernels/special/functions.h"

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/special/functions.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/maps-inl.h"
#include "kernels/special/bessel-inl.h"
#include "kernels/special/gamma-inl.h"
#include "kernels/special/integral-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

// The polynomial of the order is made once for all elements; the map refers to it.
struct polygamma_map : long_map {
  const polygamma_in_double& f;
  explicit polygamma_map(const polygamma_in_double& of) : f(of) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return AsDouble(d, x, [&](auto dd, auto v) HWY_ATTR { return f(dd, v); });
  }
};
struct digamma_map : long_map {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return Digamma(d, x);
  }
};

template <dtype Type, class T = lane_t<Type>>
void Polygamma(const unary_geometry& g, const T* x, T* y) {
  const int order = static_cast<int>(g.params[0]);
  const std::size_t n = static_cast<std::size_t>(g.count);
  if (order == 0) return flat1<T>(digamma_map(), x, y, n);
  const polygamma_in_double f(order);
  flat1<T>(polygamma_map(f), x, y, n);
}

}  // namespace

KG_FUNCTION_KERNELS(KG_DEFINE_MAP1)
KG_DEFINE_KERNELS(KG_ORDER_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_FUNCTION_KERNELS(KG_DISPATCH_MAP1)
KG_DISPATCH_KERNELS(KG_ORDER_KERNELS)

}  // namespace kerngrad::kernels
#endif
