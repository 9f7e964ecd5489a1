// SPDX-License-Identifier: Apache-2.0
// Rows of sparse and ragged tensors that are moved, against walks over their definitions, on every target, between
// guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/sparse/rows.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;
namespace views = ranges::views;

run_fn kernel(const char* op, dtype type, bool simd) {
  const auto in = [&](const auto& list) -> run_fn {
    for (const entry& e : list)
      if (std::strcmp(e.op, op) == 0 && e.type == type) return e.run;
    return nullptr;
  };
  return simd ? in(sparse_rows_simd) : in(reference::sparse_rows_reference);
}

// ------------------------------------------------------------------------------------------ empty rows

template <class T, class Index>
void check_filled(const std::vector<Index>& rows, std::int64_t all, std::int64_t rank, dtype type, bool simd) {
  const std::size_t count = rows.size(), width = static_cast<std::size_t>(rank);
  guarded<Index> indices(count * width);
  guarded<T> values(count), missing(1);
  *missing.data() = static_cast<T>(99);
  std::vector<Index> wanted_indices, wanted_places(count);
  std::vector<T> wanted_values;
  for (std::size_t i = 0; i < count; ++i) {
    values.data()[i] = static_cast<T>(i + 1);
    for (std::size_t axis = 0; axis < width; ++axis)
      indices.data()[i * width + axis] = axis == 0 ? rows[i] : static_cast<Index>(i + axis);
  }
  std::vector<std::uint8_t> wanted_empty;
  for (std::int64_t row = 0; row < all; ++row) {
    wanted_empty.push_back(std::find(rows.begin(), rows.end(), row) == rows.end());
    if (wanted_empty.back()) {
      wanted_indices.push_back(static_cast<Index>(row));
      wanted_indices.insert(wanted_indices.end(), width - 1, Index{0});
      wanted_values.push_back(static_cast<T>(99));
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (rows[i] != row) continue;
      wanted_places[i] = static_cast<Index>(wanted_values.size());
      wanted_indices.insert(wanted_indices.end(), indices.data() + i * width, indices.data() + (i + 1) * width);
      wanted_values.push_back(values.data()[i]);
    }
  }
  const std::size_t made = wanted_values.size();
  guarded<Index> to(made * width), places(count);
  guarded<T> y(made);
  guarded<std::uint8_t> empty(static_cast<std::size_t>(all));
  std::int64_t reported = -1;
  const fill_rows_geometry g{static_cast<std::int64_t>(count), all, rank, sizeof(Index) == 8, &reported};
  const void* in[] = {indices.data(), values.data(), nullptr, missing.data()};
  void* out[] = {to.data(), y.data(), empty.data(), places.data()};
  kernel("SparseFillEmptyRows", type, simd)(in, out, &g);
  ASSERT_EQ(reported, static_cast<std::int64_t>(made));
  EXPECT_EQ(std::vector<Index>(to.begin(), to.end()), wanted_indices);
  EXPECT_TRUE(std::equal(y.begin(), y.end(), wanted_values.begin()));
  EXPECT_EQ(std::vector<std::uint8_t>(empty.begin(), empty.end()), wanted_empty);
  EXPECT_EQ(std::vector<Index>(places.begin(), places.end()), wanted_places);
}

template <class Index>
void check_lists(bool simd) {
  const std::vector<std::vector<Index>> lists = {{}, {0}, {2, 2, 0, 4}, {0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0, 0}};
  constexpr std::int64_t ranks[] = {1, 2, 3, 9};
  for (const auto& [rows, rank] : views::cartesian_product(lists, ranks)) {
    check_filled<float>(rows, 6, rank, dtype::float32, simd);
    check_filled<std::uint8_t>(rows, 6, rank, dtype::boolean, simd);
    check_filled<std::uint16_t>(rows, 7, rank, dtype::float16, simd);
    check_filled<std::int64_t>(rows, 6, rank, dtype::complex64, simd);
    check_filled<__int128>(rows, 6, rank, dtype::complex128, simd);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(kernels_sparse_rows, go_to_their_places_with_one_for_each_empty_row) {
  kgtest::on_every_target([](const char*) {
    check_lists<std::int32_t>(true);
    check_lists<std::int64_t>(true);
  });
}
TEST(kernels_sparse_rows, of_the_reference_go_to_the_same_places) {
  check_lists<std::int32_t>(false);
  check_lists<std::int64_t>(false);
}

// ------------------------------------------------------------------------------------------ runs

template <class T>
void check_runs(const std::vector<row_run>& runs, std::int64_t rows, std::int64_t inner, dtype type, bool simd) {
  guarded<T> x(static_cast<std::size_t>(20 * inner)), fill(static_cast<std::size_t>(inner));
  guarded<T> y(static_cast<std::size_t>(rows * inner));
  for (std::int64_t i = 0; i < 20 * inner; ++i) x.data()[i] = static_cast<T>(i % 100);
  for (std::int64_t i = 0; i < inner; ++i) fill.data()[i] = static_cast<T>(100 + i % 50);
  std::vector<std::int64_t> from(static_cast<std::size_t>(rows), -1);
  for (const row_run& run : runs)
    for (std::int64_t i = 0; i < run.count; ++i) from[static_cast<std::size_t>(run.to + i)] = run.from + i;
  const row_runs_geometry g{runs.data(), static_cast<std::int64_t>(runs.size()), inner, rows, fill.data(), 20};
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel("RaggedGather", type, simd)(in, out, &g);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < inner; ++i) {
      const std::int64_t row = from[static_cast<std::size_t>(r)];
      ASSERT_EQ(y.data()[r * inner + i], row < 0 ? fill.data()[i] : x.data()[row * inner + i]) << r << ", " << i;
    }
}

void check_all_runs(bool simd) {
  const std::vector<std::vector<row_run>> lists = {
      {}, {{0, 0, 20}}, {{3, 1, 2}}, {{5, 0, 1}, {5, 1, 1}, {0, 2, 9}}, {{18, 4, 2}, {0, 9, 3}, {7, 12, 1}}};
  constexpr std::int64_t inners[] = {1, 2, 3, 7, 33};
  for (const auto& [runs, inner] : views::cartesian_product(lists, inners)) {
    SCOPED_TRACE(::testing::Message() << runs.size() << " runs of " << inner);
    check_runs<float>(runs, 20, inner, dtype::float32, simd);
    check_runs<std::uint8_t>(runs, 20, inner, dtype::uint8, simd);
    check_runs<std::int16_t>(runs, 23, inner, dtype::bfloat16, simd);
    check_runs<double>(runs, 20, inner, dtype::float64, simd);
    check_runs<__int128>(runs, 20, inner, dtype::complex128, simd);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(kernels_sparse_rows, are_copied_in_runs_with_what_is_missing_between_them) {
  kgtest::on_every_target([](const char*) { check_all_runs(true); });
}
TEST(kernels_sparse_rows, of_the_reference_are_copied_in_the_same_runs) { check_all_runs(false); }

TEST(kernels_sparse_rows, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(sparse_rows_simd), std::size(reference::sparse_rows_reference));
  for (std::size_t i = 0; i < std::size(sparse_rows_simd); ++i) {
    EXPECT_STREQ(sparse_rows_simd[i].op, reference::sparse_rows_reference[i].op);
    EXPECT_EQ(sparse_rows_simd[i].type, reference::sparse_rows_reference[i].type);
  }
}

}  // namespace
