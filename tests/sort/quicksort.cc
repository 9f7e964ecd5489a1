// SPDX-License-Identifier: Apache-2.0
// The parts of the quicksort of keys, compiled for this file's target alone.
#include "kernels/common/quicksort-inl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace {
namespace kn = kerngrad::kernels::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

std::vector<std::int32_t> random_keys(std::size_t n, unsigned bits) {
  std::mt19937_64 random(n);
  std::vector<std::int32_t> keys(n);
  for (std::int32_t& key : keys) key = static_cast<std::int32_t>(random() >> (64 - bits));
  return keys;
}

// A comparator network that sorts all zeros and ones sorts everything (Knuth, volume 3, 5.3.4, theorem Z).
TEST(sorting_network, sorts_every_column_of_zeros_and_ones) {
  for (std::uint32_t bits = 0; bits < 1u << kn::network_rows; ++bits) {
    std::uint32_t column = bits;
    for (const kn::comparator c : kn::comparators) {
      const std::uint32_t low = column >> c.low & 1, high = column >> c.high & 1;
      if (low > high) column ^= 1u << c.low | 1u << c.high;
    }
    const unsigned ones = static_cast<unsigned>(std::popcount(bits));
    ASSERT_EQ(column, (1u << kn::network_rows) - (1u << (kn::network_rows - ones))) << bits;
  }
}

TEST(quicksort, divides_keys_at_every_pivot_and_keeps_them_all) {
  const std::size_t least = kn::network_rows * hn::Lanes(kn::KeyTag<std::int32_t>()) + 1;
  for (std::size_t n = least; n < least + 70; ++n)
    for (const unsigned bits : {1u, 3u, 32u}) {
      const std::vector<std::int32_t> keys = random_keys(n, bits);
      for (const std::int32_t pivot : {keys[0], keys[n / 2], *std::max_element(keys.begin(), keys.end())}) {
        std::vector<std::int32_t> divided = keys;
        const std::size_t left = kn::Partition(divided.data(), n, pivot);
        const auto middle = divided.begin() + static_cast<std::ptrdiff_t>(left);
        ASSERT_TRUE(std::all_of(divided.begin(), middle, [&](std::int32_t key) { return key <= pivot; })) << n;
        ASSERT_TRUE(std::all_of(middle, divided.end(), [&](std::int32_t key) { return key > pivot; })) << n;
        ASSERT_TRUE(std::is_permutation(divided.begin(), divided.end(), keys.begin())) << n;
      }
    }
}

// Pivots are bad as often as these levels say: then a heap sorts the rest, whatever is left.
TEST(quicksort, sorts_by_a_heap_where_no_levels_are_left) {
  for (const int levels : {0, 1, 3}) {
    std::vector<std::int32_t> keys = random_keys(5000, 32), wanted = keys;
    kn::pivot_numbers random{keys.size()};
    kn::SortPart(keys.data(), keys.size(), keys.size(), random, levels);
    std::sort(wanted.begin(), wanted.end());
    ASSERT_EQ(keys, wanted) << levels;
  }
}

}  // namespace
