// SPDX-License-Identifier: Apache-2.0
// Distinct rows on every target and in the reference, against the definition: each row is compared with the distinct
// ones before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/count/unique.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::guarded;

template <class T>
run_fn kernel(bool reference) {
  if constexpr (std::is_same_v<T, float>) return reference ? reference::Unique_float32 : Unique_float32;
  else if constexpr (std::is_same_v<T, double>) return reference ? reference::Unique_float64 : Unique_float64;
  else if constexpr (std::is_same_v<T, std::int32_t>) return reference ? reference::Unique_int32 : Unique_int32;
  else if constexpr (std::is_same_v<T, std::int64_t>) return reference ? reference::Unique_int64 : Unique_int64;
  else return reference ? reference::Unique_uint8 : Unique_uint8;
}

struct distinct_rows {
  std::vector<std::int32_t> numbers, firsts;
};

template <class T>
bool equal_rows(const T* a, const T* b, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i)
    if (a[i] != b[i] && !(a[i] != a[i] && b[i] != b[i])) return false;
  return true;
}

template <class T>
distinct_rows defined(const T* x, const unique_geometry& g) {
  distinct_rows found;
  for (std::int32_t i = 0; i < g.count; ++i) {
    std::size_t k = 0;
    while (k < found.firsts.size() && !equal_rows(x + i * g.width, x + found.firsts[k] * g.width, g.width)) ++k;
    if (k == found.firsts.size()) found.firsts.push_back(i);
    found.numbers.push_back(static_cast<std::int32_t>(k));
  }
  return found;
}

template <class T>
distinct_rows made(run_fn run, const std::vector<T>& values, const unique_geometry& g) {
  guarded<T> x(values.size());
  std::copy(values.begin(), values.end(), x.begin());
  guarded<std::int32_t> numbers(static_cast<std::size_t>(g.count)), firsts(static_cast<std::size_t>(g.count));
  std::int64_t count = -1;
  const void* in[] = {x.data()};
  void* out[] = {numbers.data(), firsts.data(), &count};
  run(in, out, &g);
  return {{numbers.begin(), numbers.end()}, {firsts.begin(), firsts.begin() + count}};
}

// True if a row comes before another one in ascending order, NaN last.
template <class T>
bool row_before(const T* a, const T* b, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    const bool nan = a[i] != a[i], other_nan = b[i] != b[i];
    if (nan || other_nan ? nan != other_nan : a[i] != b[i]) return nan ? false : other_nan || a[i] < b[i];
  }
  return false;
}

// The same rows by their ranks: how many distinct ones come before each.
template <class T>
distinct_rows ranked(const distinct_rows& found, const T* x, const unique_geometry& g) {
  distinct_rows sorted{{}, std::vector<std::int32_t>(found.firsts.size())};
  std::vector<std::int32_t> ranks;
  for (const std::int32_t row : found.firsts) {
    const auto before = [&](std::int32_t other) { return row_before(x + other * g.width, x + row * g.width, g.width); };
    ranks.push_back(static_cast<std::int32_t>(std::ranges::count_if(found.firsts, before)));
    sorted.firsts[static_cast<std::size_t>(ranks.back())] = row;
  }
  for (const std::int32_t k : found.numbers) sorted.numbers.push_back(ranks[static_cast<std::size_t>(k)]);
  return sorted;
}

template <class T>
void check(const std::vector<T>& values, const unique_geometry& g) {
  distinct_rows wanted = defined(values.data(), g);
  if (g.sorted) wanted = ranked(wanted, values.data(), g);
  else check(values, {g.count, g.width, true});
  for (const bool reference : {false, true}) {
    const distinct_rows got = made(kernel<T>(reference), values, g);
    EXPECT_EQ(got.numbers, wanted.numbers) << g.count << " x " << g.width << (reference ? " reference" : "");
    EXPECT_EQ(got.firsts, wanted.firsts) << g.count << " x " << g.width << (reference ? " reference" : "");
  }
}

