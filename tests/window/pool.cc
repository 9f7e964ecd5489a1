// SPDX-License-Identifier: Apache-2.0
// Pooling and its gradients against the definition written out here, on every target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/window/pool.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
namespace views = ranges::views;

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

template <class T>
constexpr dtype type_of = std::is_integral_v<T> ? dtype::int32
                          : sizeof(T) == 4      ? dtype::float32
                                                : dtype::float64;

template <class T>
run_fn kernel(const char* op, bool simd) {
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(pool_simd), std::end(pool_simd))
            : std::vector<entry>(std::begin(reference::pool_reference), std::end(reference::pool_reference))) {
    if (std::string(e.op) == op && e.type == type_of<T>) return e.run;
  }
  return nullptr;
}

// For every output element, the input elements inside the image that its window covers, row by row.
std::vector<std::vector<std::size_t>> windows(const window_geometry& g) {
  std::vector<std::vector<std::size_t>> all;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oy = 0; oy < g.out_h; ++oy)
      for (std::int64_t ox = 0; ox < g.out_w; ++ox)
        for (std::int64_t c = 0; c < g.in_c; ++c) {
          auto& window = all.emplace_back();
          for (std::int64_t ky = 0; ky < g.filter_h; ++ky)
            for (std::int64_t kx = 0; kx < g.filter_w; ++kx) {
              const std::int64_t iy = oy * g.stride_h - g.pad_top + ky * g.dilation_h;
              const std::int64_t ix = ox * g.stride_w - g.pad_left + kx * g.dilation_w;
              if (iy < 0 || iy >= g.in_h || ix < 0 || ix >= g.in_w) continue;
              window.push_back(static_cast<std::size_t>(((b * g.in_h + iy) * g.in_w + ix) * g.in_c + c));
            }
        }
  return all;
}

template <class T>
void expect_same(T got, T wanted, long double tolerance, std::size_t at) {
  if constexpr (!std::is_integral_v<T>) {
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got)) << at << ": " << got;
      return;
    }
    if (std::isinf(wanted) || tolerance == 0) {
      ASSERT_EQ(got, wanted) << at;
      ASSERT_EQ(std::signbit(got), std::signbit(wanted)) << at;
      return;
    }
  }
  ASSERT_LE(std::fabs(static_cast<long double>(got) - static_cast<long double>(wanted)), tolerance) << at;
}

// x, and operands of the shapes of x and of the output; `special` sprinkles NaN, infinities, zeros and equal values.
template <class T>
struct operands {
  kgtest::guarded<T> x, source, dy, y, dx;
  operands(const window_geometry& g, kgtest::edge side, bool special)
      : x(input_size(g), side),
        source(input_size(g), side),
        dy(output_size(g), side),
        y(output_size(g), side),
        dx(input_size(g), side) {
    std::mt19937 random(3);
    const T values[] = {T(1), T(1), T(0), T(-1), T(0)};
    for (T& v : x) {
      v = special ? values[random() % 5] : static_cast<T>(static_cast<double>(random()) / 4294967296.0 * 1000 - 500);
      if constexpr (!std::is_integral_v<T>) {
        const unsigned kind = random() % 8;
        if (special && kind < 2) v = std::numeric_limits<T>::quiet_NaN();
        if (special && kind == 2) v = -std::numeric_limits<T>::infinity();
        if (special && kind == 3) v = -T{0};
      }
    }
    for (T& v : source) v = static_cast<T>(random() % 1000);
    for (T& v : dy) v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 - 0.5);
    for (T& v : y) v = T{77};
    for (T& v : dx) v = T{77};
  }
  static std::size_t input_size(const window_geometry& g) {
    return static_cast<std::size_t>(g.batch * g.in_h * g.in_w * g.in_c);
  }
  static std::size_t output_size(const window_geometry& g) {
    return static_cast<std::size_t>(g.batch * g.out_h * g.out_w * g.in_c);
  }
};

// Index of the first maximum in the window, or none.
template <class T>
const std::size_t* first_maximum(const kgtest::guarded<T>& x, const std::vector<std::size_t>& window) {
  const std::size_t* best = nullptr;
  for (const std::size_t& at : window) {
    if (x[at] == x[at] && (best == nullptr || x[at] > x[*best])) best = &at;
  }
  return best;
}

template <class T>
void check_max(const window_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const auto all = windows(g);
  const void* in[] = {o.x.data()};
  void* out[] = {o.y.data()};
  kernel<T>("MaxPool", simd)(in, out, &g);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t* best = first_maximum(o.x, all[i]);
    const T lowest = std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();
    expect_same(o.y[i], best == nullptr ? lowest : o.x[*best], 0, i);
  }
}

