// SPDX-License-Identifier: Apache-2.0
// The search for elements that are not zero, on every target, between guard pages.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "kernels/move/nonzero.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;

template <class T>
run_fn kernel(dtype type, bool simd) {
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(nonzero_simd), std::end(nonzero_simd))
            : std::vector<entry>(std::begin(reference::nonzero_reference), std::end(reference::nonzero_reference)))
    if (e.type == type) return e.run;
  return nullptr;
}

using sizes = std::vector<std::int64_t>;

// Counts the indices up as an odometer does.
template <class T>
std::vector<std::int32_t> indices_of(guarded<T>& x, const sizes& dims) {
  std::vector<std::int32_t> all, at(dims.size());
  for (const T& value : x) {
    if (value != T{0}) all.insert(all.end(), at.begin(), at.end());
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
  return all;
}

// Every element, none, and one of `rarity`.
template <class T>
void check(dtype type, const sizes& dims, unsigned rarity, kgtest::edge side, bool simd) {
  std::size_t size = 1;
  nonzero_geometry g{static_cast<int>(dims.size()), {}, nullptr};
  for (std::size_t i = 0; i < dims.size(); ++i) size *= static_cast<std::size_t>(g.dims[i] = dims[i]);
  guarded<T> x(size, side);
  guarded<std::int32_t> y(size * dims.size(), side);
  std::mt19937 random(5);
  for (T& value : x) value = static_cast<T>(rarity != 0 && random() % rarity == 0 ? 1 + random() % 200 : 0);
  std::int64_t count = -1;
  g.count = &count;
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel<T>(type, simd)(in, out, &g);
  const std::vector<std::int32_t> wanted = indices_of(x, dims);
  ASSERT_EQ(count * static_cast<std::int64_t>(dims.size()), static_cast<std::int64_t>(wanted.size()));
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(y[i], wanted[i]) << i;
}

template <class T>
void check_shapes(dtype type, bool simd) {
  const std::vector<sizes> shapes = {
      {1},     {3},       {67},       {1500},        {2, 3},           {1, 1},
      {5, 67}, {3, 2100}, {2, 3, 45}, {2, 2, 3, 33}, {2, 1, 1, 2, 19}, {1, 2, 1, 3, 1, 2, 1, 8}};
  for (const sizes& dims : shapes)
    for (const unsigned rarity : {0u, 1u, 2u, 20u})
      for (const kgtest::edge side : kgtest::edges) {
        check<T>(type, dims, rarity, side, simd);
        if (::testing::Test::HasFatalFailure()) return;
      }
}

void check_dtypes(bool simd) {
  check_shapes<float>(dtype::float32, simd);
  check_shapes<double>(dtype::float64, simd);
  check_shapes<std::int32_t>(dtype::int32, simd);
  check_shapes<std::int64_t>(dtype::int64, simd);
  check_shapes<std::uint8_t>(dtype::uint8, simd);
  check_shapes<std::uint8_t>(dtype::boolean, simd);
}

TEST(kernels_nonzero, give_the_indices_of_every_element_that_is_not_zero) {
  kgtest::on_every_target([](const char*) { check_dtypes(true); });
}
TEST(kernels_nonzero, of_the_reference_give_the_same) { check_dtypes(false); }

template <class T>
void check_special(dtype type, bool simd) {
  const T nan = std::numeric_limits<T>::quiet_NaN(), least = std::numeric_limits<T>::denorm_min();
  const std::vector<T> pattern = {T{0}, -T{0}, nan, least, -least, std::numeric_limits<T>::infinity(), T{0}};
  guarded<T> x(pattern.size() * 7);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = pattern[i % pattern.size()];
  guarded<std::int32_t> y(x.size());
  std::int64_t count = 0;
  const nonzero_geometry g{1, {static_cast<std::int64_t>(x.size())}, &count};
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel<T>(type, simd)(in, out, &g);
  ASSERT_EQ(count, 4 * 7);
  for (std::size_t i = 0; i < 28; ++i) EXPECT_EQ(y[i], static_cast<std::int32_t>(i / 4 * 7 + 2 + i % 4));
}

TEST(kernels_nonzero, take_both_zeros_as_zero_and_nothing_else) {
  kgtest::on_every_target([](const char*) {
    check_special<float>(dtype::float32, true);
    check_special<double>(dtype::float64, true);
  });
  check_special<float>(dtype::float32, false);
  check_special<double>(dtype::float64, false);
}

TEST(kernels_nonzero, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(nonzero_simd), std::size(reference::nonzero_reference));
  for (std::size_t i = 0; i < std::size(nonzero_simd); ++i)
    EXPECT_EQ(nonzero_simd[i].type, reference::nonzero_reference[i].type);
}

}  // namespace
