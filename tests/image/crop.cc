// SPDX-License-Identifier: Apache-2.0
// Crops and their adjoint against hat functions around the pixels, on every target, between guard pages.
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

#include "kernels/image/crop.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;
namespace views = ranges::views;

template <class T>
run_fn kernel(const std::string& op, bool simd) {
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(crop_simd), std::end(crop_simd))
            : std::vector<entry>(std::begin(reference::crop_reference), std::end(reference::crop_reference)))
    if (e.op == op && e.type == (sizeof(T) == 4 ? dtype::float32 : dtype::float64)) return e.run;
  return nullptr;
}

// ------------------------------------------------------------------------------------------ the definition

// Weight of pixel p in a sample at a position: the hat function, its right derivative, or all of the nearest pixel.
long double weight_of(const crop_geometry& g, long double at, std::int64_t pixels, std::int64_t p, bool slope) {
  const long double pixel = static_cast<long double>(p), last = static_cast<long double>(pixels - 1);
  if (at < 0 || at > last) return 0;
  if (g.nearest) return !slope && at - pixel >= -0.5L && at - pixel < 0.5L ? 1 : 0;
  if (!slope) return std::max(0.0L, 1 - std::fabs(at - pixel));
  if (pixels == 1) return 0;
  if (at == last) return p == pixels - 1 ? 1 : p == pixels - 2 ? -1 : 0;
  return at < pixel && pixel <= at + 1 ? 1 : at >= pixel && at < pixel + 1 ? -1 : 0;
}
long double position(long double from, long double to, std::int64_t pixels, std::int64_t samples, std::int64_t i) {
  const long double part = samples == 1 ? 0.5L : static_cast<long double>(i) / static_cast<long double>(samples - 1);
  return (from + (to - from) * part) * static_cast<long double>(pixels - 1);
}

// Calls add(element of y, element of x, weight), and outside(element of y) for samples outside of the image.
template <class Add, class Outside>
void for_each_term(const crop_geometry& g, Add add, Outside outside) {
  std::size_t index = 0;
  for (std::int64_t k = 0; k < g.crops; ++k)
    for (std::int64_t i = 0; i < g.out_h; ++i)
      for (std::int64_t j = 0; j < g.out_w; ++j)
        for (std::int64_t c = 0; c < g.channels; ++c, ++index) {
          const double* box = g.boxes + 4 * k;
          const long double y = position(box[0], box[2], g.in_h, g.out_h, i);
          const long double x = position(box[1], box[3], g.in_w, g.out_w, j);
          if (y < 0 || y > static_cast<long double>(g.in_h - 1) || x < 0 || x > static_cast<long double>(g.in_w - 1)) {
            outside(index);
            continue;
          }
          for (std::int64_t p = 0; p < g.in_h; ++p)
            for (std::int64_t q = 0; q < g.in_w; ++q) {
              const long double weight =
                  weight_of(g, y, g.in_h, p, g.slope_down) * weight_of(g, x, g.in_w, q, g.slope_across);
              if (weight == 0) continue;
              add(index, static_cast<std::size_t>(((g.images[k] * g.in_h + p) * g.in_w + q) * g.channels + c), weight);
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
void check_crops(const crop_geometry& g, kgtest::edge side, bool simd) {
  const auto x_size = static_cast<std::size_t>(g.batch * g.in_h * g.in_w * g.channels);
  const auto y_size = static_cast<std::size_t>(g.crops * g.out_h * g.out_w * g.channels);
  guarded<T> x(x_size, side), y(y_size, side), dx(x_size, side);
  draw(x);
  std::vector<long double> forward(y_size), back(x_size), terms(x_size);
  const bool slope = g.slope_down || g.slope_across;
  for_each_term(
      g, [&](std::size_t to, std::size_t from, long double weight) { forward[to] += weight * x[from]; },
      [&](std::size_t to) { forward[to] = slope ? 0 : g.outside; });
  const void* in[] = {x.data(), nullptr, nullptr};
  void* out[] = {y.data()};
  kernel<T>("CropAndResize", simd)(in, out, &g);
  const long double epsilon = std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < y_size; ++i) ASSERT_NEAR(y[i], forward[i], 30 * epsilon) << i;
  draw(y);
  const auto give = [&](std::size_t from, std::size_t to, long double weight) {
    back[to] += weight * y[from];
    terms[to] += std::fabs(weight * y[from]);
  };
  for_each_term(g, give, [](std::size_t) {});
  const void* in_back[] = {y.data(), nullptr, nullptr};
  void* out_back[] = {dx.data()};
  kernel<T>("CropAndResizeGrad", simd)(in_back, out_back, &g);
  for (std::size_t i = 0; i < x_size; ++i) ASSERT_NEAR(dx[i], back[i], 40 * epsilon * (1 + terms[i])) << i;
}

// Boxes whose samples lie on pixels, on edges, between and beyond; their numbers are exact in both arithmetics.
constexpr double boxes[] = {0,     0,    1,     1,   0.125, 0.25,  0.875, 0.5,   1, 1, 0, 0,
                            -0.25, 0.25, 0.625, 1.5, 0.5,   0.125, 0.5,   0.625, 2, 2, 3, 3};
constexpr std::int64_t images[] = {0, 2, 1, 0, 2, 1};

template <class T>
void check_everywhere(bool simd) {
  struct sides {
    std::int64_t in_h, in_w, out_h, out_w;
  };
  constexpr sides all[] = {{5, 9, 3, 5}, {3, 5, 9, 1}, {2, 2, 2, 3}, {1, 3, 2, 2}, {9, 17, 5, 9}};
  constexpr std::int64_t channels[] = {1, 3, 8, 19};
  constexpr bool either[] = {false, true};
  for (const auto& [s, c, nearest, down, across] : views::cartesian_product(all, channels, either, either, either))
    for (const kgtest::edge side : kgtest::edges) {
      SCOPED_TRACE(::testing::Message() << s.in_h << 'x' << s.in_w << 'x' << c << " to " << s.out_h << 'x' << s.out_w
                                        << (nearest ? " nearest" : "") << (down ? " down" : "")
                                        << (across ? " across" : ""));
      check_crops<T>({.batch = 3,
                      .in_h = s.in_h,
                      .in_w = s.in_w,
                      .channels = c,
                      .crops = 6,
                      .out_h = s.out_h,
                      .out_w = s.out_w,
                      .boxes = boxes,
                      .images = images,
                      .outside = -1.5,
                      .nearest = nearest,
                      .slope_down = down,
                      .slope_across = across},
                     side, simd);
      if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(kernels_crop, take_and_give_back_what_the_hat_functions_say) {
  kgtest::on_every_target([](const char*) {
    check_everywhere<float>(true);
    check_everywhere<double>(true);
  });
}
TEST(kernels_crop, of_the_reference_follow_the_same_rules) {
  check_everywhere<float>(false);
  check_everywhere<double>(false);
}

TEST(kernels_crop, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(crop_simd), std::size(reference::crop_reference));
  for (std::size_t i = 0; i < std::size(crop_simd); ++i) {
    EXPECT_STREQ(crop_simd[i].op, reference::crop_reference[i].op);
    EXPECT_EQ(crop_simd[i].type, reference::crop_reference[i].type);
  }
}

}  // namespace
