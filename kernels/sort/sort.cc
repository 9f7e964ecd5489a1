// SPDX-License-Identifier: Apache-2.0
// Sort and ArgSort: elements become keys in order, which are sorted without and with their indices.
#include "kernels/sort/sort.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/common/scratch.h"
#include "kernels/common/keys.h"
#include "kernels/sort/rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sort/sort.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

// Turns the order of keys round, or leaves it.
template <class Key>
HWY_INLINE Key turned(bool descending) {
  return descending ? static_cast<Key>(~Key{0}) : Key{0};
}

// Bytes and booleans are counted.
template <dtype Type, class T>
HWY_INLINE void sort_bytes(const T* x, T* y, std::size_t count, bool descending) {
  std::size_t found[256] = {};
  for (std::size_t i = 0; i < count; ++i) ++found[key_order<Type>::template of<zeros::apart>(x[i])];
  for (std::size_t i = 0; i < 256; ++i) {
    const std::size_t value = descending ? 255 - i : i;
    y = std::fill_n(y, found[value], static_cast<T>(value));
  }
}

// Sorts the keys of a row in place of its elements. `turn` inverts their signs, as sort_keys wants it.
template <dtype Type, class T, class Key>
HWY_INLINE void sort_row(const T* x, T* y, std::size_t count, Key turn) {
  using order = key_order<Type>;
  static_assert(sizeof(T) == sizeof(Key));
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = order::template of<zeros::apart>(x[i]) ^ turn;
    std::memcpy(y + i, &key, sizeof key);
  }
  sort_keys(reinterpret_cast<std::make_signed_t<Key>*>(y), count);
  for (std::size_t i = 0; i < count; ++i) {
    Key key;
    std::memcpy(&key, y + i, sizeof key);
    y[i] = order::to(key ^ turn);
  }
}

/// Sort. Exact. Reference: kernels/sort/reference_sort.cc.
template <dtype Type, class T = storage_t<Type>>
HWY_INLINE void Sort(const sort_geometry& g, const T* x, T* y) {
  using Key = typename key_order<Type>::key;
  const auto count = static_cast<std::size_t>(g.count);
  [[maybe_unused]] const Key turn = turned<Key>(g.descending) ^ key_order<Type>::sign;
  in_chunks_of_rows(g.rows, g.count, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * g.count;
      if constexpr (sizeof(T) == 1) sort_bytes<Type>(x + at, y + at, count, g.descending);
      else sort_row<Type>(x + at, y + at, count, turn);
    }
  });
}

/// ArgSort. Exact. Reference: kernels/sort/reference_sort.cc.
template <dtype Type, class T = storage_t<Type>>
HWY_INLINE void ArgSort(const sort_geometry& g, const T* x, std::int32_t* y) {
  using order = key_order<Type>;
  using Key = typename order::key;
  using Pair = index_pair<Key>;
  const auto count = static_cast<std::size_t>(g.count);
  const Key turn = turned<Key>(g.descending);
  in_chunks_of_rows(g.rows, g.count, [&](std::int64_t begin, std::int64_t end) HWY_ATTR {
    scratch<Pair> room(g.count), spare(g.count);
    for (std::int64_t row = begin; row < end; ++row) {
      const T* row_x = x + row * g.count;
      std::int32_t* row_y = y + row * g.count;
      Pair* pairs = room.data();
      for (std::size_t i = 0; i < count; ++i) pairs[i] = paired(order::template of<zeros::equal>(row_x[i]) ^ turn, i);
      const Pair* sorted = sort_key_pairs(pairs, spare.data(), count);
      for (std::size_t i = 0; i < count; ++i) row_y[i] = static_cast<std::int32_t>(index_of(sorted[i]));
    }
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_SORT_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_SORT_KERNELS)

}  // namespace kerngrad::kernels
#endif
