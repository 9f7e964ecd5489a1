// SPDX-License-Identifier: Apache-2.0
// Walking the channels of an image in vectors. Private to kernels/; included once per target.
#if defined(KERNGRAD_KERNELS_WINDOW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_WINDOW_INL_H_
#undef KERNGRAD_KERNELS_WINDOW_INL_H_
#else
#define KERNGRAD_KERNELS_WINDOW_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Runs op(tag, channel) over all channels: whole vectors, then 256-bit and 128-bit vectors, then single ones. Every
/// channel is visited once, and its result does not depend on the width it is computed with.
template <class T, class Op>
HWY_INLINE void for_channels(std::ptrdiff_t channels, const Op& op) {
  const hn::ScalableTag<T> whole;
  const hn::CappedTag<T, 32 / sizeof(T)> half;
  const hn::CappedTag<T, 16 / sizeof(T)> part;
  const hn::CappedTag<T, 1> one;
  const auto step = static_cast<std::ptrdiff_t>(hn::Lanes(whole));
  const auto middle = static_cast<std::ptrdiff_t>(hn::Lanes(half));
  const auto small = static_cast<std::ptrdiff_t>(hn::Lanes(part));
  std::ptrdiff_t c = 0;
  for (; c + step <= channels; c += step) op(whole, c);
  if constexpr (hn::MaxLanes(half) < hn::MaxLanes(whole)) {
    if (c + middle <= channels) {
      op(half, c);
      c += middle;
    }
  }
  for (; c + small <= channels; c += small) op(part, c);
  for (; c < channels; ++c) op(one, c);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
