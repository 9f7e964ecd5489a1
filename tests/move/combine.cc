// SPDX-License-Identifier: Apache-2.0
// Rows combined at their indices, on every target, between guard pages, against a walk over the indices in their order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/move/combine.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

constexpr combination ways[] = {combination::add, combination::mul, combination::max, combination::min,
                                combination::mean};

// Runs f(kernel, element, whether sums are rounded one by one) for each dtype, on every target and by the reference.
template <class F>
void each_combiner(F f) {
  const auto table = [&](const auto& entries, bool simd) {
    for (const entry& e : entries) {
      if (::testing::Test::HasFatalFailure()) return;
      SCOPED_TRACE(trait_of(e.type).name);
      visit(e.type, [&](auto is) {
        using T = storage_t<decltype(is)::value>;
        if constexpr (std::is_arithmetic_v<T> && std::is_signed_v<T> && sizeof(T) >= 4) f(e.run, T{}, simd);
      });
    }
  };
  kgtest::on_every_target([&](const char*) { table(combine_ops::kernels_of_list, true); });
  table(reference::combine_ops::kernels_of_list, false);
}

template <class T>
T joined(combination how, T a, T b) {
  using U = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  switch (how) {
    case combination::mul: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    case combination::max: return std::max(a, b);
    case combination::min: return std::min(a, b);
    default: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

template <class T>
T beginning(combination how) {
  using limits = std::numeric_limits<T>;
  if (how == combination::max) return limits::has_infinity ? -limits::infinity() : limits::min();
  if (how == combination::min) return limits::has_infinity ? limits::infinity() : limits::max();
  return how == combination::mul ? T{1} : T{0};
}

template <class T>
T element(std::size_t i) {
  const auto n = static_cast<std::int64_t>(i * 7919 % 1009) - 300;
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(n) * (std::numeric_limits<T>::max() / 700));
  else return static_cast<T>(static_cast<double>(n) / 333);
}

struct combining {
  combine_geometry g;
  std::vector<std::int32_t> indices;
};

template <class T>
std::vector<T> walked(const combining& c, const std::vector<T>& x, std::vector<T> y) {
  const combine_geometry& g = c.g;
  std::vector<T> counts(y.size());
  if (g.fresh) std::fill(y.begin(), y.end(), beginning<T>(g.how));
  for (std::int64_t r = 0; r < g.rows; ++r) {
    const std::int64_t place = c.indices[static_cast<std::size_t>(r)] - g.first;
    for (std::int64_t i = 0; i < g.inner && place >= 0 && place < g.y_rows; ++i) {
      const auto at = static_cast<std::size_t>(place * g.inner + i);
      y[at] = joined(g.how, y[at], x[static_cast<std::size_t>(r * g.step + i)]);
      counts[at] += T{1};
    }
  }
  for (std::size_t i = 0; i < y.size() && g.how == combination::mean; ++i)
    if (counts[i] != T{0}) y[i] /= counts[i];
  return y;
}

// Sums and means of float32 are carried in double and rounded once.
template <class T>
std::vector<T> expected(const combining& c, const std::vector<T>& x, const std::vector<T>& y) {
  if (std::is_same_v<T, float> && (c.g.how == combination::add || c.g.how == combination::mean)) {
    const std::vector<double> sums = walked<double>(c, {x.begin(), x.end()}, std::vector<double>(y.begin(), y.end()));
    return {sums.begin(), sums.end()};
  }
  return walked<T>(c, x, y);
}

template <class T>
void check_combining(run_fn run, bool simd, const combining& c, edge side) {
  SCOPED_TRACE(::testing::Message() << static_cast<int>(c.g.how) << " of rows of " << c.g.inner << ", step " << c.g.step
                                    << ", from " << c.g.first << (c.g.fresh ? ", fresh" : ""));
  guarded<T> x(static_cast<std::size_t>(c.g.step == 0 ? c.g.inner : c.g.rows * c.g.inner), side);
  guarded<T> y(static_cast<std::size_t>(c.g.y_rows * c.g.inner), side);
  guarded<std::int32_t> indices(c.indices.size(), side);
  std::copy(c.indices.begin(), c.indices.end(), indices.begin());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = element<T>(i);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = element<T>(5000 + i);
  const std::vector<T> wanted = expected<T>(c, {x.begin(), x.end()}, {y.begin(), y.end()});
  guarded<std::int64_t> counts(static_cast<std::size_t>(c.g.y_rows), side);
  combine_geometry g = c.g;
  g.counts = counts.data();
  const void* in[] = {x.data(), indices.data()};
  void* out[] = {y.data()};
  run(in, out, &g);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    // The reference rounds once, the walk once a row.
    const double size = std::max(1.0, std::fabs(static_cast<double>(wanted[i])));
    const double near = simd || std::is_integral_v<T> || std::isinf(size)
                            ? 0
                            : 64 * size * static_cast<double>(std::numeric_limits<T>::epsilon());
    if (wanted[i] != y[i]) ASSERT_NEAR(wanted[i], y[i], near) << "at " << i;
  }
}

