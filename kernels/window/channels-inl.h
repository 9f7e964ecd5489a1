// SPDX-License-Identifier: Apache-2.0
// The channels of a pixel as vectors, once per target.
#if defined(KERNGRAD_KERNELS_CHANNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_CHANNELS_INL_H_
#undef KERNGRAD_KERNELS_CHANNELS_INL_H_
#else
#define KERNGRAD_KERNELS_CHANNELS_INL_H_
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// How the channels of a step are read and written: a whole vector, or the first lanes of one.
struct whole_vector {
  template <class D, class T>
  HWY_INLINE hn::Vec<D> load(D d, const T* p) const {
    return hn::LoadU(d, p);
  }
  template <class D, class V, class T>
  HWY_INLINE void store(D d, V v, T* p) const {
    hn::StoreU(v, d, p);
  }
};
struct first_lanes {
  std::size_t count;
  template <class D, class T>
  HWY_INLINE hn::Vec<D> load(D d, const T* p) const {
    return load_first(d, p, count);
  }
  template <class D, class V, class T>
  HWY_INLINE void store(D d, V v, T* p) const {
    store_first(d, v, p, count);
  }
};

/// Runs op(tag, access, channel) over all channels: whole vectors, then the first lanes of one where memory can be
/// masked, else 128-bit vectors and single channels. A channel's result does not depend on the width. Masked = false
/// is for sums in memory: a load waits long for a masked store to the same address.
template <class T, bool Masked = true, class Op>
HWY_INLINE void each_channels(std::ptrdiff_t channels, const Op& op) {
  const hn::ScalableTag<T> whole;
  const auto step = static_cast<std::ptrdiff_t>(hn::Lanes(whole));
  std::ptrdiff_t c = 0;
  for (; c + step <= channels; c += step) op(whole, whole_vector{}, c);
  if constexpr (Masked && masked_memory<T>()) {
    if (c < channels) op(whole, first_lanes{static_cast<std::size_t>(channels - c)}, c);
  } else {
    const hn::CappedTag<T, 16 / sizeof(T)> part;
    const hn::CappedTag<T, 1> one;
    const auto small = static_cast<std::ptrdiff_t>(hn::Lanes(part));
    for (; c + small <= channels; c += small) op(part, whole_vector{}, c);
    for (; c < channels; ++c) op(one, whole_vector{}, c);
  }
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
