// SPDX-License-Identifier: Apache-2.0
// Rotated images and the adjoint against a walk over the pixels, on every target, between guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/image/rotate.h"
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
  return simd ? in(rotate_simd) : in(reference::rotate_reference);
}

// The number of the pixel of x for each one of y, or -1, by the text of the definition.
std::vector<std::int64_t> sources(const rotate_geometry& g) {
  std::vector<std::int64_t> all;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t i = 0; i < g.height; ++i)
      for (std::int64_t j = 0; j < g.width; ++j) {
        const double x = static_cast<double>(j) - g.center_x, y = static_cast<double>(i) - g.center_y;
        const double column = x * g.cosine - y * g.sine + g.center_x, row = x * g.sine + y * g.cosine + g.center_y;
        std::int64_t from = -1;
        for (std::int64_t r = 0; r < g.height; ++r)
          for (std::int64_t q = 0; q < g.width; ++q) {
            const double right = static_cast<double>(q) - column, down = static_cast<double>(r) - row;
            if (right > -0.5 && right <= 0.5 && down > -0.5 && down <= 0.5) from = (b * g.height + r) * g.width + q;
          }
        all.push_back(from);
      }
  return all;
}

template <class T>
void check(rotate_geometry g, dtype type, bool simd, kgtest::edge side) {
  const auto channels = static_cast<std::size_t>(g.channels);
  const std::vector<std::int64_t> from = sources(g);
  guarded<T> x(from.size() * channels, side), y(from.size() * channels, side), fill(channels, side);
  for (std::size_t i = 0; i < from.size() * channels; ++i) x.data()[i] = static_cast<T>(i % 120 + 1);
  for (std::size_t c = 0; c < channels; ++c) fill.data()[c] = static_cast<T>(121 + c % 5);
  g.fill = fill.data();
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel("RotateWithOffset", type, simd)(in, out, &g);
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t c = 0; c < channels; ++c) {
      const T wanted = from[i] < 0 ? fill.data()[c] : x.data()[static_cast<std::size_t>(from[i]) * channels + c];
      ASSERT_EQ(y.data()[i * channels + c], wanted) << i << ", channel " << c;
    }
  const run_fn back = kernel("RotateWithOffsetGrad", type, simd);
  if (!back) return;
  std::vector<T> wanted(from.size() * channels);
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t c = 0; c < channels && from[i] >= 0; ++c)
      wanted[static_cast<std::size_t>(from[i]) * channels + c] += x.data()[i * channels + c];
  back(in, out, &g);
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(y.data()[i], wanted[i]) << i;
}

void check_everywhere(bool simd) {
  struct image {
    std::int64_t batch, height, width;
  };
  struct angle {
    double sine, cosine;
  };
  // Exact quarters of a turn among them: positions halfway between two pixels.
  constexpr angle angles[] = {{0, 1}, {1, 0}, {0, -1}, {0.6, 0.8}, {-0.28, 0.96}};
  constexpr image images[] = {{2, 4, 5}, {1, 1, 9}, {1, 7, 1}, {1, 6, 19}};
  constexpr double centers[] = {0, 0.5, 0.37, -0.75};
  constexpr std::int64_t channels[] = {1, 2, 3, 4, 19};
  for (const auto& [turn, size, center, c] : views::cartesian_product(angles, images, centers, channels)) {
    SCOPED_TRACE(::testing::Message() << "sine " << turn.sine << ", " << size.height << 'x' << size.width << 'x' << c
                                      << " about " << center);
    const rotate_geometry g{size.batch,
                            size.height,
                            size.width,
                            c,
                            turn.sine,
                            turn.cosine,
                            static_cast<double>(size.width) * center,
                            static_cast<double>(size.height) * center,
                            nullptr};
    const kgtest::edge side = c == 3 ? kgtest::edge::begin : kgtest::edge::end;
    check<float>(g, dtype::float32, simd, side);
    check<double>(g, dtype::float64, simd, side);
    check<std::uint8_t>(g, dtype::boolean, simd, side);
    check<std::int16_t>(g, dtype::bfloat16, simd, side);
    check<std::int64_t>(g, dtype::complex64, simd, side);
    check<__int128>(g, dtype::complex128, simd, side);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(kernels_rotate, take_and_give_back_the_pixels_of_the_definition) {
  kgtest::on_every_target([](const char*) { check_everywhere(true); });
}
TEST(kernels_rotate, of_the_reference_follow_the_same_rules) { check_everywhere(false); }

TEST(kernels_rotate, round_what_lies_just_below_a_half_downwards) {
  const auto run = [](bool simd) {
    const float x[] = {1, 2, 3, 4, 5}, fill = 9;
    float y[5];
    // 0.5 - 2^-54 + 0.5 is 1 in double precision.
    const rotate_geometry g{1, 1, 5, 1, 0, 1, -(0.5 - 0x1p-54), 0, &fill};
    const void* in[] = {x};
    void* out[] = {y};
    kernel("RotateWithOffset", dtype::float32, simd)(in, out, &g);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(y[i], x[i]) << i;
  };
  kgtest::on_every_target([&](const char*) { run(true); });
  run(false);
}

TEST(kernels_rotate, give_what_is_outside_for_positions_beyond_every_integer) {
  const auto run = [](bool simd) {
    for (const double far : {1e19, -1e300, std::numeric_limits<double>::infinity()}) {
      guarded<float> x(12), y(12), fill(1);
      *fill.data() = 5;
      const rotate_geometry g{1, 3, 4, 1, 0.6, 0.8, far, -far, fill.data()};
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      kernel("RotateWithOffset", dtype::float32, simd)(in, out, &g);
      for (float v : y) EXPECT_EQ(v, 5);
    }
  };
  kgtest::on_every_target([&](const char*) { run(true); });
  run(false);
}

TEST(kernels_rotate, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(rotate_simd), std::size(reference::rotate_reference));
  for (std::size_t i = 0; i < std::size(rotate_simd); ++i) {
    EXPECT_STREQ(rotate_simd[i].op, reference::rotate_reference[i].op);
    EXPECT_EQ(rotate_simd[i].type, reference::rotate_reference[i].type);
  }
}

}  // namespace
