// SPDX-License-Identifier: Apache-2.0
// Dispatch by Highway alone: the same loop for every target, and HWY_DYNAMIC_DISPATCH.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/engine/dispatch_by_hand.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

struct sum_by_hand : short_map {
  template <class D, class V>
  HWY_INLINE auto operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};
void add_by_hand(const float* a, const float* b, float* y, std::size_t n) { flat2<float>(sum_by_hand{}, a, b, y, n); }

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {
HWY_EXPORT(add_by_hand);

extern "C" void choose_by_hand(const float* a, const float* b, float* y, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_by_hand)(a, b, y, n);
}
extern "C" void by_hand(const float* a, const float* b, float* y, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_by_hand)(a, b, y, n);
}

}  // namespace kerngrad::kernels
#endif
