// SPDX-License-Identifier: Apache-2.0
// Resizing and its adjoints against dense matrices of weights, on every target, between guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/common/parallel.h"
#include "kernels/image/resize.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;
namespace views = ranges::views;

template <class T> constexpr dtype type_of = sizeof(T) == 4 ? dtype::float32 : dtype::float64;

run_fn kernel(const char* op, dtype type, bool simd) {
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(resize_simd), std::end(resize_simd))
            : std::vector<entry>(std::begin(reference::resize_reference), std::end(reference::resize_reference)))
    if (std::string(e.op) == op && e.type == type) return e.run;
  return nullptr;
}

// ------------------------------------------------------------------------------------------ the definition

using matrix = std::vector<std::vector<long double>>;  // [pixel of y][pixel of x]

// Position i of an axis, which lies between its ends.
long double position(const resize_geometry& g, std::int64_t in, std::int64_t out, std::int64_t i) {
  const long double n = static_cast<long double>(in), m = static_cast<long double>(out),
                    at = static_cast<long double>(i);
  long double x = at * n / m;
  if (g.align_corners && out > 1) x = at * (n - 1) / (m - 1);
  else if (g.half_pixel_centers) x = (at + 0.5L) * n / m - 0.5L;
  return std::clamp(x, 0.0L, n - 1);
}
// Each pixel of x counts by its distance from the position.
matrix linear_weights(const resize_geometry& g, std::int64_t in, std::int64_t out) {
  matrix all;
  for (std::int64_t i = 0; i < out; ++i) {
    auto& row = all.emplace_back();
    for (std::int64_t p = 0; p < in; ++p)
      row.push_back(std::max(0.0L, 1 - std::fabs(position(g, in, out, i) - static_cast<long double>(p))));
  }
  return all;
}
// The pixel whose cell the position lies in: compared as whole numbers, without a division.
matrix nearest_weights(const resize_geometry& g, std::int64_t in, std::int64_t out) {
  matrix all;
  for (std::int64_t i = 0; i < out; ++i) {
    auto& row = all.emplace_back();
    for (std::int64_t p = 0; p < in; ++p) {
      bool here = p * out <= i * in && i * in < (p + 1) * out;
      if (g.align_corners && out > 1) {
        const std::int64_t twice = 2 * i * (in - 1), cell = out - 1;
        here = (2 * p - 1) * cell <= twice && twice < (2 * p + 1) * cell;
      } else if (g.half_pixel_centers) {
        here = 2 * p * out <= (2 * i + 1) * in && (2 * i + 1) * in < 2 * (p + 1) * out;
      }
      row.push_back(here ? 1 : 0);
    }
  }
  return all;
}

// One axis of images [batch, h, w, channels] after the other, every pixel of the result from every pixel there is.
template <class T, class Add>
void for_each_term(const resize_geometry& g, const matrix& down, const matrix& across, Add add) {
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oy = 0; oy < g.out_h; ++oy)
      for (std::int64_t iy = 0; iy < g.in_h; ++iy) {
        const long double vertical = down[static_cast<std::size_t>(oy)][static_cast<std::size_t>(iy)];
        for (std::int64_t ox = 0; ox < g.out_w && vertical != 0; ++ox)
          for (std::int64_t ix = 0; ix < g.in_w; ++ix) {
            const long double weight = vertical * across[static_cast<std::size_t>(ox)][static_cast<std::size_t>(ix)];
            for (std::int64_t c = 0; c < g.channels && weight != 0; ++c)
              add(static_cast<std::size_t>(((b * g.out_h + oy) * g.out_w + ox) * g.channels + c),
                  static_cast<std::size_t>(((b * g.in_h + iy) * g.in_w + ix) * g.channels + c), weight);
          }
      }
}

// ------------------------------------------------------------------------------------------ checks

std::size_t size_of_x(const resize_geometry& g) {
  return static_cast<std::size_t>(g.batch * g.in_h * g.in_w * g.channels);
}
std::size_t size_of_y(const resize_geometry& g) {
  return static_cast<std::size_t>(g.batch * g.out_h * g.out_w * g.channels);
}

template <class T>
void draw(guarded<T>& values) {
  std::mt19937 random(7);
  for (T& v : values) v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 * 4 - 2);
}

template <class T>
void check_resize(const char* op, const resize_geometry& g, kgtest::edge side, bool simd) {
  const bool linear = std::string(op) == "ResizeBilinear";
  const matrix down = linear ? linear_weights(g, g.in_h, g.out_h) : nearest_weights(g, g.in_h, g.out_h);
  const matrix across = linear ? linear_weights(g, g.in_w, g.out_w) : nearest_weights(g, g.in_w, g.out_w);
  guarded<T> x(size_of_x(g), side), y(size_of_y(g), side), dx(size_of_x(g), side);
  draw(x);
  std::vector<long double> forward(y.size()), back(x.size()), terms(x.size());
  for_each_term<T>(g, down, across,
                   [&](std::size_t to, std::size_t from, long double weight) { forward[to] += weight * x[from]; });
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel(op, type_of<T>, simd)(in, out, &g);
  const long double epsilon = std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], forward[i], linear ? 12 * epsilon : 0) << i;
  draw(y);
  for_each_term<T>(g, down, across, [&](std::size_t from, std::size_t to, long double weight) {
    back[to] += weight * y[from];
    terms[to] += std::fabs(weight * y[from]);
  });
  const void* in_back[] = {y.data(), nullptr};
  void* out_back[] = {dx.data()};
  kernel((std::string(op) + "Grad").c_str(), type_of<T>, simd)(in_back, out_back, &g);
  for (std::size_t i = 0; i < dx.size(); ++i) ASSERT_NEAR(dx[i], back[i], 40 * epsilon * terms[i]) << i;
}