template <class T>
void check_argmax(const window_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const auto all = windows(g);
  kgtest::guarded<std::int32_t> positions(all.size(), side);
  const std::size_t image = static_cast<std::size_t>(g.in_h * g.in_w * g.in_c);
  for (const bool each_image : {false, true}) {
    const argmax_geometry numbering{g, each_image ? 0 : 1000, each_image};
    const void* in[] = {o.x.data()};
    void* out[] = {o.y.data(), positions.data()};
    kernel<T>("MaxPoolWithArgmax", simd)(in, out, &numbering);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t* best = first_maximum(o.x, all[i]);
      const T lowest = std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();
      expect_same(o.y[i], best == nullptr ? lowest : o.x[*best], 0, i);
      const std::size_t wanted = best == nullptr ? 0 : each_image ? *best % image : 1000 + *best;
      ASSERT_EQ(positions[i], best == nullptr ? -1 : static_cast<std::int32_t>(wanted)) << i;
    }
  }
}

template <class T>
void check_max_gradients(const window_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const auto all = windows(g);
  const void* gather_in[] = {o.source.data(), o.x.data()};
  void* gather_out[] = {o.y.data()};
  kernel<T>("MaxPoolGather", simd)(gather_in, gather_out, &g);
  const void* in[] = {o.dy.data(), o.x.data(), nullptr};
  void* out[] = {o.dx.data()};
  kernel<T>("MaxPoolGrad", simd)(in, out, &g);
  std::vector<long double> dx(o.x.size()), size(o.x.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t* best = first_maximum(o.x, all[i]);
    expect_same(o.y[i], best == nullptr ? T{0} : o.source[*best], 0, i);
    if (best == nullptr) continue;
    dx[*best] += o.dy[i];
    size[*best] += std::fabs(static_cast<long double>(o.dy[i]));
  }
  for (std::size_t i = 0; i < dx.size(); ++i) {
    const long double bound = 1e-30L + 30 * std::numeric_limits<T>::epsilon() * size[i];
    expect_same(o.dx[i], static_cast<T>(dx[i]), bound, i);
  }
}

template <class T>
void check_average(const window_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const auto all = windows(g);
  const void* in[] = {o.x.data()};
  void* out[] = {o.y.data()};
  kernel<T>("AvgPool", simd)(in, out, &g);
  const void* gradient_in[] = {o.dy.data(), nullptr};
  void* gradient_out[] = {o.dx.data()};
  kernel<T>("AvgPoolGrad", simd)(gradient_in, gradient_out, &g);
  std::vector<long double> dx(o.x.size()), dx_size(o.x.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    long double sum = 0, size = 0;
    for (const std::size_t at : all[i]) {
      sum += o.x[at];
      size += std::fabs(static_cast<long double>(o.x[at]));
      dx[at] += static_cast<long double>(o.dy[i]) / all[i].size();
      dx_size[at] += std::fabs(static_cast<long double>(o.dy[i]));
    }
    const long double bound = 1e-30L + std::numeric_limits<T>::epsilon() * size * 2;
    const T wanted = all[i].empty() ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(sum / all[i].size());
    expect_same(o.y[i], wanted, bound, i);
  }
  for (std::size_t i = 0; i < dx.size(); ++i) {
    expect_same(o.dx[i], static_cast<T>(dx[i]), 1e-30L + 30 * std::numeric_limits<T>::epsilon() * dx_size[i], i);
  }
}

std::vector<window_geometry> geometries() {
  constexpr std::int64_t channels[] = {1, 2, 3, 5, 8, 16, 17, 33, 67};
  std::vector<window_geometry> list;
  std::size_t next = 0;
  constexpr std::int64_t filters[] = {1, 2, 3, 4}, strides[] = {1, 2, 3}, dilations[] = {1, 2}, pads[] = {0, 2, 4};
  for (const auto& [filter, stride, dilation, pad] : views::cartesian_product(filters, strides, dilations, pads)) {
    const std::int64_t c = channels[next++ % std::size(channels)], extent = (filter - 1) * dilation + 1;
    const std::int64_t out_h = std::max<std::int64_t>(0, 5 + 2 * pad - extent + stride) / stride;
    const std::int64_t out_w = std::max<std::int64_t>(0, 7 + pad - extent + stride) / stride;
    list.push_back({2, 5, 7, c, out_h, out_w, c, filter, filter, stride, stride, dilation, dilation, pad, pad});
  }
  list.push_back({1, 4, 6, 64, 2, 3, 64, 2, 2, 2, 2, 1, 1, 0, 0});
  list.push_back({1, 4, 6, 3, 2, 3, 3, 3, 1, 2, 2, 1, 1, 0, 0});
  list.push_back({0, 4, 6, 3, 2, 3, 3, 2, 2, 2, 2, 1, 1, 0, 0});
  list.push_back({1, 4, 6, 3, 0, 3, 3, 2, 2, 2, 2, 1, 1, 0, 0});
  list.push_back({1, 0, 6, 20, 2, 3, 20, 2, 2, 2, 2, 1, 1, 0, 0});
  return list;
}

