// SPDX-License-Identifier: Apache-2.0
// Sums and means of rows by segments, indices in another shape and ranges, against walks over their definitions, on
// every target, between guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/sparse/indices.h"
#include "kernels/sparse/segments.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;
namespace views = ranges::views;

template <class T>
constexpr dtype type_of() {
  if (std::is_same_v<T, float>) return dtype::float32;
  if (std::is_same_v<T, double>) return dtype::float64;
  return sizeof(T) == 4 ? dtype::int32 : dtype::int64;
}

template <class T, class List>
run_fn kernel(const List& all, const char* op) {
  for (const entry& e : all)
    if (std::strcmp(e.op, op) == 0 && e.type == type_of<T>()) return e.run;
  return nullptr;
}
template <class T>
run_fn kernel(const char* op, bool simd) {
  if (run_fn run = simd ? kernel<T>(sparse_segments_simd, op) : kernel<T>(reference::sparse_segments_reference, op))
    return run;
  return simd ? kernel<T>(sparse_indices_simd, op) : kernel<T>(reference::sparse_indices_reference, op);
}

/// Elements that end at a guard page.
template <class T>
struct guarded_list : guarded<T> {
  explicit guarded_list(const std::vector<T>& values) : guarded<T>(values.size()) {
    std::copy(values.begin(), values.end(), this->begin());
  }
};

// ------------------------------------------------------------------------------------------ segments

// Row by row in the order of the list: the bits of one rounding each, of float32 those of a sum in double.
template <class T>
std::vector<T> sums_of(const sparse_segment_geometry& g, const std::vector<T>& x,
                       const std::vector<std::int32_t>& indices, const std::vector<std::int32_t>& ids, bool mean) {
  if constexpr (std::is_same_v<T, float>) {
    const std::vector<double> sums = sums_of<double>(g, {x.begin(), x.end()}, indices, ids, mean);
    return {sums.begin(), sums.end()};
  }
  using U = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  std::vector<T> y(static_cast<std::size_t>(g.segments * g.inner));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(g.segments));
  for (std::size_t k = 0; k < ids.size(); ++k) {
    ++rows[static_cast<std::size_t>(ids[k])];
    for (std::int64_t i = 0; i < g.inner; ++i) {
      T& to = y[static_cast<std::size_t>(ids[k] * g.inner + i)];
      to = static_cast<T>(static_cast<U>(to) + static_cast<U>(x[static_cast<std::size_t>(indices[k] * g.inner + i)]));
    }
  }
  for (std::size_t i = 0; i < y.size() && mean; ++i)
    if (const std::int64_t n = rows[i / static_cast<std::size_t>(g.inner)]; n > 0)
      y[i] = std::is_integral_v<T> ? static_cast<T>(y[i] / n) : y[i] / static_cast<T>(n);
  return y;
}

template <class T>
void check_segments(const char* op, bool simd) {
  const std::vector<std::vector<std::int32_t>> lists = {
      {}, {0}, {2}, {0, 0, 0, 1, 1, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 2, 2, 5, 5, 5, 5, 7}};
  constexpr std::int64_t inners[] = {1, 2, 3, 5, 8, 19, 67, 200}, behind[] = {0, 3};
  const bool mean = std::strcmp(op, "SparseSegmentMean") == 0;
  for (const auto& [ids, inner, more] : views::cartesian_product(lists, inners, behind)) {
    const sparse_segment_geometry g{static_cast<std::int64_t>(ids.size()), inner,
                                    (ids.empty() ? 0 : ids.back() + 1) + more};
    if (g.segments == 0) continue;
    SCOPED_TRACE(::testing::Message() << op << ", " << ids.size() << " rows of " << inner << ", " << g.segments);
    std::vector<T> x;
    for (std::int64_t i = 0; i < 7 * inner; ++i)
      x.push_back(std::is_integral_v<T>
                      ? static_cast<T>((i * 7919 % 1000) * (std::numeric_limits<std::int32_t>::max() / 900))
                      : static_cast<T>(static_cast<double>(i * 7919 % 1000) / 333 - 1));
    std::vector<std::int32_t> indices;
    for (std::size_t k = 0; k < ids.size(); ++k) indices.push_back(static_cast<std::int32_t>(k * 5 % 7));
    guarded_list<T> data(x);
    guarded_list<std::int32_t> at(indices), segments(ids);
    guarded<T> y(static_cast<std::size_t>(g.segments * inner));
    const void* in[] = {data.data(), at.data(), segments.data()};
    void* out[] = {y.data()};
    kernel<T>(op, simd)(in, out, &g);
    const std::vector<T> wanted = sums_of(g, x, indices, ids, mean);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double near =
          simd || std::is_integral_v<T> ? 0 : 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
      ASSERT_NEAR(y.data()[i], wanted[i], near) << i;
    }
  }
}

template <class T>
void check_both(bool simd) {
  check_segments<T>("SparseSegmentSum", simd);
  check_segments<T>("SparseSegmentMean", simd);
}