std::vector<resize_geometry> geometries() {
  struct sides {
    std::int64_t in_h, in_w, out_h, out_w;
  };
  const sides all[] = {{2, 3, 4, 5},  {5, 7, 2, 3},  {4, 4, 4, 4},  {1, 1, 3, 2}, {3, 5, 1, 1},
                       {6, 98, 3, 2}, {2, 2, 9, 98}, {5, 9, 7, 31}, {3, 24, 2, 4}};
  constexpr std::int64_t channels[] = {1, 2, 3, 4, 5, 8, 17};
  std::vector<resize_geometry> list;
  for (const auto& [s, c] : views::cartesian_product(all, channels))
    for (int way = 0; way < 3; ++way)
      list.push_back({c == 3 ? 2 : 1, s.in_h, s.in_w, c, s.out_h, s.out_w, way == 1, way == 2});
  return list;
}

template <class T>
void check_everywhere(const char* op, bool simd) {
  for (const resize_geometry& g : geometries())
    for (const kgtest::edge side : kgtest::edges) {
      SCOPED_TRACE(::testing::Message() << g.in_h << 'x' << g.in_w << 'x' << g.channels << " to " << g.out_h << 'x'
                                        << g.out_w << (g.align_corners ? " corners" : "")
                                        << (g.half_pixel_centers ? " centers" : ""));
      check_resize<T>(op, g, side, simd);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(kernels_resize, interpolate_by_the_distance_of_the_pixels_and_give_back_in_the_same_shares) {
  kgtest::on_every_target([](const char*) {
    check_everywhere<float>("ResizeBilinear", true);
    check_everywhere<double>("ResizeBilinear", true);
  });
}
TEST(kernels_resize, take_the_pixel_whose_cell_the_position_lies_in) {
  kgtest::on_every_target([](const char*) {
    check_everywhere<float>("ResizeNearestNeighbor", true);
    check_everywhere<double>("ResizeNearestNeighbor", true);
  });
}
TEST(kernels_resize, of_the_reference_follow_the_same_rules) {
  check_everywhere<float>("ResizeBilinear", false);
  check_everywhere<double>("ResizeBilinear", false);
  check_everywhere<float>("ResizeNearestNeighbor", false);
  check_everywhere<double>("ResizeNearestNeighbor", false);
}

// The bytes of each dtype that there is a kernel for.
TEST(kernels_resize, move_pixels_of_every_dtype) {
  kgtest::on_every_target([](const char*) {
    for (const entry& e : resize_simd) {
      if (std::string(e.op) != "ResizeNearestNeighbor") continue;
      const std::size_t bytes = kerngrad::trait_of(e.type).size;
      for (std::int64_t channels : {1, 3, 5}) {
        const resize_geometry g{1, 3, 5, channels, 4, 7, false, false};
        guarded<unsigned char> x(size_of_x(g) * bytes), y(size_of_y(g) * bytes);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i * 7 + 1);
        const void* in[] = {x.data()};
        void* out[] = {y.data()};
        e.run(in, out, &g);
        const matrix down = nearest_weights(g, g.in_h, g.out_h), across = nearest_weights(g, g.in_w, g.out_w);
        for_each_term<float>(g, down, across, [&](std::size_t to, std::size_t from, long double) {
          for (std::size_t k = 0; k < bytes; ++k) ASSERT_EQ(y[to * bytes + k], x[from * bytes + k]) << to;
        });
      }
    }
  });
}

TEST(kernels_resize, give_the_same_bits_with_any_number_of_threads_and_on_every_target) {
  const std::size_t before = threads_allowed();
  constexpr const char* ops[] = {"ResizeBilinear", "ResizeBilinearGrad", "ResizeNearestNeighbor",
                                 "ResizeNearestNeighborGrad"};
  constexpr std::int64_t channels[] = {3, 16};
  for (const auto& [op, c] : views::cartesian_product(ops, channels)) {
    const resize_geometry g{2, 160, 120, c, 301, 217, false, true};
    const bool back = std::string(op).ends_with("Grad");
    guarded<float> from(back ? size_of_y(g) : size_of_x(g)), to(back ? size_of_x(g) : size_of_y(g));
    draw(from);
    std::vector<float> first;
    kgtest::on_every_target([&](const char*) {
      for (std::size_t threads : {1, 2, 3}) {
        allow_threads(threads);
        const void* in[] = {from.data(), nullptr};
        void* out[] = {to.data()};
        std::fill(to.begin(), to.end(), -1.f);
        kernel(op, dtype::float32, true)(in, out, &g);
        if (first.empty()) first.assign(to.begin(), to.end());
        ASSERT_TRUE(std::equal(to.begin(), to.end(), first.begin())) << op << ", " << threads << " threads";
      }
    });
  }
  allow_threads(before);
}

TEST(kernels_resize, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(resize_simd), std::size(reference::resize_reference));
  for (std::size_t i = 0; i < std::size(resize_simd); ++i) {
    EXPECT_STREQ(resize_simd[i].op, reference::resize_reference[i].op);
    EXPECT_EQ(resize_simd[i].type, reference::resize_reference[i].type);
  }
}

}  // namespace
