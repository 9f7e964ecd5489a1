// SPDX-License-Identifier: Apache-2.0
// Each pair goes to the place that the number of keys before it says: quadratic, without branches on keys.
#include "kernels/rank/rank.h"

// Highway includes this file again for each CPU target. Each pass sees other vectors and another HWY_NAMESPACE, such as
// N_AVX2. The macros below must stand before highway.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rank/rank.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

// From here to HWY_AFTER_NAMESPACE the compiler may use the instructions of the target. Only functions in between can
// inline vector code.
HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

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

// The kernel of the list's name, for any of its dtypes: geometry, operands, results.
template <dtype Type, class T = storage_t<Type>>
HWY_INLINE void SortPairs(const rank_geometry& g, const T* keys, const T* values, T* sorted_keys, T* sorted_values) {
  const auto count = static_cast<std::size_t>(g.count);
  for (std::int64_t row = 0; row < g.outer; ++row, keys += g.count, values += g.count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t nans = 0;
      if (keys[i] != keys[i])
        for (std::size_t j = 0; j < i; ++j) nans += keys[j] != keys[j] ? 1 : 0;
      const std::size_t to = static_cast<std::size_t>(row * g.count) + nans + keys_before(keys, i, keys[i], true) +
                             keys_before(keys + i + 1, count - i - 1, keys[i], false);
      sorted_keys[to] = keys[i];
      sorted_values[to] = values[i];
    }
  }
}

}  // namespace

// Defines the entry points of this target, functions with the signature run_fn that call the kernel.
KG_DEFINE_KERNELS(KG_RANK_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// The last pass has seen all targets.
#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

// Defines the entry points that the header declares. They jump to those of the CPU's best target.
KG_DISPATCH_KERNELS(KG_RANK_KERNELS)

}  // namespace kerngrad::kernels
#endif
