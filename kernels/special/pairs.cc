// SPDX-License-Identifier: Apache-2.0
// Special functions of two and three operands: float lanes are computed in double. Reference:
// kernels/special/reference_pairs.cc.
#include "kernels/special/pairs.h"

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/special/pairs.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/maps-inl.h"
#include "kernels/special/incomplete-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// betainc in double lanes; float lanes go by halves.
struct betainc_map : long_map {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V a, V b, V x) const {
    const betainc_in_double f{term_precision<D>};
    if constexpr (!is_float32<D>) {
      return f(d, a, b, x);
    } else if constexpr (needs_two<D>) {
      const hn::RepartitionToWide<D> dd;
      const hn::Half<D> dh;
      const auto lower = [&](V v) HWY_ATTR { return hn::PromoteTo(dd, hn::LowerHalf(dh, v)); };
      const auto upper = [&](V v) HWY_ATTR { return hn::PromoteTo(dd, hn::UpperHalf(dh, v)); };
      const auto first = f(dd, lower(a), lower(b), lower(x)), second = f(dd, upper(a), upper(b), upper(x));
      return hn::Combine(d, Narrow(dh, dd, second), Narrow(dh, dd, first));
    } else {
      const hn::Rebind<double, D> dd;
      return Narrow(d, dd, f(dd, hn::PromoteTo(dd, a), hn::PromoteTo(dd, b), hn::PromoteTo(dd, x)));
    }
  }
};

template <dtype Type, class T = lane_t<Type>>
void Betainc(const broadcast_geometry& g, const T* a, const T* b, const T* x, T* y) {
  const int last = g.rank - 1;
  const std::size_t n = static_cast<std::size_t>(g.dims[last]);
  spread<T> a_value, b_value, x_value;
  for_rows<3>(g, [&](const std::int64_t* offsets, std::int64_t start) HWY_ATTR {
    map_array<T>(betainc_map(), y + start, n, a_value.row(a + offsets[0], g.strides[0][last] != 0),
                 b_value.row(b + offsets[1], g.strides[1][last] != 0),
                 x_value.row(x + offsets[2], g.strides[2][last] != 0));
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_TRIPLE_KERNELS)
KG_PAIR_KERNELS(KG_DEFINE_MAP2)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_PAIR_KERNELS(KG_DISPATCH_MAP2)
KG_DISPATCH_KERNELS(KG_TRIPLE_KERNELS)

}  // namespace kerngrad::kernels
#endif
