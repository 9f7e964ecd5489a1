// SPDX-License-Identifier: Apache-2.0
// Each pair goes to the place that the number of keys before it says: quadratic, without branches on keys.
#include "kernels/rank/rank.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rank/rank.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// How many of `count` keys are less than `key`, or equal to it where that counts; a key that is NaN comes after all.
template <class T>
HWY_INLINE std::size_t keys_before(const T* keys, std::size_t count, T key, bool equal_too) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto wanted = hn::Set(d, key);
  std::size_t found = 0, i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto x = hn::LoadU(d, keys + i);
    const auto less = hn::Lt(x, wanted);
    found += hn::CountTrue(d, equal_too ? hn::Or(less, hn::Eq(x, wanted)) : less);
    if (key != key) found += hn::CountTrue(d, hn::Eq(x, x));
  }
  for (; i < count; ++i)
    found += keys[i] < key || (equal_too && keys[i] == key) || (key != key && keys[i] == keys[i]) ? 1 : 0;
  return found;
}

template <class T>
HWY_INLINE void sort_pairs(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const rank_geometry*>(geometry);
  const auto count = static_cast<std::size_t>(g.count);
  for (std::int64_t row = 0; row < g.outer; ++row) {
    const T* keys = static_cast<const T*>(in[0]) + row * g.count;
    const T* values = static_cast<const T*>(in[1]) + row * g.count;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t nans = 0;
      if (keys[i] != keys[i])
        for (std::size_t j = 0; j < i; ++j) nans += keys[j] != keys[j] ? 1 : 0;
      const std::size_t to = static_cast<std::size_t>(row * g.count) + nans + keys_before(keys, i, keys[i], true) +
                             keys_before(keys + i + 1, count - i - 1, keys[i], false);
      static_cast<T*>(out[0])[to] = keys[i];
      static_cast<T*>(out[1])[to] = values[i];
    }
  }
}

#define KG_DEFINE(Name, type) KG_DEFINE_KERNEL(Name, type, sort_pairs<storage_t<dtype::type>>(in, out, geometry))
KG_FLOATS(KG_DEFINE, SortPairs)
#undef KG_DEFINE

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_FLOATS(KG_DISPATCH_KERNEL, SortPairs)

}  // namespace kerngrad::kernels
#endif
