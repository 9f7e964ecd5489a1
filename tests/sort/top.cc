// SPDX-License-Identifier: Apache-2.0
// TopK on every target and its reference: what is left out comes after what is taken.
#include "kernels/sort/top.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "kernels/common/parallel.h"
#include "tests/sort/rows.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::guarded;

template <class F>
void for_all(F f) {
  const auto table = [&](const auto& entries) {
    for (const entry& e : entries) {
      SCOPED_TRACE(trait_of(e.type).name);
      kgtest::visit_ordered(e.type, [&](auto is) { f(e.run, is); });
      if (::testing::Test::HasFatalFailure()) return;
    }
  };
  kgtest::on_every_target([&](const char*) { table(top_simd); });
  table(reference::top_reference);
}

template <dtype Type, class T>
void check_top(run_fn run, const std::vector<T>& row, std::size_t k, kgtest::edge side) {
  const std::size_t n = row.size();
  guarded<T> x(n, side), values(k, side);
  guarded<std::int32_t> places(k, side);
  std::copy(row.begin(), row.end(), x.begin());
  const top_geometry g{1, static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
  const void* in[] = {x.data()};
  void* out[] = {values.data(), places.data()};
  run(in, out, &g);
  std::vector<std::size_t> left(n);
  for (std::size_t i = 0; i < n; ++i) left[i] = i;
  // a comes before b: it is greater, or the first of equals.
  const auto before = [&](std::size_t a, std::size_t b) {
    return kgtest::less_in_order<Type>(row[b], row[a]) || (kgtest::equal_in_order<Type>(row[a], row[b]) && a < b);
  };
  for (std::size_t i = 0; i < k; ++i) {
    const auto at = static_cast<std::size_t>(places[i]);
    ASSERT_LT(at, n);
    ASSERT_EQ(std::count(left.begin(), left.end(), at), 1) << "taken twice";
    std::erase(left, at);
    if (i > 0) ASSERT_TRUE(before(static_cast<std::size_t>(places[i - 1]), at)) << i;
    const T wanted = Type == dtype::boolean ? static_cast<T>(row[at] != 0) : row[at];
    ASSERT_EQ(std::memcmp(&values[i], &wanted, sizeof wanted), 0) << i;
  }
  for (const std::size_t other : left)
    if (k > 0) ASSERT_TRUE(before(static_cast<std::size_t>(places[k - 1]), other)) << other << " was left out";
}

TEST(kernels_top, take_the_largest_and_of_equals_the_first) {
  for_all([]<dtype Type>(run_fn run, dtype_constant<Type>) {
    for (const std::size_t n : {0, 1, 33, 127, 1000, 2049})
      for (const std::size_t k : {0, 1, 10, 33, 100, 700})
        for (const kgtest::row_of made_of : kgtest::rows)
          for (const kgtest::edge side : kgtest::edges) {
            if (k > n) continue;
            SCOPED_TRACE(::testing::Message() << k << " of " << n << ", " << made_of.name);
            ASSERT_NO_FATAL_FAILURE(check_top<Type>(run, kgtest::make_row<Type>(made_of, n), k, side));
          }
  });
}

TEST(kernels_top, give_the_same_bits_with_any_number_of_threads) {
  const std::size_t before = threads_allowed();
  const top_geometry g{301, 1003, 17};
  const std::vector<double> x = kgtest::make_row<dtype::float64>(kgtest::rows[0], 301 * 1003);
  std::vector<double> wanted(301 * 17), y = wanted;
  std::vector<std::int32_t> wanted_places(y.size()), places = wanted_places;
  const void* in[] = {x.data()};
  void *out[] = {y.data(), places.data()}, *out_wanted[] = {wanted.data(), wanted_places.data()};
  reference::TopK_float64(in, out_wanted, &g);
  kgtest::on_every_target([&](const char*) {
    for (std::size_t threads : {1, 3}) {
      allow_threads(threads);
      std::fill(y.begin(), y.end(), 0);
      TopK_float64(in, out, &g);
      ASSERT_EQ(y, wanted);
      ASSERT_EQ(places, wanted_places);
    }
  });
  allow_threads(before);
}

TEST(kernels_top, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(top_simd), std::size(reference::top_reference));
  for (std::size_t i = 0; i < std::size(top_simd); ++i) EXPECT_EQ(top_simd[i].type, reference::top_reference[i].type);
}

}  // namespace
