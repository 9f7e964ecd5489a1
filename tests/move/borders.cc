// SPDX-License-Identifier: Apache-2.0
// Borders that repeat elements, against lists that are extended one element at a time, axis by axis.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/move/borders.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

struct padded_axis {
  std::int64_t before, size, after;
};

// The numbers of the elements of x that the elements of y are: slices of an axis, one list each, are put in front of
// those that there are and behind them.
std::vector<std::int64_t> extended(const std::vector<padded_axis>& axes, std::size_t axis, std::int64_t first,
                                   bool wrap) {
  if (axis == axes.size()) return {first};
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < axes.size(); ++i) inner *= axes[i].size;
  std::deque<std::vector<std::int64_t>> slices;
  for (std::int64_t i = 0; i < axes[axis].size; ++i)
    slices.push_back(extended(axes, axis + 1, first + i * inner, wrap));
  const std::size_t period = wrap ? slices.size() : 1;
  for (std::int64_t i = 0; i < axes[axis].before; ++i) slices.push_front(slices[period - 1]);
  for (std::int64_t i = 0; i < axes[axis].after; ++i) slices.push_back(slices[slices.size() - period]);
  std::vector<std::int64_t> all;
  for (const auto& slice : slices) all.insert(all.end(), slice.begin(), slice.end());
  return all;
}

void check(const entry& e, const std::vector<padded_axis>& axes, bool wrap, edge side,
           const std::vector<std::int64_t>& wanted) {
  repeat_geometry g{static_cast<int>(axes.size()), {}, {}, {}, wrap};
  std::size_t count = trait_of(e.type).size;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    g.before[i] = axes[i].before, g.dims[i] = axes[i].size, g.after[i] = axes[i].after;
    count *= static_cast<std::size_t>(axes[i].size);
  }
  const std::size_t size = trait_of(e.type).size;
  guarded<unsigned char> x(count, side), y(wanted.size() * size, side);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i * 37 + 5);
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  e.run(in, out, &g);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_EQ(std::memcmp(y.data() + i * size, x.data() + static_cast<std::size_t>(wanted[i]) * size, size), 0) << i;
}

TEST(kernels_borders, a_border_repeats_the_outermost_slices_or_the_whole_axis) {
  const std::vector<std::vector<padded_axis>> shapes = {
      {{0, 1, 0}},
      {{0, 5, 0}},
      {{3, 1, 2}},
      {{2, 5, 3}},
      {{11, 4, 23}},
      {{70000, 3, 5}},
      {{1, 2, 1}, {0, 3, 4}},
      {{0, 2, 0}, {9, 3, 7}, {0, 3, 0}},
      {{5, 2, 6}, {0, 3, 0}},
      {{1, 3, 0}, {0, 2, 1}, {2, 1, 2}},
      {{0, 2, 1}, {1, 2, 0}, {1, 1, 1}, {0, 2, 0}, {1, 2, 1}, {0, 1, 1}, {1, 2, 0}, {0, 3, 2}}};
  constexpr bool modes[] = {false, true};
  for (const auto& [axes, wrap, side] : views::cartesian_product(shapes, modes, edges)) {
    const std::vector<std::int64_t> wanted = extended(axes, 0, 0, wrap);
    for (const entry& e : border_simd) check(e, axes, wrap, side, wanted);
    for (const entry& e : reference::border_reference) check(e, axes, wrap, side, wanted);
  }
}

TEST(kernels_borders, every_dtype_has_a_kernel) {
  EXPECT_EQ(std::size(border_simd), static_cast<std::size_t>(dtype_count));
  EXPECT_EQ(std::size(reference::border_reference), static_cast<std::size_t>(dtype_count));
}
}  // namespace
