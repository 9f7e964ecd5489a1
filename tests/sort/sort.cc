// SPDX-License-Identifier: Apache-2.0
// Sort and ArgSort on every target and their references: each element stands where the number of elements before it
// says, whatever the row is made of.
#include "kernels/sort/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/common/keys.h"
#include "kernels/common/parallel.h"
#include "tests/sort/rows.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::guarded;

// Runs f(Sort, ArgSort, dtype) for every dtype, on every target, then on the references.
template <class F>
void for_all(F f) {
  const auto table = [&](const auto& entries) {
    const std::size_t half = std::size(entries) / 2;
    for (std::size_t i = 0; i < half; ++i) {
      ASSERT_STREQ(entries[i].op, "Sort");
      ASSERT_STREQ(entries[half + i].op, "ArgSort");
      SCOPED_TRACE(trait_of(entries[i].type).name);
      kgtest::visit_ordered(entries[i].type, [&](auto is) { f(entries[i].run, entries[half + i].run, is); });
      if (::testing::Test::HasFatalFailure()) return;
    }
  };
  kgtest::on_every_target([&](const char*) { table(sort_simd); });
  table(reference::sort_reference);
}

template <dtype Type, class T>
void check_row(run_fn sort, run_fn arg_sort, const std::vector<T>& row, bool descending, kgtest::edge side) {
  const std::size_t n = row.size();
  guarded<T> x(n, side), y(n, side);
  guarded<std::int32_t> places(n, side);
  std::copy(row.begin(), row.end(), x.begin());
  const sort_geometry g{1, static_cast<std::int64_t>(n), descending};
  const void* in[] = {x.data()};
  void *out[] = {y.data()}, *out_places[] = {places.data()};
  sort(in, out, &g);
  arg_sort(in, out_places, &g);
  std::vector<bool> seen(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(places[i]);
    ASSERT_LT(at, n);
    ASSERT_FALSE(seen[at]) << "twice";
    seen[at] = true;
    ASSERT_TRUE(kgtest::equal_in_order<Type>(row[at], y[i])) << i;
    if (i == 0) continue;
    const auto last = static_cast<std::size_t>(places[i - 1]);
    const T first = descending ? row[at] : row[last], second = descending ? row[last] : row[at];
    ASSERT_FALSE(kgtest::less_in_order<Type>(second, first)) << i;
    if (!kgtest::less_in_order<Type>(first, second)) ASSERT_LT(last, at) << "equals changed their order at " << i;
  }
  // Makes equal values look alike: zeros by their signs, one NaN for all, booleans that are 0 or 1.
  if constexpr (std::is_floating_point_v<T>) {
    const T quiet = std::numeric_limits<T>::quiet_NaN();
    std::size_t minus[2] = {}, at_front = 0;
    for (std::size_t i = 0; i < n; ++i) {
      minus[0] += row[i] == 0 && std::signbit(row[i]) ? 1 : 0;
      minus[1] += y[i] == 0 && std::signbit(y[i]) ? 1 : 0;
      if (y[i] != y[i]) ASSERT_EQ(std::memcmp(&y[i], &quiet, sizeof quiet), 0);
      if (i > 0 && y[i] == 0 && y[i - 1] == 0 && std::signbit(y[i]) != std::signbit(y[i - 1])) ++at_front;
    }
    ASSERT_EQ(minus[0], minus[1]);
    ASSERT_LE(at_front, 1u) << "zeros of both signs are mixed";
  }
  sort(in, out, &g);
  std::copy(row.begin(), row.end(), x.begin());
  void* same[] = {x.data()};
  sort(in, same, &g);
  ASSERT_EQ(std::memcmp(x.data(), y.data(), n * sizeof(T)), 0) << "into the operand itself";
}

TEST(kernels_sort, put_every_element_behind_those_that_are_less_and_keep_the_order_of_equals) {
  for_all([]<dtype Type>(run_fn sort, run_fn arg_sort, dtype_constant<Type>) {
    for (const std::size_t n :
         {0, 1, 2, 7, 8, 9, 15, 16, 17, 33, 64, 65, 127, 128, 129, 256, 257, 258, 513, 1000, 3001})
      for (const kgtest::row_of made_of : kgtest::rows)
        for (const bool descending : {false, true})
          for (const kgtest::edge side : kgtest::edges) {
            SCOPED_TRACE(::testing::Message() << n << " elements, " << made_of.name << (descending ? " down" : " up"));
            const auto row = kgtest::make_row<Type>(made_of, n);
            ASSERT_NO_FATAL_FAILURE(check_row<Type>(sort, arg_sort, row, descending, side));
          }
  });
}

// Neighbours in memory are other threads' rows: nothing behind a row may be written, not even as it was.
TEST(kernels_sort, give_the_same_bits_with_any_number_of_threads) {
  const std::size_t before = threads_allowed();
  const sort_geometry g{301, 1003, true};
  const std::vector<float> x = kgtest::make_row<dtype::float32>(kgtest::rows[0], 301 * 1003);
  std::vector<float> first, y(x.size());
  std::vector<std::int32_t> first_places, places(x.size());
  const void* in[] = {x.data()};
  void *out[] = {y.data()}, *out_places[] = {places.data()};
  kgtest::on_every_target([&](const char*) {
    for (std::size_t threads : {1, 3}) {
      allow_threads(threads);
      std::fill(y.begin(), y.end(), 0.f);
      Sort_float32(in, out, &g);
      ArgSort_float32(in, out_places, &g);
      if (first.empty()) first = y, first_places = places;
      ASSERT_EQ(std::memcmp(y.data(), first.data(), y.size() * sizeof(float)), 0);
      ASSERT_EQ(places, first_places);
    }
  });
  allow_threads(before);
}

