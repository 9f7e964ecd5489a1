// SPDX-License-Identifier: Apache-2.0
// Greyscale dilation, its gradients and their adjoints against the definition written out here, on every target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/window/dilation.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
namespace views = ranges::views;

template <class T>
constexpr dtype type_of = std::is_integral_v<T> ? dtype::int32
                          : sizeof(T) == 4      ? dtype::float32
                                                : dtype::float64;

template <class T>
run_fn kernel(const std::string& op, bool simd) {
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(dilation_simd), std::end(dilation_simd))
            : std::vector<entry>(std::begin(reference::dilation_reference), std::end(reference::dilation_reference))) {
    if (e.op == op && e.type == type_of<T>) return e.run;
  }
  return nullptr;
}

// x + w as the definition has it: of floats rounded once, of int32 modulo 2^32.
template <class T>
T sum_of(T x, T w) {
  if constexpr (std::is_integral_v<T>) {
    const std::int64_t sum = std::int64_t{x} + std::int64_t{w};
    return static_cast<T>(sum - (sum > INT32_MAX) * (std::int64_t{1} << 32) +
                          (sum < INT32_MIN) * (std::int64_t{1} << 32));
  } else {
    return static_cast<T>(static_cast<long double>(x) + static_cast<long double>(w));
  }
}

struct met {
  std::size_t pixel, tap;
};

// For every element of the result, what its window meets, row by row.
std::vector<std::vector<met>> windows(const window_geometry& g) {
  std::vector<std::vector<met>> all;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oy = 0; oy < g.out_h; ++oy)
      for (std::int64_t ox = 0; ox < g.out_w; ++ox)
        for (std::int64_t c = 0; c < g.in_c; ++c) {
          auto& window = all.emplace_back();
          for (std::int64_t k = 0; k < g.filter_h * g.filter_w; ++k) {
            const std::int64_t iy = oy * g.stride_h - g.pad_top + k / g.filter_w * g.dilation_h;
            const std::int64_t ix = ox * g.stride_w - g.pad_left + k % g.filter_w * g.dilation_w;
            if (iy < 0 || iy >= g.in_h || ix < 0 || ix >= g.in_w) continue;
            window.push_back({static_cast<std::size_t>(((b * g.in_h + iy) * g.in_w + ix) * g.in_c + c),
                              static_cast<std::size_t>(k * g.in_c + c)});
          }
        }
  return all;
}

// Operands of every shape; `special` makes many sums equal and sprinkles NaN and infinities.
template <class T>
struct operands {
  kgtest::guarded<T> x, w, dy, y, dx, dw;
  operands(const window_geometry& g, kgtest::edge side, bool special)
      : x(count(g.batch * g.in_h * g.in_w * g.in_c), side),
        w(count(g.filter_h * g.filter_w * g.in_c), side),
        dy(count(g.batch * g.out_h * g.out_w * g.in_c), side),
        y(dy.size(), side),
        dx(x.size(), side),
        dw(w.size(), side) {
    std::mt19937 random(3);
    const auto draw = [&](T& v) {
      v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 * 1000 - 500);
      if (!special) return;
      v = static_cast<T>(random() % 3);
      const unsigned kind = random() % 12;
      if constexpr (std::is_integral_v<T>) {
        if (kind < 2) v = kind == 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
      } else {
        if (kind == 0) v = std::numeric_limits<T>::quiet_NaN();
        if (kind == 1) v = -std::numeric_limits<T>::infinity();
        if (kind == 2) v = std::numeric_limits<T>::infinity();
      }
    };
    for (T& v : x) draw(v);
    for (T& v : w) draw(v);
    for (T& v : dy) v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 - 0.5);
    for (auto* result : {&y, &dx, &dw}) std::fill(result->begin(), result->end(), T{77});
  }
  static std::size_t count(std::int64_t n) { return static_cast<std::size_t>(n); }

  // The first of the terms that give the window's largest sum.
  std::optional<met> winner(const std::vector<met>& window) const {
    std::optional<met> best;
    for (const met& here : window) {
      const T sum = sum_of(x[here.pixel], w[here.tap]);
      if (sum == sum && (!best || sum > sum_of(x[best->pixel], w[best->tap]))) best = here;
    }
    return best;
  }
  void run(const std::string& op, bool simd, const window_geometry& g, std::vector<const void*> in, T* result) const {
    void* out[] = {result};
    kernel<T>(op, simd)(in.data(), out, &g);
  }
};

template <class T>
void check_forward(const window_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const auto all = windows(g);
  o.run("Dilation2D", simd, g, {o.x.data(), o.w.data()}, o.y.data());
  const T none = std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::optional<met> best = o.winner(all[i]);
    ASSERT_EQ(o.y[i], best ? sum_of(o.x[best->pixel], o.w[best->tap]) : none) << i;
  }
}

