// SPDX-License-Identifier: Apache-2.0
// Sorts keys by a vectorized quicksort, and pairs of a key and an index by a stable radix sort, which is faster there.
// The quicksort is in this unit alone: it takes long to compile.
#include "kernels/common/keys.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/keys.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/common/target-inl.h"
#if !KG_EMULATED
#include "kernels/common/quicksort-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

template <class Key>
HWY_INLINE void sort_in_place(Key* keys, std::size_t count) {
#if KG_EMULATED  // whose vectors are slower than single keys
  std::sort(keys, keys + count);
#else
  QuickSort(keys, count);
#endif
}

void sort_int32(std::int32_t* keys, std::size_t count) { sort_in_place(keys, count); }
void sort_int64(std::int64_t* keys, std::size_t count) { sort_in_place(keys, count); }

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
namespace {

// Counts from which sorting by digits is faster; the ways cost the same for half or twice as many.
constexpr std::size_t few_packed = 512, few_wide = 32;

std::uint64_t key_of(std::uint64_t pair) { return pair >> 32; }
std::uint64_t key_of(const wide_pair& pair) { return pair.key; }

// Digits of eight bits from the lowest on, each pass stable (Knuth, The Art of Computer Programming, volume 3, 5.2.5).
// One reading counts all digits; a digit that all keys have in common needs no pass.
template <int kDigits, class Pair>
Pair* sort_by_digits(Pair* from, Pair* to, std::size_t count) {
  std::size_t starts[kDigits][256] = {};
  const auto digit = [](const Pair& pair, int i) { return key_of(pair) >> (8 * i) & 255; };
  for (std::size_t i = 0; i < count; ++i)
    for (int k = 0; k < kDigits; ++k) ++starts[k][digit(from[i], k)];
  for (int k = 0; k < kDigits; ++k) {
    if (starts[k][digit(from[0], k)] == count) continue;
    std::size_t before = 0;
    for (std::size_t& start : starts[k]) before += std::exchange(start, before);
    for (std::size_t i = 0; i < count; ++i) to[starts[k][digit(from[i], k)]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

}  // namespace

KG_TARGETS_OF(sort_int32);
KG_TARGETS_OF(sort_int64);
void sort_keys(std::int32_t* keys, std::size_t count) { KG_ON_TARGET(sort_int32)(keys, count); }
void sort_keys(std::int64_t* keys, std::size_t count) { KG_ON_TARGET(sort_int64)(keys, count); }

std::uint64_t* sort_key_pairs(std::uint64_t* pairs, std::uint64_t* spare, std::size_t count) {
  if (count > few_packed) return sort_by_digits<4>(pairs, spare, count);
  // No two are equal. As signed numbers they are in order with their sign bits inverted.
  const auto invert_signs = [&] {
    for (std::size_t i = 0; i < count; ++i) pairs[i] ^= std::uint64_t{1} << 63;
  };
  invert_signs();
  sort_keys(reinterpret_cast<std::int64_t*>(pairs), count);
  invert_signs();
  return pairs;
}

wide_pair* sort_key_pairs(wide_pair* pairs, wide_pair* spare, std::size_t count) {
  if (count > few_wide) return sort_by_digits<8>(pairs, spare, count);
  for (std::size_t i = 1; i < count; ++i) {
    const wide_pair one = pairs[i];
    std::size_t at = i;
    for (; at > 0 && one.key < pairs[at - 1].key; --at) pairs[at] = pairs[at - 1];
    pairs[at] = one;
  }
  return pairs;
}

}  // namespace kerngrad::kernels
#endif