TEST(kernels_sparse_segments, add_rows_in_their_order) {
  kgtest::on_every_target([](const char*) {
    check_both<float>(true);
    check_both<double>(true);
    check_both<std::int32_t>(true);
    check_both<std::int64_t>(true);
  });
}
TEST(kernels_sparse_segments, of_the_reference_follow_the_same_rules) {
  check_both<float>(false);
  check_both<double>(false);
  check_both<std::int32_t>(false);
  check_both<std::int64_t>(false);
}

TEST(kernels_sparse_segments, round_means_of_integers_towards_zero) {
  for (const bool simd : {true, false}) {
    const std::int32_t x[] = {-3, 3, -4, 4, 0, 0}, indices[] = {0, 1, 2}, ids[] = {0, 0, 0};
    std::int32_t y[2];
    const sparse_segment_geometry g{3, 2, 1};
    const void* in[] = {x, indices, ids};
    void* out[] = {y};
    kernel<std::int32_t>("SparseSegmentMean", simd)(in, out, &g);
    EXPECT_EQ(y[0], -2);
    EXPECT_EQ(y[1], 2);
  }
}

// ------------------------------------------------------------------------------------------ bags

using combined = bag_geometry::combined;

// Bag by bag, row by row: the bits of one rounding each, of float32 those of a sum in double.
template <class T>
std::vector<T> bags_of(const bag_geometry& g, const std::vector<T>& x, const std::vector<std::int32_t>& indices,
                       const std::vector<std::int32_t>& offsets, const std::vector<T>& weights) {
  if constexpr (std::is_same_v<T, float>) {
    const std::vector<double> all =
        bags_of<double>(g, {x.begin(), x.end()}, indices, offsets, {weights.begin(), weights.end()});
    return {all.begin(), all.end()};
  }
  std::vector<T> y;
  for (std::size_t bag = 0; bag < offsets.size(); ++bag) {
    const std::size_t begin = static_cast<std::size_t>(offsets[bag]),
                      end = bag + 1 < offsets.size() ? static_cast<std::size_t>(offsets[bag + 1]) : indices.size();
    for (std::int64_t i = 0; i < g.inner; ++i) {
      T all = 0;
      for (std::size_t k = begin; k < end; ++k) {
        const T element = x[static_cast<std::size_t>(indices[k] * g.inner + i)];
        if (g.how == combined::max) all = k == begin || std::isnan(element) ? element : all < element ? element : all;
        else all += weights.empty() ? element : weights[k] * element;
      }
      y.push_back(g.how == combined::mean && begin < end ? all / static_cast<T>(end - begin) : all);
    }
  }
  return y;
}

template <class T>
void check_bags(bool simd, combined how, bool weighted, std::int64_t inner, const std::vector<std::int32_t>& offsets) {
  SCOPED_TRACE(::testing::Message() << static_cast<int>(how) << " of rows of " << inner << ", " << offsets.size()
                                    << " bags" << (weighted ? " with weights" : ""));
  std::vector<std::int32_t> indices;
  std::vector<T> x, some;
  for (std::int32_t k = 0; k < 9; ++k) indices.push_back(k * 5 % 7);
  for (int k = 0; k < 9 && weighted; ++k) some.push_back(static_cast<T>(k - 4) / 3);
  for (std::int64_t i = 0; i < 7 * inner; ++i)
    x.push_back(static_cast<T>(static_cast<double>(i * 7919 % 1000) / 333 - 2));
  x[static_cast<std::size_t>(3 * inner)] = std::numeric_limits<T>::quiet_NaN();
  const bag_geometry g{9, inner, static_cast<std::int64_t>(offsets.size()), how};
  guarded_list<T> data(x), weights(some);
  guarded_list<std::int32_t> at(indices), begins(offsets);
  guarded<T> y(static_cast<std::size_t>(g.bags * inner));
  const void* in[] = {data.data(), at.data(), begins.data(), weighted ? weights.data() : nullptr};
  void* out[] = {y.data()};
  kernel<T>("EmbeddingBag", simd)(in, out, &g);
  const std::vector<T> wanted = bags_of(g, x, indices, offsets, some);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double near = simd ? 0 : 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    if (std::isnan(wanted[i])) ASSERT_TRUE(std::isnan(y[i])) << i;
    else ASSERT_NEAR(y[i], wanted[i], near) << i;
  }
}

template <class T>
void check_all_bags(bool simd) {
  const std::vector<std::vector<std::int32_t>> offsets = {
      {0}, {0, 0, 3, 3, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9}, {0, 7}};
  constexpr std::int64_t inners[] = {1, 2, 3, 5, 8, 19, 67, 200};
  constexpr combined ways[] = {combined::sum, combined::mean, combined::max};
  for (const auto& [begins, inner] : views::cartesian_product(offsets, inners)) {
    for (const combined how : ways) check_bags<T>(simd, how, false, inner, begins);
    check_bags<T>(simd, combined::sum, true, inner, begins);
  }
}