template <class T>
void check_gradients(const window_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const auto all = windows(g);
  o.run("Dilation2DBackpropInput", simd, g, {o.x.data(), o.w.data(), o.dy.data()}, o.dx.data());
  o.run("Dilation2DBackpropFilter", simd, g, {o.x.data(), o.w.data(), o.dy.data()}, o.dw.data());
  std::vector<long double> dx(o.x.size()), dw(o.w.size()), dx_size(dx), dw_size(dw);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::optional<met> best = o.winner(all[i]);
    if (!best) continue;
    dx[best->pixel] += o.dy[i], dx_size[best->pixel] += std::fabs(static_cast<long double>(o.dy[i]));
    dw[best->tap] += o.dy[i], dw_size[best->tap] += std::fabs(static_cast<long double>(o.dy[i]));
  }
  const long double unit = std::numeric_limits<T>::epsilon() * static_cast<long double>(all.size() + 1);
  for (std::size_t i = 0; i < dx.size(); ++i) ASSERT_LE(std::fabs(o.dx[i] - dx[i]), unit * dx_size[i]) << i;
  for (std::size_t i = 0; i < dw.size(); ++i) ASSERT_LE(std::fabs(o.dw[i] - dw[i]), unit * dw_size[i]) << i;
}

template <class T>
void check_gathers(const window_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const auto all = windows(g);
  for (std::size_t i = 0; i < o.dx.size(); ++i) o.dx[i] = static_cast<T>(i);  // the sources
  for (std::size_t i = 0; i < o.dw.size(); ++i) o.dw[i] = static_cast<T>(i);
  o.run("Dilation2DGatherInput", simd, g, {o.dx.data(), o.x.data(), o.w.data()}, o.y.data());
  o.run("Dilation2DGatherFilter", simd, g, {o.dw.data(), o.x.data(), o.w.data()}, o.dy.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::optional<met> best = o.winner(all[i]);
    ASSERT_EQ(o.y[i], best ? static_cast<T>(best->pixel) : T{0}) << i;
    ASSERT_EQ(o.dy[i], best ? static_cast<T>(best->tap) : T{0}) << i;
  }
}

constexpr bool either[] = {false, true};

std::vector<window_geometry> geometries() {
  constexpr std::int64_t channels[] = {1, 2, 3, 5, 8, 16, 17, 33};
  std::vector<window_geometry> list;
  std::size_t next = 0;
  constexpr std::int64_t filters[] = {1, 2, 3}, strides[] = {1, 2, 3}, dilations[] = {1, 2}, pads[] = {0, 2, 4};
  for (const auto& [filter, stride, dilation, pad] : views::cartesian_product(filters, strides, dilations, pads)) {
    const std::int64_t c = channels[next++ % std::size(channels)], extent = (filter - 1) * dilation + 1;
    const std::int64_t out_h = std::max<std::int64_t>(0, 5 + 2 * pad - extent + stride) / stride;
    const std::int64_t out_w = std::max<std::int64_t>(0, 7 + pad - extent + stride) / stride;
    list.push_back({2, 5, 7, c, out_h, out_w, c, filter, filter, stride, stride, dilation, dilation, pad, pad});
  }
  list.push_back({3, 40, 33, 5, 40, 33, 5, 3, 2, 1, 1, 1, 1, 1, 0});  // chunks of the filter's gradient
  list.push_back({0, 4, 6, 3, 2, 3, 3, 2, 2, 2, 2, 1, 1, 0, 0});
  list.push_back({1, 4, 6, 3, 0, 3, 3, 2, 2, 2, 2, 1, 1, 0, 0});
  list.push_back({1, 0, 6, 20, 2, 3, 20, 2, 2, 2, 2, 1, 1, 0, 0});
  list.push_back({1, 4, 6, 0, 2, 3, 0, 2, 2, 2, 2, 1, 1, 0, 0});
  return list;
}

template <class T>
void check_everywhere(bool simd) {
  for (const window_geometry& g : geometries()) {
    SCOPED_TRACE(::testing::Message() << "in " << g.in_h << 'x' << g.in_w << 'x' << g.in_c << " filter " << g.filter_h
                                      << 'x' << g.filter_w << " stride " << g.stride_h << " dilation " << g.dilation_h
                                      << " pad " << g.pad_top);
    for (const auto& [side, special] : views::cartesian_product(kgtest::edges, either)) {
      check_forward<T>(g, side, special, simd);
      if constexpr (!std::is_integral_v<T>) {
        check_gradients<T>(g, side, special, simd);
        check_gathers<T>(g, side, special, simd);
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Dilation2D, AndItsGradientsTakeTheFirstLargestSum) {
  kgtest::on_every_target([](const char*) {
    check_everywhere<float>(true);
    check_everywhere<double>(true);
    check_everywhere<std::int32_t>(true);
  });
}
TEST(DilationReference, FollowsTheSameRules) {
  check_everywhere<float>(false);
  check_everywhere<double>(false);
  check_everywhere<std::int32_t>(false);
}
TEST(DilationTables, NameTheSameKernelsOnBothSides) {
  ASSERT_EQ(std::size(dilation_simd), std::size(reference::dilation_reference));
  for (std::size_t i = 0; i < std::size(dilation_simd); ++i) {
    EXPECT_STREQ(dilation_simd[i].op, reference::dilation_reference[i].op);
    EXPECT_EQ(dilation_simd[i].type, reference::dilation_reference[i].type);
  }
}

}  // namespace
