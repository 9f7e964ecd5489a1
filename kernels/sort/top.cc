// SPDX-License-Identifier: Apache-2.0
// TopK: a bound that k elements of a row reach leaves few elements to sort.
#include "kernels/sort/top.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/common/scratch.h"
#include "kernels/common/keys.h"
#include "kernels/sort/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sort/top.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Scratch memory for the rows of a chunk.
template <class Key>
struct top_room {
  scratch<Key> keys;
  scratch<std::make_signed_t<Key>> least;
  scratch<index_pair<Key>> pairs, spare;
};

// The minimum of each group, with its sign inverted, as sort_keys wants it. Key i belongs to group i mod `groups`,
// which is a multiple of four vectors.
template <class Key>
HWY_INLINE void least_of_groups(const Key* HWY_RESTRICT keys, std::size_t count, std::size_t groups,
                                std::make_signed_t<Key>* HWY_RESTRICT least) {
  const hn::ScalableTag<Key> d;
  const hn::RebindToSigned<decltype(d)> numbers;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t g = 0; g < groups; g += 4 * lanes) {
    const Key* from = keys + g;
    auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + lanes);
    auto c = hn::LoadU(d, from + 2 * lanes), e = hn::LoadU(d, from + 3 * lanes);
    for (std::size_t i = groups; i + groups <= count; i += groups) {
      a = hn::Min(a, hn::LoadU(d, from + i));
      b = hn::Min(b, hn::LoadU(d, from + i + lanes));
      c = hn::Min(c, hn::LoadU(d, from + i + 2 * lanes));
      e = hn::Min(e, hn::LoadU(d, from + i + 3 * lanes));
    }
    const auto store = [&](hn::Vec<decltype(d)> v, std::size_t at) HWY_ATTR {
      hn::StoreU(hn::BitCast(numbers, hn::Xor(v, hn::SignBit(d))), numbers, least + at);
    };
    store(a, g);
    store(b, g + lanes);
    store(c, g + 2 * lanes);
    store(e, g + 3 * lanes);
  }
}

// Pairs keys that are not above the bound with their indices, in order. Returns the number of pairs.
template <class Key>
HWY_INLINE std::size_t pairs_within(const Key* HWY_RESTRICT keys, std::size_t count, Key bound,
                                    index_pair<Key>* HWY_RESTRICT pairs) {
  const hn::ScalableTag<Key> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto most = hn::Set(d, bound);
  std::size_t found = 0, i = 0;
  const auto look_at = [&](std::size_t end) HWY_ATTR {
    for (; i < end; ++i) {
      pairs[found] = paired(keys[i], i);
      found += keys[i] <= bound ? 1 : 0;
    }
  };
  while (i + lanes <= count) {
    if (hn::AllTrue(d, hn::Lt(most, hn::LoadU(d, keys + i)))) i += lanes;
    else look_at(i + lanes);
  }
  look_at(count);
  return found;
}

// The k first of a row in descending order. If k is small compared with the row, elements are dealt to groups: k of
// their leading elements are at least as far in front as the k-th of these leaders, so that what lies after it is not
// among the k first. For random elements, little more than k is left if there are three times as many groups.
template <dtype Type>
HWY_INLINE void top_of_row(const storage_t<Type>* x, std::int64_t count, std::int64_t k, storage_t<Type>* values,
                           std::int32_t* indices, top_room<typename key_order<Type>::key>& room) {
  using order = key_order<Type>;
  using Key = typename order::key;
  using Pair = index_pair<Key>;
  const auto size = static_cast<std::size_t>(count);
  Key* HWY_RESTRICT keys = room.keys.reach(count);
  for (std::size_t i = 0; i < size; ++i) keys[i] = static_cast<Key>(~order::template of<zeros::equal>(x[i]));
  const auto strip = static_cast<std::int64_t>(4 * hn::Lanes(hn::ScalableTag<Key>()));
  const std::int64_t groups = k < count / 12 ? (3 * k + strip - 1) / strip * strip : count;
  Key bound = static_cast<Key>(~Key{0});
  if (groups <= count / 4) {
    auto* least = room.least.reach(groups);
    least_of_groups(keys, size, static_cast<std::size_t>(groups), least);
    sort_keys(least, static_cast<std::size_t>(groups));
    bound = static_cast<Key>(least[k - 1]) ^ order::sign;
  }
  Pair* pairs = room.pairs.reach(count);
  const std::size_t found = pairs_within(keys, size, bound, pairs);
  const Pair* sorted = sort_key_pairs(pairs, room.spare.reach(static_cast<std::int64_t>(found)), found);
  for (std::int64_t i = 0; i < k; ++i) {
    const std::uint32_t at = index_of(sorted[i]);
    if constexpr (Type == dtype::boolean) values[i] = x[at] != 0;
    else values[i] = x[at];
    indices[i] = static_cast<std::int32_t>(at);
  }
}

/// TopK. Exact. Reference: kernels/sort/reference_top.cc.
template <dtype Type, class T = storage_t<Type>>
HWY_INLINE void TopK(const top_geometry& g, const T* x, T* values, std::int32_t* indices) {
  if (g.k == 0) return;
  in_chunks_of_rows(g.rows, g.count, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    top_room<typename key_order<Type>::key> room;
    for (std::int64_t row = begin; row < end; ++row)
      top_of_row<Type>(x + row * g.count, g.count, g.k, values + row * g.k, indices + row * g.k, room);
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_TOP_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_TOP_KERNELS)

}  // namespace kerngrad::kernels
#endif