using checker = std::function<void(const window_geometry&, kgtest::edge, bool special, bool simd)>;

void check_everywhere(bool simd, const checker& check) {
  for (const window_geometry& g : geometries()) {
    SCOPED_TRACE(::testing::Message() << "in " << g.in_h << 'x' << g.in_w << 'x' << g.in_c << " filter " << g.filter_h
                                      << 'x' << g.filter_w << " stride " << g.stride_h << " dilation " << g.dilation_h
                                      << " pad " << g.pad_top);
    for (const kgtest::edge side : {kgtest::edge::begin, kgtest::edge::end}) {
      check(g, side, false, simd);
      check(g, side, true, simd);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

void check_on_every_target(const checker& check) {
  kgtest::on_every_target([&](const char*) { check_everywhere(true, check); });
}

TEST(MaxPool, TakesTheLargestNumberInsideTheImage) {
  check_on_every_target(check_max<float>);
  check_on_every_target(check_max<double>);
  check_on_every_target(check_max<std::int32_t>);
}
TEST(MaxPool, GivesItsGradientToTheFirstMaximum) {
  check_on_every_target(check_max_gradients<float>);
  check_on_every_target(check_max_gradients<double>);
}
TEST(MaxPoolWithArgmax, SaysWhereTheFirstMaximumIs) {
  check_on_every_target(check_argmax<float>);
  check_on_every_target(check_argmax<double>);
  check_on_every_target(check_argmax<std::int32_t>);
}
TEST(AvgPool, AndItsGradientDivideByTheNumberOfElementsInside) {
  check_on_every_target(check_average<float>);
  check_on_every_target(check_average<double>);
}
TEST(PoolReference, FollowsTheSameRules) {
  check_everywhere(false, check_max<float>);
  check_everywhere(false, check_max<double>);
  check_everywhere(false, check_max<std::int32_t>);
  check_everywhere(false, check_argmax<float>);
  check_everywhere(false, check_argmax<double>);
  check_everywhere(false, check_argmax<std::int32_t>);
  check_everywhere(false, check_max_gradients<float>);
  check_everywhere(false, check_max_gradients<double>);
  check_everywhere(false, check_average<float>);
  check_everywhere(false, check_average<double>);
}

TEST(MaxPool, IgnoresNanAndFindsMinusInfinity) {
  kgtest::on_every_target([](const char*) {
    const window_geometry g{1, 1, 6, 1, 1, 3, 1, 1, 2, 1, 2, 1, 1, 0, 0};
    const float x[] = {nan, 2, nan, nan, nan, -infinity}, dy[] = {3, 4, 5};
    float y[3], dx[6];
    const void* in[] = {x};
    void* out[] = {y};
    MaxPool_float32(in, out, &g);
    EXPECT_EQ(y[0], 2);
    EXPECT_EQ(y[1], -infinity);
    EXPECT_EQ(y[2], -infinity);
    const void* gradient_in[] = {dy, x, y};
    void* gradient_out[] = {dx};
    MaxPoolGrad_float32(gradient_in, gradient_out, &g);
    const float wanted[] = {0, 3, 0, 0, 0, 5};
    for (int i = 0; i < 6; ++i) EXPECT_EQ(dx[i], wanted[i]) << i;
  });
}

TEST(MaxPool, TakesTheFirstOfTwoZeros) {
  kgtest::on_every_target([](const char*) {
    constexpr int channels = 33;
    const window_geometry g{1, 1, 4, channels, 1, 2, channels, 1, 2, 1, 2, 1, 1, 0, 0};
    float x[4 * channels], y[2 * channels];
    for (int i = 0; i < 4 * channels; ++i) {
      const int pixel = i / channels;
      x[i] = pixel == 0 || pixel == 3 ? -0.F : 0.F;
    }
    const void* in[] = {x};
    void* out[] = {y};
    MaxPool_float32(in, out, &g);
    for (int i = 0; i < 2 * channels; ++i) EXPECT_EQ(std::signbit(y[i]), i < channels) << i;
  });
}

TEST(PoolTables, NameTheSameKernelsOnBothSides) {
  ASSERT_EQ(std::size(pool_simd), std::size(reference::pool_reference));
  for (std::size_t i = 0; i < std::size(pool_simd); ++i) {
    EXPECT_STREQ(pool_simd[i].op, reference::pool_reference[i].op);
    EXPECT_EQ(pool_simd[i].type, reference::pool_reference[i].type);
  }
}

}  // namespace