template <class T>
void check_sizes() {
  std::mt19937_64 draw(3);
  for (const std::int64_t width : {1, 2, 5, 0})
    for (const std::int64_t count : {0, 1, 2, 63, 64, 65, 700})
      for (const std::uint64_t values : {2u, 9u, 250u}) {
        std::vector<T> x(static_cast<std::size_t>(count * width));
        for (T& e : x) e = static_cast<T>(draw() % values);
        check(x, {count, width});
      }
}

TEST(unique, numbers_rows_in_the_order_in_which_they_come_first) {
  check_sizes<float>();
  check_sizes<double>();
  check_sizes<std::int32_t>();
  check_sizes<std::int64_t>();
  check_sizes<std::uint8_t>();
}

template <class T>
void check_special_floats() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> x = {nan, inf, -nan, T{0}, -T{0}, -inf, inf, std::numeric_limits<T>::denorm_min(), nan, T{1}};
  check(x, {10, 1});
  check(x, {5, 2});
  const distinct_rows found = made(kernel<T>(false), x, {10, 1});
  EXPECT_EQ(found.numbers, (std::vector<std::int32_t>{0, 1, 0, 2, 2, 3, 1, 4, 0, 5}));
}
TEST(unique, takes_nan_for_equal_to_nan_and_minus_zero_for_zero) {
  check_special_floats<float>();
  check_special_floats<double>();
}

TEST(unique, takes_every_byte_but_0_for_true) {
  const std::vector<std::uint8_t> x = {0, 1, 255, 0, 2};
  for (const run_fn run : {Unique_boolean, reference::Unique_boolean}) {
    const distinct_rows found = made(run, x, {5, 1});
    EXPECT_EQ(found.numbers, (std::vector<std::int32_t>{0, 1, 1, 0, 1}));
    EXPECT_EQ(found.firsts, (std::vector<std::int32_t>{0, 1}));
  }
}

// Against a map where the definition takes too long: the table grows several times.
template <class T>
void check_many(std::uint64_t values) {
  std::mt19937_64 draw(9);
  std::vector<T> x(200000);
  for (T& e : x) e = static_cast<T>(draw() % values);
  std::map<T, std::int32_t> known;
  distinct_rows wanted;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto [at, is_new] = known.try_emplace(x[i], static_cast<std::int32_t>(known.size()));
    if (is_new) wanted.firsts.push_back(static_cast<std::int32_t>(i));
    wanted.numbers.push_back(at->second);
  }
  const distinct_rows got = made(kernel<T>(false), x, {200000, 1});
  EXPECT_TRUE(got.numbers == wanted.numbers && got.firsts == wanted.firsts) << values;
}
TEST(unique, finds_many_distinct_elements) {
  for (const std::uint64_t values : {3000u, 30000u, 1000000000u}) {
    check_many<float>(values);
    check_many<double>(values);
    check_many<std::int32_t>(values);
    check_many<std::int64_t>(values);
  }
}

// The inverse of the kernel's hash, as far as it has one: all keys want the first places of the table. A table alone
// would take 10^10 probes.
TEST(unique, stays_fast_for_elements_chosen_to_collide) {
  std::uint64_t inverse = 1;
  for (int i = 0; i < 6; ++i) inverse *= 2 - 0x9e3779b97f4a7c15u * inverse;  // Newton, modulo 2^64
  std::vector<std::int64_t> x;
  for (std::uint64_t k = 1; k <= 200000; ++k) {
    std::uint64_t h = k << 40;
    h ^= h >> 32;
    h *= inverse;
    x.push_back(static_cast<std::int64_t>(h ^ (h >> 32)));
  }
  const distinct_rows got = made(kernel<std::int64_t>(false), x, {200000, 1});
  ASSERT_EQ(got.firsts.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(got.numbers[i], static_cast<std::int32_t>(i));
}

}  // namespace
