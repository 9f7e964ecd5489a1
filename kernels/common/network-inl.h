// SPDX-License-Identifier: Apache-2.0
// Sorts up to 16 vectors of keys in registers: the columns by a network, which bitonic merges then join pair by pair.
#if defined(KERNGRAD_KERNELS_NETWORK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_NETWORK_INL_H_
#undef KERNGRAD_KERNELS_NETWORK_INL_H_
#else
#define KERNGRAD_KERNELS_NETWORK_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of a network, each a vector of `columns` keys.
constexpr int network_rows = 16;
template <class D> using rows_of = vectors<hn::Vec<D>, network_rows>;

/// The comparators of Batcher's merge exchange for 16 inputs (Knuth, The Art of Computer Programming, volume 3, 5.2.2,
/// algorithm M).
struct comparator {
  int low, high;
};
constexpr std::size_t comparators_of_column = 63;
constexpr auto comparators = [] {
  std::array<comparator, comparators_of_column> all{};
  std::size_t found = 0;
  for (int p = network_rows / 2; p > 0; p /= 2)
    for (int q = network_rows / 2, r = 0, distance = p;; distance = q - p, q /= 2, r = p) {
      for (int i = 0; i + distance < network_rows; ++i)
        if ((i & p) == r) all[found++] = {i, i + distance};
      if (q == p) break;
    }
  return all;
}();
static_assert(comparators.back().high != 0);

template <class D, std::size_t... kAt>
HWY_INLINE void SortColumns(D, const rows_of<D>& rows, std::index_sequence<kAt...>) {
  const auto exchange = [&](hn::Vec<D>& low, hn::Vec<D>& high) KG_INLINED {
    const auto a = low, b = high;
    low = hn::Min(a, b);
    high = hn::Max(a, b);
  };
  (exchange(rows[comparators[kAt].low], rows[comparators[kAt].high]), ...);
}

/// Reverses each group of kGroup lanes of the kColumns that there are.
template <std::size_t kGroup, std::size_t kColumns, class D, class V = hn::Vec<D>>
HWY_INLINE V ReverseGroups(D d, V v) {
  if constexpr (kGroup == 2) return hn::Reverse2(d, v);
  else if constexpr (kGroup == kColumns) return hn::Reverse(d, v);
  else if constexpr (kGroup == 4) return hn::Reverse4(d, v);
  else return hn::Reverse8(d, v);
}

/// Swaps lanes whose indices differ by kDistance, a power of two.
template <std::size_t kDistance, class D, class V = hn::Vec<D>>
HWY_INLINE V SwapLanes(D d, V v) {
  constexpr std::size_t bytes = kDistance * sizeof(hn::TFromD<D>);
  if constexpr (kDistance == 1) {
    return hn::Reverse2(d, v);
  } else if constexpr (bytes == 8) {
    const hn::Repartition<std::uint64_t, D> pairs;
    return hn::BitCast(d, hn::Reverse2(pairs, hn::BitCast(pairs, v)));
  } else if constexpr (bytes == 16) {
    return hn::SwapAdjacentBlocks(v);
  } else {
    return hn::ConcatLowerUpper(d, v, v);
  }
}

/// The lanes of `high` with kDistance in their index, the other lanes of `low`.
template <std::size_t kDistance, class D, class V = hn::Vec<D>>
HWY_INLINE V ChooseLanes(D d, V high, V low) {
  constexpr std::size_t bytes = kDistance * sizeof(hn::TFromD<D>);
  if constexpr (kDistance == 1) {
    return hn::OddEven(high, low);
  } else if constexpr (bytes == 8) {
    const hn::Repartition<std::uint64_t, D> pairs;
    return hn::BitCast(d, hn::OddEven(hn::BitCast(pairs, high), hn::BitCast(pairs, low)));
  } else if constexpr (bytes == 16) {
    return hn::OddEvenBlocks(high, low);
  } else {
    return hn::ConcatUpperLower(d, high, low);
  }
}

/// Sorts each group of 2 kDistance lanes, which is bitonic.
template <std::size_t kDistance, class D, class V = hn::Vec<D>>
HWY_INLINE V MergeLanes(D d, V v) {
  if constexpr (kDistance == 0) {
    return v;
  } else {
    const V other = SwapLanes<kDistance>(d, v);
    return MergeLanes<kDistance / 2>(d, ChooseLanes<kDistance>(d, hn::Max(v, other), hn::Min(v, other)));
  }
}

/// Sorts kSpan rows in each group of kGroup lanes, which are bitonic: the sequence goes forward in the lower half of
/// the lanes, row by row, and from its middle on backward through the upper half. So an element and the one half a
/// sequence after it are in rows and lanes that mirror each other. Gives the rows in their new order.
template <std::size_t kGroup, std::size_t kColumns, int kSpan, class D, class V = hn::Vec<D>>
HWY_INLINE vectors<V, kSpan> MergeRows(D d, vectors<V, kSpan> rows) {
  if constexpr (kSpan == 1) {
    const V v = rows[0], other = ReverseGroups<kGroup, kColumns>(d, v);
    rows[0] = MergeLanes<kGroup / 4>(d, ChooseLanes<kGroup / 2>(d, hn::Max(v, other), hn::Min(v, other)));
  } else {
    constexpr int half = kSpan / 2;
    vectors<V, half> low, high;
#pragma clang loop unroll(full)
    for (int i = 0; i < half; ++i) {
      low.at[i] = rows.at[i];
      high.at[i] = rows.at[kSpan - 1 - i];
      const V v = low[i], other = ReverseGroups<kGroup, kColumns>(d, high[i]);
      low[i] = hn::Min(v, other);
      high[i] = hn::Max(v, other);
    }
    low = MergeRows<kGroup, kColumns, half>(d, low);
    high = MergeRows<kGroup, kColumns, half>(d, high);
#pragma clang loop unroll(full)
    for (int i = 0; i < half; ++i) {
      rows.at[i] = low.at[i];
      rows.at[half + i] = high.at[i];
    }
  }
  return rows;
}

template <std::size_t kGroup, std::size_t kColumns, class D>
HWY_INLINE rows_of<D> MergeColumns(D d, rows_of<D> rows) {
  if constexpr (kGroup > kColumns) return rows;
  else return MergeColumns<2 * kGroup, kColumns>(d, MergeRows<kGroup, kColumns, network_rows>(d, rows));
}

/// Sorts 16 * kColumns keys; vectors have that many lanes.
template <std::size_t kColumns, class Key>
HWY_NOINLINE void SortNetwork(Key* keys) {
  using D = hn::CappedTag<Key, kColumns>;
  const D d;
  with_vectors<network_rows>(d, [&](rows_of<D> rows) KG_INLINED {
#pragma clang loop unroll(full)
    for (int i = 0; i < network_rows; ++i) rows[i] = hn::LoadU(d, keys + static_cast<std::size_t>(i) * kColumns);
    SortColumns(d, rows, std::make_index_sequence<comparators_of_column>());
    rows = MergeColumns<2, kColumns>(d, rows);
#pragma clang loop unroll(full)
    for (int i = 0; i < network_rows; ++i) hn::StoreU(rows[i], d, keys + static_cast<std::size_t>(i) * kColumns);
  });
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // KERNGRAD_KERNELS_NETWORK_INL_H_