TEST(kernels_embedding_bags, combine_the_rows_from_each_offset_to_the_next) {
  kgtest::on_every_target([](const char*) {
    check_all_bags<float>(true);
    check_all_bags<double>(true);
  });
  check_all_bags<float>(false);
  check_all_bags<double>(false);
}

// ------------------------------------------------------------------------------------------ indices

template <class T>
void check_reshape(bool simd) {
  using sizes = std::vector<std::int64_t>;
  struct reshaping {
    sizes from, to;
  };
  const std::vector<reshaping> all = {{{5, 6}, {3, 10}},
                                      {{5, 6}, {1, 5, 2, 3}},
                                      {{5, 6}, {5, 6}},
                                      {{2, 3, 4}, {24}},
                                      {{24}, {2, 1, 3, 4}},
                                      {{65536, 65536}, {2, 32768, 65536}},
                                      {{1, 1, 1, 1, 1, 1, 1, 1, 1, 6}, {6, 1, 1, 1, 1, 1, 1, 1, 1, 1}}};
  for (const reshaping& r : all) {
    std::int64_t elements = 1;
    for (const std::int64_t size : r.from) elements *= size;
    const auto indices_of = [](const sizes& dims, std::int64_t element) {
      std::vector<T> index(dims.size());
      for (std::size_t axis = dims.size(); axis-- > 0; element /= dims[axis])
        index[axis] = static_cast<T>(element % dims[axis]);
      return index;
    };
    std::vector<T> given, wanted;
    std::int64_t count = 0;
    for (std::int64_t element = elements - 1; element >= 0;
         element -= std::max<std::int64_t>(1, elements / 31), ++count) {
      for (T i : indices_of(r.from, element)) given.push_back(i);
      for (T i : indices_of(r.to, element)) wanted.push_back(i);
    }
    guarded_list<T> x(given);
    guarded<T> y(wanted.size());
    const sparse_reshape_geometry g{count, static_cast<std::int64_t>(r.from.size()),
                                    static_cast<std::int64_t>(r.to.size()), r.from.data(), r.to.data()};
    const void* in[] = {x.data()};
    void* out[] = {y.data()};
    kernel<T>("SparseReshape", simd)(in, out, &g);
    ASSERT_EQ(std::vector<T>(y.begin(), y.end()), wanted);
  }
}

template <class T>
void check_ranges(bool simd) {
  const std::vector<std::int32_t> splits = {0, 1, 1, 40, 43, 60};
  for (const auto& [start_step, delta_step] : {std::pair{1, 1}, std::pair{0, 1}, std::pair{1, 0}, std::pair{0, 0}}) {
    std::vector<T> starts, deltas;
    for (int r = 0; r < (start_step ? 5 : 1); ++r) starts.push_back(static_cast<T>(r * 5) - 7);
    for (int r = 0; r < (delta_step ? 5 : 1); ++r) deltas.push_back(static_cast<T>(3 - 2 * r) / 2);
    if (std::is_integral_v<T>) starts.back() = std::numeric_limits<T>::max();  // wraps
    guarded_list<T> first(starts), step(deltas);
    guarded<T> y(60);
    const ragged_range_geometry g{5, start_step, delta_step, splits.data()};
    const void* in[] = {first.data(), nullptr, step.data()};
    void* out[] = {nullptr, y.data()};
    kernel<T>("RaggedRange", simd)(in, out, &g);
    using W = std::conditional_t<std::is_integral_v<T>, __int128, long double>;
    for (std::size_t r = 0; r < 5; ++r)
      for (std::int32_t i = splits[r]; i < splits[r + 1]; ++i) {
        const W exact = starts[start_step ? r : 0] + static_cast<W>(i - splits[r]) * deltas[delta_step ? r : 0];
        ASSERT_EQ(y.data()[i], static_cast<T>(exact)) << r << ", " << i;
      }
  }
}

TEST(kernels_sparse_indices, are_those_of_the_same_elements) {
  for (const bool simd : {true, false}) {
    check_reshape<std::int32_t>(simd);
    check_reshape<std::int64_t>(simd);
  }
}
TEST(kernels_sparse_indices, and_ranges_step_from_their_starts) {
  const auto check = [](bool simd) {
    check_ranges<float>(simd);
    check_ranges<double>(simd);
    check_ranges<std::int32_t>(simd);
    check_ranges<std::int64_t>(simd);
  };
  kgtest::on_every_target([&](const char*) { check(true); });
  check(false);
}

template <class A, class B>
void expect_same_names(const A& simd, const B& plain) {
  ASSERT_EQ(std::size(simd), std::size(plain));
  for (std::size_t i = 0; i < std::size(simd); ++i) {
    EXPECT_STREQ(simd[i].op, plain[i].op);
    EXPECT_EQ(simd[i].type, plain[i].type);
  }
}
TEST(kernels_sparse_segments, name_the_same_kernels_on_both_sides) {
  expect_same_names(sparse_segments_simd, reference::sparse_segments_reference);
  expect_same_names(sparse_indices_simd, reference::sparse_indices_reference);
}

}  // namespace