TEST(kernels_sort, agree_with_the_reference_on_the_bits) {
  kgtest::on_every_target([](const char*) {
    for (std::size_t i = 0; i < std::size(sort_simd); ++i) {
      ASSERT_STREQ(sort_simd[i].op, reference::sort_reference[i].op);
      ASSERT_EQ(sort_simd[i].type, reference::sort_reference[i].type);
      kgtest::visit_ordered(sort_simd[i].type, [&]<dtype Type>(dtype_constant<Type>) {
        using T = storage_t<Type>;
        for (const kgtest::row_of made_of : kgtest::rows) {
          const auto x = kgtest::make_row<Type>(made_of, 4 * 321);
          const bool places = std::string(sort_simd[i].op) == "ArgSort";
          std::vector<unsigned char> got(x.size() * std::max(sizeof(T), sizeof(std::int32_t))), wanted = got;
          const sort_geometry g{4, 321, false};
          const void* in[] = {x.data()};
          void *out[] = {got.data()}, *out_wanted[] = {wanted.data()};
          sort_simd[i].run(in, out, &g);
          reference::sort_reference[i].run(in, out_wanted, &g);
          ASSERT_EQ(got, wanted) << made_of.name << (places ? " places" : " elements");
        }
      });
    }
  });
}

// Sorts keys whose neighbours in memory must not be touched, even with what they hold.
template <class Key>
void check_keys(const std::vector<Key>& keys, kgtest::edge side) {
  guarded<Key> sorted(keys.size(), side);
  std::copy(keys.begin(), keys.end(), sorted.begin());
  std::vector<Key> wanted = keys;
  std::sort(wanted.begin(), wanted.end());
  sort_keys(sorted.data(), keys.size());
  ASSERT_TRUE(std::equal(wanted.begin(), wanted.end(), sorted.begin())) << keys.size() << " keys";
}

// Random keys of some bits, shifted left where that leaves room; both ends of their range are among them.
template <class Key>
std::vector<Key> keys_of(std::size_t n, unsigned bits) {
  std::mt19937_64 random(n);
  std::vector<Key> keys(n);
  for (Key& key : keys) key = static_cast<Key>(random() >> (64 - bits) << (8 * sizeof(Key) > bits ? 3 : 0));
  if (n > 2) keys[0] = std::numeric_limits<Key>::min(), keys[1] = std::numeric_limits<Key>::max();
  return keys;
}

TEST(keys, of_every_number_and_spread_are_sorted) {
  kgtest::on_every_target([](const char*) {
    for (std::size_t n = 0; n < 600; n += n < 300 ? 1 : 37)
      for (const unsigned bits : {1u, 2u, 5u, 20u, 32u})
        for (const kgtest::edge side : kgtest::edges) {
          ASSERT_NO_FATAL_FAILURE(check_keys(keys_of<std::int32_t>(n, bits), side));
          ASSERT_NO_FATAL_FAILURE(check_keys(keys_of<std::int64_t>(n, 2 * bits), side));
        }
    for (const unsigned bits : {1u, 9u, 32u}) {
      check_keys(keys_of<std::int32_t>(200003, bits), kgtest::edge::end);
      check_keys(keys_of<std::int64_t>(100003, 2 * bits), kgtest::edge::end);
    }
  });
}

TEST(keys, in_every_order_are_sorted) {
  kgtest::on_every_target([](const char*) {
    for (const std::size_t n : {300, 1000, 1025, 20011})
      for (const kgtest::row_of made_of : kgtest::rows) {
        SCOPED_TRACE(made_of.name);
        ASSERT_NO_FATAL_FAILURE(check_keys(kgtest::make_row<dtype::int32>(made_of, n), kgtest::edge::end));
        ASSERT_NO_FATAL_FAILURE(check_keys(kgtest::make_row<dtype::int64>(made_of, n), kgtest::edge::end));
      }
  });
}

template <class Pair>
void check_pairs(std::size_t n, unsigned bits) {
  using Key = std::conditional_t<std::is_same_v<Pair, wide_pair>, std::uint64_t, std::uint32_t>;
  std::mt19937_64 random(n);
  std::vector<Pair> pairs, spare(n);
  std::vector<Key> keys;
  for (std::size_t i = 0; i < n; ++i) {
    keys.push_back(static_cast<Key>(random() >> (64 - bits)));
    pairs.push_back(paired(keys.back(), i));
  }
  const Pair* sorted = sort_key_pairs(pairs.data(), spare.data(), n);
  std::vector<std::uint32_t> wanted(n);
  for (std::size_t i = 0; i < n; ++i) wanted[i] = static_cast<std::uint32_t>(i);
  std::sort(wanted.begin(), wanted.end(),
            [&](std::uint32_t a, std::uint32_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(index_of(sorted[i]), wanted[i]) << i << " of " << n;
}

TEST(places, are_sorted_by_keys_and_then_by_index) {
  kgtest::on_every_target([](const char*) {
    for (const std::size_t n : {0, 1, 2, 31, 32, 33, 511, 512, 513, 5000})
      for (const unsigned bits : {1u, 7u, 8u, 17u, 32u}) {
        ASSERT_NO_FATAL_FAILURE(check_pairs<std::uint64_t>(n, bits));
        ASSERT_NO_FATAL_FAILURE(check_pairs<wide_pair>(n, 2 * bits));
      }
  });
}

}  // namespace
