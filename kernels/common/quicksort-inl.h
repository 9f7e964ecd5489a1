// SPDX-License-Identifier: Apache-2.0
// A quicksort of signed numbers. Both sides of a pivot are moved together in registers and stored as whole vectors.
// Stores of the lanes of a mask alone are microcode on some CPUs with AVX-512 (Zen 4: 13 times as long).
#if defined(KERNGRAD_KERNELS_QUICKSORT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_QUICKSORT_INL_H_
#undef KERNGRAD_KERNELS_QUICKSORT_INL_H_
#else
#define KERNGRAD_KERNELS_QUICKSORT_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/common/network-inl.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of keys: at most 64 bytes, as networks have 16 columns at most.
template <class Key>
using KeyTag = hn::CappedTag<Key, 64 / sizeof(Key)>;

template <std::size_t kColumns, class Key>
HWY_INLINE void SortColumnsInRoom(Key* keys, std::size_t count, std::size_t room) {
  constexpr std::size_t size = network_rows * kColumns;
  if (room >= size) {
    SortNetwork<kColumns>(keys);
    return;
  }
  alignas(64) Key padded[size];
  std::fill(std::copy_n(keys, count, padded), padded + size, std::numeric_limits<Key>::max());
  SortNetwork<kColumns>(padded);
  std::copy_n(padded, count, keys);
}

/// Sorts `count` keys, at most 16 vectors. Keys that are not less follow, `room` in all: a network may sort some of
/// them, too.
template <class Key>
HWY_INLINE void SortFew(Key* keys, std::size_t count, std::size_t room) {
  if (count < 2) return;
  const std::size_t columns = std::bit_ceil((count + network_rows - 1) / network_rows);
  if (columns == 1) return SortColumnsInRoom<1>(keys, count, room);
  if constexpr (hn::MaxLanes(KeyTag<Key>()) >= 2)
    if (columns == 2) return SortColumnsInRoom<2>(keys, count, room);
  if constexpr (hn::MaxLanes(KeyTag<Key>()) >= 4)
    if (columns == 4) return SortColumnsInRoom<4>(keys, count, room);
  if constexpr (hn::MaxLanes(KeyTag<Key>()) >= 8)
    if (columns == 8) return SortColumnsInRoom<8>(keys, count, room);
  if constexpr (hn::MaxLanes(KeyTag<Key>()) >= 16) SortColumnsInRoom<16>(keys, count, room);
}

/// Random numbers for pivots (Knuth's MMIX generator). Results do not depend on them: equal keys are the same.
struct pivot_numbers {
  std::uint64_t state;
  std::size_t below(std::size_t count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state >> 32) * count >> 32);
  }
};

/// The median of 16 keys, of 64 where there are many: of random runs of four. `alike` says that all these are equal.
template <class Key>
HWY_INLINE Key Pivot(const Key* keys, std::size_t count, pivot_numbers& random, bool& alike) {
  constexpr std::size_t run = 4, columns = 4, rows = network_rows;
  const bool many = count >= 64 * rows && hn::Lanes(KeyTag<Key>()) >= columns;
  const std::size_t size = many ? rows * columns : rows;
  alignas(64) Key samples[rows * columns];
  for (std::size_t i = 0; i < size; i += run) std::copy_n(keys + random.below(count - run), run, samples + i);
  if (many) SortNetwork<columns>(samples);
  else SortNetwork<1>(samples);
  alike = samples[0] == samples[size - 1];
  return samples[size / 2];
}

/// There is no other key. Reading all costs a fraction of dividing them; other keys end it soon.
template <class Key>
HWY_NOINLINE bool AllEqual(const Key* keys, std::size_t count, Key key) {
  const KeyTag<Key> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto wanted = hn::Set(d, key);
  for (std::size_t i = 0; i < count; i += lanes)
    if (!hn::AllTrue(d, hn::Eq(hn::LoadU(d, keys + std::min(i, count - lanes)), wanted))) return false;
  return true;
}

/// The keys between `left` and `right` are free to be written, or read already.
struct free_keys {
  std::size_t left, right;
};

/// Stores the keys of a vector that are not above the pivot at the left, the others at the right. At least two vectors
/// are free.
template <class D, class V = hn::Vec<D>, class Key = hn::TFromD<D>>
HWY_INLINE void StoreSides(D d, V v, V pivot, Key* HWY_RESTRICT keys, free_keys& free) {
  const auto above = hn::Gt(v, pivot);
  const std::size_t after_left = free.right - hn::Lanes(d), left = hn::Lanes(d) - hn::CountTrue(d, above);
  const V low = hn::CompressNot(v, above);
  hn::StoreU(low, d, keys + free.left);
  if constexpr (hn::CompressIsPartition<Key>::value) hn::StoreU(low, d, keys + after_left);
  else hn::StoreU(hn::Reverse(d, hn::Compress(v, above)), d, keys + after_left);
  free = {free.left + left, after_left + left};
}