TEST(kernels_combine, rows_of_an_index_are_combined_in_their_order) {
  constexpr std::int64_t inners[] = {0, 1, 2, 3, 5, 8, 19, 67}, firsts[] = {0, 2};
  constexpr bool either[] = {false, true};
  std::vector<std::int32_t> indices;
  for (int r = 0; r < 23; ++r) indices.push_back(r * r % 7 - 1);  // -1 to 3: each of some places several times
  each_combiner([&]<class T>(run_fn run, T, bool simd) {
    for (const auto& [how, inner, first, same, fresh] : views::cartesian_product(ways, inners, firsts, either, either))
      check_combining<T>(run, simd,
                         {{23, inner, same ? 0 : inner, first, 3, how, fresh || how == combination::mean}, indices},
                         edges[first / 2]);
    check_combining<T>(run, simd, {{0, 5, 5, 0, 3, combination::mean, true}, {}}, edge::end);
    check_combining<T>(run, simd, {{2, 5, 5, 0, 0, combination::max, true}, {0, 1}}, edge::begin);
  });
}

TEST(kernels_combine, extremes_keep_nan_and_what_is_beyond_every_element_stays_where_there_is_none) {
  each_combiner([]<class T>(run_fn run, T, bool) {
    if constexpr (std::is_floating_point_v<T>) {
      const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
      for (const std::int64_t inner : {1, 4, 19}) {
        for (const bool greatest : {true, false}) {
          const T rows[] = {1, nan, 3, nan, 2, -2, inf, -inf};
          std::vector<T> x, y(static_cast<std::size_t>(5 * inner));
          for (const T value : rows) x.insert(x.end(), static_cast<std::size_t>(inner), value);
          const std::int32_t indices[] = {0, 0, 0, 1, 1, 2, 3, 3};
          const combine_geometry g{8, inner, inner, 0, 5, greatest ? combination::max : combination::min, true};
          const void* in[] = {x.data(), indices};
          void* out[] = {y.data()};
          run(in, out, &g);
          const T beyond = greatest ? -inf : inf, wanted[] = {nan, nan, -2, greatest ? inf : -inf, beyond};
          for (std::size_t i = 0; i < y.size(); ++i) {
            const T value = wanted[i / static_cast<std::size_t>(inner)];
            ASSERT_TRUE(value != value ? y[i] != y[i] : y[i] == value) << i << " is " << y[i];
          }
        }
      }
    }
  });
}

TEST(kernels_combine, means_of_integers_are_rounded_towards_zero) {
  each_combiner([]<class T>(run_fn run, T, bool) {
    if constexpr (std::is_integral_v<T>) {
      const T x[] = {-3, 3, -4, 4, 0, 0};
      const std::int32_t indices[] = {0, 0, 0};
      T y[2];
      std::int64_t count;
      const combine_geometry g{3, 2, 2, 0, 1, combination::mean, true, &count};
      const void* in[] = {x, indices};
      void* out[] = {y};
      run(in, out, &g);
      EXPECT_EQ(y[0], -2);
      EXPECT_EQ(y[1], 2);
    }
  });
}

TEST(kernels_combine, have_the_same_names_on_both_sides) {
  ASSERT_EQ(std::size(combine_simd), std::size(reference::combine_reference));
  for (std::size_t i = 0; i < std::size(combine_simd); ++i) {
    EXPECT_STREQ(combine_simd[i].op, reference::combine_reference[i].op);
    EXPECT_EQ(combine_simd[i].type, reference::combine_reference[i].type);
  }
}

}  // namespace
