// SPDX-License-Identifier: Apache-2.0
// Images under projective maps, and the adjoint, against an image continued as far as it is read, on every target,
// between guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/image/warp.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;
namespace views = ranges::views;

template <class T>
run_fn kernel(const std::string& op, bool simd) {
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(warp_simd), std::end(warp_simd))
            : std::vector<entry>(std::begin(reference::warp_reference), std::end(reference::warp_reference)))
    if (e.op == op && e.type == (sizeof(T) == 4 ? dtype::float32 : dtype::float64)) return e.run;
  return nullptr;
}

// ------------------------------------------------------------------------------------------ the definition

struct share {
  std::int64_t pixel;
  long double weight;
};

// Pixels that a position on a side takes, some of which may lie outside. The mirrored image is walked cell by cell;
// the repeated one steps by whole images, of which the reference implementation has one for each last pixel's length.
std::vector<share> shares_at(const warp_geometry& g, long double at, std::int64_t pixels, bool slope) {
  const long double n = static_cast<long double>(pixels), last = n - 1;
  long double direction = 1;
  if (g.mode != fill_mode::constant && (at < 0 || at > last)) {
    if (pixels == 1) at = direction = 0;
    if (g.mode == fill_mode::reflect && pixels > 1)
      while (at <= -1 || at >= n) {
        at = at <= -1 ? -at - 1 : 2 * n - at - 1;  // mirrored at the edge that it lies beyond
        direction = -direction;
      }
    if (g.mode == fill_mode::wrap && pixels > 1) {
      const long double from = at;
      if (from < 0) at += n;
      for (long double passed = last; passed <= std::fabs(from); passed += last) at += from < 0 ? n : -n;
    }
    if (at < 0 || at > last) {
      at = std::clamp(at, 0.0L, last);
      direction = 0;
    }
  }
  if (g.nearest) return {{static_cast<std::int64_t>(std::floor(at + 0.5L)), slope ? 0.0L : 1.0L}};
  const auto low = static_cast<std::int64_t>(std::floor(at));
  const long double part = at - std::floor(at);
  if (slope) return {{low, -direction}, {low + 1, direction}};
  return {{low, 1 - part}, {low + 1, part}};
}

// Calls add(element of y, element of x or none outside, weight).
template <class Add>
void for_each_term(const warp_geometry& g, Add add) {
  using outside = std::optional<std::size_t>;
  std::size_t index = 0;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t i = 0; i < g.out_h; ++i)
      for (std::int64_t j = 0; j < g.out_w; ++j)
        for (std::int64_t c = 0; c < g.channels; ++c, ++index) {
          const double* t = g.transforms + b * g.stride;
          const auto sum = [&](int k, long double one) {
            return t[k] * static_cast<long double>(j) + t[k + 1] * static_cast<long double>(i) + one;
          };
          const long double p = sum(6, 1);
          if (p == 0) {
            add(index, outside(), g.slope_down || g.slope_across ? 0 : 1);
            continue;
          }
          for (const share& down : shares_at(g, sum(3, t[5]) / p, g.in_h, g.slope_down))
            for (const share& across : shares_at(g, sum(0, t[2]) / p, g.in_w, g.slope_across)) {
              const bool inside = down.pixel >= 0 && down.pixel < g.in_h && across.pixel >= 0 && across.pixel < g.in_w;
              const std::int64_t from = ((b * g.in_h + down.pixel) * g.in_w + across.pixel) * g.channels + c;
              add(index, inside ? outside(static_cast<std::size_t>(from)) : outside(), down.weight * across.weight);
            }
        }
}

// ------------------------------------------------------------------------------------------ checks

template <class T>
void draw(guarded<T>& values) {
  std::mt19937 random(5);
  for (T& v : values) v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 * 4 - 2);
}

template <class T>
void check_transform(const warp_geometry& g, kgtest::edge side, bool simd) {
  const auto x_size = static_cast<std::size_t>(g.batch * g.in_h * g.in_w * g.channels);
  const auto y_size = static_cast<std::size_t>(g.batch * g.out_h * g.out_w * g.channels);
  guarded<T> x(x_size, side), y(y_size, side), dx(x_size, side);
  draw(x);
  std::vector<long double> forward(y_size), back(x_size), terms(x_size);
  for_each_term(g, [&](std::size_t to, std::optional<std::size_t> from, long double weight) {
    forward[to] += weight * (from ? x[*from] : static_cast<T>(g.fill));
  });
  const void* in[] = {x.data(), nullptr};
  void* out[] = {y.data()};
  kernel<T>("Transform", simd)(in, out, &g);
  const long double epsilon = std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < y_size; ++i) ASSERT_NEAR(y[i], forward[i], 100 * epsilon) << i;
  draw(y);
  for_each_term(g, [&](std::size_t from, std::optional<std::size_t> to, long double weight) {
    if (!to) return;
    back[*to] += weight * y[from];
    terms[*to] += std::fabs(y[from]);
  });
  const void* in_back[] = {y.data(), nullptr};
  void* out_back[] = {dx.data()};
  kernel<T>("TransformGrad", simd)(in_back, out_back, &g);
  for (std::size_t i = 0; i < x_size; ++i) ASSERT_NEAR(dx[i], back[i], 100 * epsilon * (1 + terms[i])) << i;
}