/// Moves the keys that are not above the pivot before the others; gives their number. There are more than 16 vectors.
/// Four vectors of each end, and the rest that is no whole vector, are held back: then whole vectors can be stored.
template <class Key>
HWY_NOINLINE std::size_t Partition(Key* HWY_RESTRICT keys, std::size_t count, Key pivot_key) {
  const KeyTag<Key> d;
  using V = hn::Vec<KeyTag<Key>>;
  const std::size_t lanes = hn::Lanes(d), four = 4 * lanes, rest = count % lanes;
  const V pivot = hn::Set(d, pivot_key);
  free_keys free{0, count};
  Key ends[2 * 64 / sizeof(Key)];  // the last vectors of all and of those held back
  hn::StoreU(hn::LoadU(d, keys + count - lanes), d, ends);
  const Key *left = keys + four, *right = keys + count - rest - four;  // keys to read are between them
  const auto load = [&](const vectors<V, 4>& to, const Key* from) KG_INLINED {
    for (int i = 0; i < 4; ++i) to[i] = hn::LoadU(d, from + static_cast<std::size_t>(i) * lanes);
  };
  const auto store = [&](const vectors<V, 4>& from, int number) KG_INLINED {
    for (int i = 0; i < number; ++i) StoreSides(d, from[i], pivot, keys, free);
  };
  // Reads at the end with less room, without a branch, which would be mispredicted.
  const auto next = [&] {
    const bool from_left = left - (keys + free.left) <= keys + free.right - right;
    right -= from_left ? 0 : four;
    const Key* at = from_left ? left : right;
    left += from_left ? four : 0;
    return at;
  };
  with_vectors<16>(d, [&](const auto& v) KG_INLINED {
    const auto first = v.template row<4>(0), last = v.template row<4>(1);
    const auto now = v.template row<4>(2), then = v.template row<4>(3);
    load(first, keys);
    load(last, right);
    for (; static_cast<std::size_t>(right - left) % four != 0; left += lanes)
      StoreSides(d, hn::LoadU(d, left), pivot, keys, free);
    load(now, next());
    // The next vectors are read before these are stored: their address then waits for no count of these.
    while (left != right) {
      load(then, next());
      store(now, 4);
      for (int i = 0; i < 4; ++i) now[i] = then[i];
    }
    store(now, 4);
    store(first, 4);
    store(last, 3);
    hn::StoreU(last[3], d, ends + lanes);
  });
  for (std::size_t i = lanes - rest; i < 2 * lanes; ++i) {
    keys[free.left] = keys[free.right - 1] = ends[i];
    const bool above = ends[i] > pivot_key;
    free.left += above ? 0 : 1;
    free.right -= above ? 1 : 0;
  }
  return free.left;
}

/// Sorts `count` keys in `room` as SortFew has it. After `levels` pivots on one path a heap sorts what is left. So no
/// keys take time that is quadratic in their number.
template <class Key>
void SortPart(Key* keys, std::size_t count, std::size_t room, pivot_numbers& random, int levels) {
  while (count > network_rows * hn::Lanes(KeyTag<Key>())) {
    if (levels-- == 0) {
      std::make_heap(keys, keys + count);
      std::sort_heap(keys, keys + count);
      return;
    }
    bool alike = false;
    const Key pivot = Pivot(keys, count, random, alike);
    if (alike && AllEqual(keys, count, pivot)) return;
    const std::size_t left = Partition(keys, count, pivot);
    if (left < count) {
      SortPart(keys + left, count - left, room - left, random, levels);
      count = left;
    } else {  // no key is above the pivot: those equal to it are at their positions
      if (pivot == std::numeric_limits<Key>::lowest()) return;
      count = Partition(keys, count, static_cast<Key>(pivot - 1));
    }
  }
  SortFew(keys, count, room);
}

/// Sorts `count` keys in ascending order and writes nothing outside of them.
template <class Key>
HWY_INLINE void QuickSort(Key* keys, std::size_t count) {
  pivot_numbers random{count};
  SortPart(keys, count, count, random, 2 * std::bit_width(count));
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // KERNGRAD_KERNELS_QUICKSORT_INL_H_
