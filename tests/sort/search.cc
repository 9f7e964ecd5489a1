// SPDX-License-Identifier: Apache-2.0
// SearchSorted on every target and its reference, against the number of elements that belong before a value.
#include "kernels/sort/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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
  kgtest::on_every_target([&](const char*) { table(search_simd); });
  table(reference::search_reference);
}

template <dtype Type, class T>
void check_search(run_fn run, const std::vector<T>& rows, const std::vector<T>& looked_for, search_geometry g,
                  kgtest::edge side) {
  guarded<T> sequences(rows.size(), side), values(looked_for.size(), side);
  guarded<std::int32_t> y(looked_for.size(), side);
  std::copy(rows.begin(), rows.end(), sequences.begin());
  std::copy(looked_for.begin(), looked_for.end(), values.begin());
  const auto count = static_cast<std::size_t>(g.count), wanted = static_cast<std::size_t>(g.values);
  for (std::size_t row = 0; row < static_cast<std::size_t>(g.rows); ++row)
    std::sort(sequences.data() + row * count, sequences.data() + (row + 1) * count, kgtest::less_in_order<Type, T>);
  const void* in[] = {sequences.data(), values.data()};
  void* out[] = {y.data()};
  run(in, out, &g);
  for (std::size_t i = 0; i < looked_for.size(); ++i) {
    const T *first = sequences.data() + i / wanted * count, value = looked_for[i];
    const auto before = std::count_if(first, first + count, [&](T element) {
      return g.right ? !kgtest::less_in_order<Type>(value, element) : kgtest::less_in_order<Type>(element, value);
    });
    ASSERT_EQ(y[i], before) << i << " of " << looked_for.size();
  }
}

TEST(kernels_search, count_the_elements_that_belong_before_a_value) {
  for_all([]<dtype Type>(run_fn run, dtype_constant<Type>) {
    for (const std::int64_t count : {0, 1, 2, 7, 64, 257})
      for (const std::int64_t values : {1, 8, 61})
        for (const std::int64_t rows : {1, 3})
          for (const kgtest::row_of made_of : kgtest::rows)
            for (const bool right : {false, true})
              for (const kgtest::edge side : kgtest::edges) {
                SCOPED_TRACE(::testing::Message() << values << " in " << count << ", " << made_of.name);
                const auto sequences = kgtest::make_row<Type>(made_of, static_cast<std::size_t>(rows * count));
                auto looked_for = kgtest::make_row<Type>(made_of, static_cast<std::size_t>(rows * values));
                if (!sequences.empty()) looked_for[0] = sequences.back();
                const search_geometry g{rows, count, values, right};
                ASSERT_NO_FATAL_FAILURE(check_search<Type>(run, sequences, looked_for, g, side));
              }
  });
}

TEST(kernels_search, stay_in_the_sequence_when_it_is_not_in_order) {
  for_all([]<dtype Type>(run_fn run, dtype_constant<Type>) {
    for (const kgtest::row_of made_of : kgtest::rows) {
      const auto values = kgtest::make_row<Type>(made_of, 100);
      guarded<storage_t<Type>> sequence(67);
      std::copy_n(values.rbegin(), 67, sequence.begin());
      std::vector<std::int32_t> y(values.size());
      const void* in[] = {sequence.data(), values.data()};
      void* out[] = {y.data()};
      const search_geometry g{1, 67, 100, true};
      run(in, out, &g);
      for (const std::int32_t at : y) ASSERT_TRUE(at >= 0 && at <= 67);
    }
  });
}

TEST(kernels_search, give_the_same_places_with_any_number_of_threads) {
  const std::size_t before = threads_allowed();
  for (const search_geometry g : {search_geometry{3, 100, 50001, false}, search_geometry{7001, 5, 20, true}}) {
    auto sequences = kgtest::make_row<dtype::float32>(kgtest::rows[0], static_cast<std::size_t>(g.rows * g.count));
    for (auto row = sequences.begin(); row != sequences.end(); row += g.count) std::sort(row, row + g.count);
    const auto values = kgtest::make_row<dtype::float32>(kgtest::rows[0], static_cast<std::size_t>(g.rows * g.values));
    std::vector<std::int32_t> wanted(values.size()), y = wanted;
    const void* in[] = {sequences.data(), values.data()};
    void *out[] = {y.data()}, *out_wanted[] = {wanted.data()};
    reference::SearchSorted_float32(in, out_wanted, &g);
    kgtest::on_every_target([&](const char*) {
      for (std::size_t threads : {1, 3}) {
        allow_threads(threads);
        std::fill(y.begin(), y.end(), -1);
        SearchSorted_float32(in, out, &g);
        ASSERT_EQ(y, wanted);
      }
    });
  }
  allow_threads(before);
}

TEST(kernels_search, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(search_simd), std::size(reference::search_reference));
  for (std::size_t i = 0; i < std::size(search_simd); ++i)
    EXPECT_EQ(search_simd[i].type, reference::search_reference[i].type);
}

}  // namespace