// Maps whose positions are exact in both arithmetics, or far from where they decide: the identity, half a pixel aside,
// mirrored and far outside, turned, and one whose divisor becomes 0.
constexpr double maps[][8] = {{1, 0, 0, 0, 1, 0, 0, 0},
                              {1, 0, 0.5, 0, 1, -0.5, 0, 0},
                              {-2, 0, 3.25, 0, -3, -1.75, 0, 0},
                              {0.8, -0.6, 1.31, 0.6, 0.8, -7.13, 0, 0},
                              {5, 0, -9.5, 0, 4, 17.25, 0, 0},
                              {1, 0.25, 0.125, 0.5, 1, 0.375, -0.5, 0},
                              {0.98, 0.15, 2.25, -0.01, 0.52, 1.29, 0.01, 0.04}};

template <class T>
void check_everywhere(bool simd) {
  struct sides {
    std::int64_t in_h, in_w, out_h, out_w;
  };
  constexpr sides all[] = {{4, 5, 4, 5}, {3, 2, 5, 7}, {1, 3, 2, 2}};
  constexpr std::int64_t channels[] = {1, 3, 19};
  constexpr fill_mode modes[] = {fill_mode::constant, fill_mode::reflect, fill_mode::wrap, fill_mode::nearest};
  constexpr bool either[] = {false, true};
  for (const auto& [map, s, c, mode] : views::cartesian_product(maps, all, channels, modes))
    for (const auto& [nearest, down, across] : views::cartesian_product(either, either, either)) {
      SCOPED_TRACE(::testing::Message() << "map " << map[0] << ' ' << map[2] << ", " << s.in_h << 'x' << s.in_w << 'x'
                                        << c << " mode " << static_cast<int>(mode) << (nearest ? " nearest" : "")
                                        << (down ? " down" : "") << (across ? " across" : ""));
      check_transform<T>({.batch = 2,
                          .in_h = s.in_h,
                          .in_w = s.in_w,
                          .channels = c,
                          .out_h = s.out_h,
                          .out_w = s.out_w,
                          .transforms = map,
                          .stride = 0,
                          .fill = 1.5,
                          .mode = mode,
                          .nearest = nearest,
                          .slope_down = down,
                          .slope_across = across},
                         c == 3 ? kgtest::edge::begin : kgtest::edge::end, simd);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(kernels_warp, take_and_give_back_pixels_of_the_image_as_it_goes_on_outside) {
  kgtest::on_every_target([](const char*) {
    check_everywhere<float>(true);
    check_everywhere<double>(true);
  });
}
TEST(kernels_warp, of_the_reference_follow_the_same_rules) {
  check_everywhere<float>(false);
  check_everywhere<double>(false);
}

TEST(kernels_warp, give_each_image_the_map_of_its_own) {
  const double two[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0};
  const float x[] = {1, 2, 3, 4};
  float y[4];
  const warp_geometry g{2, 1, 2, 1, 1, 2, two, 8, 9, fill_mode::constant, true, false, false};
  const void* in[] = {x, nullptr};
  void* out[] = {y};
  Transform_float32(in, out, &g);
  const float wanted[] = {1, 2, 4, 9};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[i], wanted[i]) << i;
}

// Positions that no integer holds, and such as are no numbers: what is outside, and nothing read.
TEST(kernels_warp, stay_inside_for_positions_beyond_every_integer) {
  kgtest::on_every_target([](const char*) {
    for (const fill_mode mode : {fill_mode::constant, fill_mode::reflect, fill_mode::wrap, fill_mode::nearest})
      for (const double far : {1e19, -1e19, 1e300, -1e300})
        for (const double divisor : {0.0, 1e-300, -1e300}) {
          const double map[] = {far, far, far, far, far, far, divisor, -divisor};
          guarded<float> x(6), y(12);
          draw(x);
          for (const bool nearest : {false, true}) {
            const warp_geometry g{1, 2, 3, 1, 3, 4, map, 0, 1.5, mode, nearest, false, false};
            const void* in[] = {x.data(), nullptr};
            void* out[] = {y.data()};
            Transform_float32(in, out, &g);
            for (float v : y) ASSERT_TRUE(std::fabs(v) <= 2) << v;
          }
        }
  });
}

TEST(kernels_warp, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(warp_simd), std::size(reference::warp_reference));
  for (std::size_t i = 0; i < std::size(warp_simd); ++i) {
    EXPECT_STREQ(warp_simd[i].op, reference::warp_reference[i].op);
    EXPECT_EQ(warp_simd[i].type, reference::warp_reference[i].type);
  }
}

}  // namespace
