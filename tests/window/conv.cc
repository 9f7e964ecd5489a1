// SPDX-License-Identifier: Apache-2.0
// Convolution, depthwise convolution and their gradients against sums in long double, on every target. The three
// kernels of a family are the three ways to sum the same list of terms (input element, filter element, output element).
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
#include <range/v3/view/iota.hpp>

#include "kernels/window/conv.h"
#include "kernels/window/depthwise.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
namespace views = ranges::views;

enum part { input, filter, output };
struct family {
  bool depthwise;
  // By the part that a kernel computes: Conv2D computes the output, and so on.
  const char* name_of[3];
};
constexpr family conv_family{false, {"Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv2D"}};
constexpr family depthwise_family{
    true, {"DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNative"}};

template <class T>
constexpr dtype type_of = sizeof(T) == 4 ? dtype::float32 : dtype::float64;

template <std::size_t N>
run_fn find(const entry (&table)[N], const char* op, dtype type) {
  for (const entry& e : table) {
    if (std::string(e.op) == op && e.type == type) return e.run;
  }
  return nullptr;
}

template <class T>
run_fn kernel_of(const family& f, part computed, bool simd) {
  const char* op = f.name_of[computed];
  if (f.depthwise) {
    return simd ? find(depthwise_simd, op, type_of<T>) : find(reference::depthwise_reference, op, type_of<T>);
  }
  return simd ? find(conv_simd, op, type_of<T>) : find(reference::conv_reference, op, type_of<T>);
}

// Calls term(input element, filter element, output element) for every product of the convolution.
template <class Term>
void for_each_term(const family& f, const window_geometry& g, Term term) {
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oy = 0; oy < g.out_h; ++oy)
      for (std::int64_t ox = 0; ox < g.out_w; ++ox)
        for (std::int64_t ky = 0; ky < g.filter_h; ++ky)
          for (std::int64_t kx = 0; kx < g.filter_w; ++kx) {
            const std::int64_t iy = oy * g.stride_h - g.pad_top + ky * g.dilation_h;
            const std::int64_t ix = ox * g.stride_w - g.pad_left + kx * g.dilation_w;
            if (iy < 0 || iy >= g.in_h || ix < 0 || ix >= g.in_w) continue;
            const std::int64_t in = ((b * g.in_h + iy) * g.in_w + ix) * g.in_c;
            const std::int64_t out = ((b * g.out_h + oy) * g.out_w + ox) * g.out_c;
            const std::int64_t tap = ky * g.filter_w + kx;
            for (std::int64_t co = 0; co < g.out_c; ++co) {
              if (f.depthwise) {
                term(in + co / (g.out_c / g.in_c), tap * g.out_c + co, out + co);
              } else {
                const std::int64_t seen = g.in_c / g.groups, group = co / (g.out_c / g.groups);
                for (std::int64_t ci = 0; ci < seen; ++ci) {
                  term(in + group * seen + ci, (tap * seen + ci) * g.out_c + co, out + co);
                }
              }
            }
          }
}

enum class values { any, one_infinite };

template <class T>
void check(const family& f, part computed, run_fn kernel, const window_geometry& g, kgtest::edge side,
           values which = values::any) {
  ASSERT_NE(kernel, nullptr);
  SCOPED_TRACE(::testing::Message() << f.name_of[computed] << " batch " << g.batch << " in " << g.in_h << 'x' << g.in_w
                                    << 'x' << g.in_c << " out " << g.out_h << 'x' << g.out_w << 'x' << g.out_c
                                    << " filter " << g.filter_h << 'x' << g.filter_w << " stride " << g.stride_h << ','
                                    << g.stride_w << " dilation " << g.dilation_h << ',' << g.dilation_w << " pad "
                                    << g.pad_top << ',' << g.pad_left << " groups " << g.groups);
  const std::int64_t sizes[] = {g.batch * g.in_h * g.in_w * g.in_c,
                                g.filter_h * g.filter_w * (f.depthwise ? 1 : g.in_c / g.groups) * g.out_c,
                                g.batch * g.out_h * g.out_w * g.out_c};
  kgtest::guarded<T> data[] = {kgtest::guarded<T>(static_cast<std::size_t>(sizes[0]), side),
                               kgtest::guarded<T>(static_cast<std::size_t>(sizes[1]), side),
                               kgtest::guarded<T>(static_cast<std::size_t>(sizes[2]), side)};
  std::mt19937 random(5);
  for (auto& array : data) {
    for (T& v : array) v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 - 0.5);
  }
  if (which == values::one_infinite) {  // among positive ones: no sum is NaN but by a product with padding
    for (auto& array : data) {
      for (T& v : array) v = std::fabs(v) + static_cast<T>(0.1);
    }
    for (const part p : {input, filter, output}) {
      if (p != computed && data[p].size() > 0) *data[p].begin() = std::numeric_limits<T>::infinity();
    }
  }
  for (T& v : data[computed]) v = std::numeric_limits<T>::quiet_NaN();
  // Operands in the order of the op: dy before the filter, x before everything.
  const part first = computed == input ? output : input, second = computed == filter ? output : filter;
  const void* in[] = {data[first].data(), data[second].data()};
  void* out[] = {data[computed].data()};
  kernel(in, out, &g);

  std::vector<long double> sum(data[computed].size()), size(sum.size());
  std::vector<int> terms(sum.size());
  for_each_term(f, g, [&](std::int64_t i, std::int64_t w, std::int64_t o) {
    const std::size_t at[] = {static_cast<std::size_t>(i), static_cast<std::size_t>(w), static_cast<std::size_t>(o)};
    long double product = 1;
    for (int p = 0; p < 3; ++p) {
      if (p != computed) product *= data[p][at[p]];
    }
    sum[at[computed]] += product;
    size[at[computed]] += std::fabs(product);
    ++terms[at[computed]];
  });
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (std::isinf(sum[i])) {
      ASSERT_EQ(static_cast<long double>(data[computed][i]), sum[i]) << i;
      continue;
    }
    const long double bound = (terms[i] + 1) * static_cast<long double>(std::numeric_limits<T>::epsilon()) * size[i];
    ASSERT_LE(std::fabs(static_cast<long double>(data[computed][i]) - sum[i]), bound) << i << ": " << data[computed][i];
  }
}

enum class padding { none, same, asymmetric };

// Geometry with the output size that follows from the padding.
window_geometry make(std::int64_t h, std::int64_t w, std::int64_t in_c, std::int64_t out_c, std::int64_t fh,
                     std::int64_t fw, std::int64_t stride, std::int64_t dilation, padding pad) {
  window_geometry g{2, h, w, in_c, 0, 0, out_c, fh, fw, stride, stride, dilation, dilation, 0, 0};
  const std::int64_t extent_h = (fh - 1) * dilation + 1, extent_w = (fw - 1) * dilation + 1;
  std::int64_t bottom = 0, right = 0;
  if (pad == padding::same) {
    g.pad_top = bottom = extent_h / 2;
    g.pad_left = right = extent_w / 2;
  } else if (pad == padding::asymmetric) {
    g.pad_top = 3;  // for small windows the first ones lie wholly in the padding
    bottom = 1;
    g.pad_left = 0;
    right = 4;
  }
  g.out_h = std::max<std::int64_t>(0, h + g.pad_top + bottom - extent_h + stride) / stride;
  g.out_w = std::max<std::int64_t>(0, w + g.pad_left + right - extent_w + stride) / stride;
  return g;
}

std::vector<window_geometry> geometries(bool depthwise) {
  constexpr std::int64_t channels[] = {1, 2, 3, 5, 16, 17, 33}, multipliers[] = {1, 1, 2, 3};
  constexpr std::int64_t heights[] = {1, 2, 5, 7}, widths[] = {1, 3, 6, 9, 17, 30};
  constexpr std::int64_t filters[] = {1, 2, 3, 3, 5};
  std::vector<window_geometry> list;
  std::mt19937 random(11);
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  constexpr std::int64_t strides[] = {1, 2, 3}, dilations[] = {1, 2};
  constexpr padding paddings[] = {padding::none, padding::same, padding::asymmetric};
  for (const auto& [stride, dilation, pad, repeat] :
       views::cartesian_product(strides, dilations, paddings, views::iota(0, 4))) {
    const std::int64_t in_c = pick(channels), out_c = depthwise ? in_c * pick(multipliers) : pick(channels);
    const std::int64_t h = pick(heights), w = pick(widths), fh = pick(filters), fw = pick(filters);
    list.push_back(make(h, w, in_c, out_c, fh, fw, stride, dilation, pad));
  }
  // The cases with their own ways: training shapes in small, one pixel, pointwise, unequal strides, cropped borders.
  list.push_back(make(9, 28, 1, 32, 3, 3, 1, 1, padding::same));
  list.push_back(make(7, 7, 33, 66, 3, 3, 1, 1, padding::same));
  list.push_back(make(4, 5, 16, depthwise ? 16 : 40, 1, 1, 1, 1, padding::none));
  // Fewer pixels than channels: in parts of channels, packed and not.
  if (!depthwise) list.push_back(make(8, 9, 17, 167, 3, 3, 1, 1, padding::same));
  if (!depthwise) list.push_back(make(4, 5, 64, 160, 3, 3, 1, 1, padding::same));
  list.push_back({1, 6, 11, 5, 2, 5, 5, 3, 2, 3, 2, 1, 2, 1, 0});
  list.push_back({2, 6, 8, 3, 3, 4, 3, 2, 2, 1, 1, 1, 1, -1, -2});
  // Windows that are larger than the image, that step over it, that begin far outside.
  const std::int64_t c = depthwise ? 10 : 18, far = std::int64_t{1} << 40;
  list.push_back({2, 6, 9, 5, 6, 9, c, 3, 3, 1, 1, 5, 8, 5, 8});
  list.push_back({1, 7, 7, 5, 7, 7, c, 2, 4, 1, 1, 4, 3, 2, 4});
  list.push_back({2, 7, 6, 5, 7, 6, c, 3, 3, 1, 1, far, far, far, far});
  list.push_back({2, 7, 6, 5, 3, 2, c, 2, 3, far, far, 1, far, far, far});
  list.push_back({1, 9, 20, 5, 2, 3, c, 3, 2, 6, 7, 2, 1, 3, 1});
  list.push_back({2, 4, 3, 1, 12, 11, depthwise ? 3 : 4, 3, 3, 1, 1, 1, 1, 5, 5});
  list.push_back({1, 3, 40, 2, 3, 40, depthwise ? 2 : 1, 3, 3, 1, 1, 1, 17, 1, 17});
  for (int empty = 0; empty < 4; ++empty) {
    window_geometry g = make(4, 5, 3, 3, 2, 2, 1, 1, padding::none);
    if (empty == 0) g.batch = 0;
    if (empty == 1) g.out_h = 0;
    if (empty == 2) g.in_h = 0;
    if (empty == 3) g.filter_w = 0;
    list.push_back(g);
  }
  return list;
}

// The same windows over channels in groups: of one channel each, of few, of whole vectors, and few pixels.
std::vector<window_geometry> grouped_geometries() {
  struct channels {
    std::int64_t groups, in, out;
  };
  constexpr channels split[] = {{3, 1, 1}, {2, 1, 3}, {2, 3, 2}, {4, 4, 4}, {3, 16, 8}, {2, 5, 33}, {2, 17, 16}};
  constexpr padding paddings[] = {padding::none, padding::same, padding::asymmetric};
  constexpr std::int64_t strides[] = {1, 2};
  std::vector<window_geometry> list;
  const auto add = [&](window_geometry g, const channels& c) {
    g.groups = c.groups, g.in_c = c.groups * c.in, g.out_c = c.groups * c.out;
    list.push_back(g);
  };
  for (const auto& [c, pad, stride] : views::cartesian_product(split, paddings, strides)) {
    add(make(5, 9, 1, 1, 3, 2, stride, stride == 1 ? 2 : 1, pad), c);
    add(make(4, 19, 1, 1, 1, 1, stride, 1, pad), c);
  }
  const std::int64_t far = std::int64_t{1} << 40;
  for (const channels& c : split) {
    add({2, 7, 6, 1, 7, 6, 1, 3, 3, 1, 1, far, far, far, far}, c);
    add({1, 9, 20, 1, 2, 3, 1, 3, 2, 6, 7, 2, 1, 3, 1}, c);
    add({3, 1, 40, 1, 1, 40, 1, 1, 3, 1, 1, 1, 1, 0, 1}, c);
    add({0, 4, 4, 1, 3, 3, 1, 2, 2, 1, 1, 1, 1, 0, 0}, c);
  }
  return list;
}

template <class T>
void check_all(const family& f, bool simd) {
  std::vector<window_geometry> all = geometries(f.depthwise);
  if (!f.depthwise) {
    const std::vector<window_geometry> grouped = grouped_geometries();
    all.insert(all.end(), grouped.begin(), grouped.end());
  }
  for (const window_geometry& g : all) {
    window_geometry fit = g;
    if (f.depthwise && fit.out_c % fit.in_c != 0) fit.out_c = fit.in_c;
    for (const part computed : {input, filter, output}) {
      for (const kgtest::edge side : {kgtest::edge::begin, kgtest::edge::end}) {
        check<T>(f, computed, kernel_of<T>(f, computed, simd), fit, side);
        if (::testing::Test::HasFatalFailure()) return;
      }
      check<T>(f, computed, kernel_of<T>(f, computed, simd), fit, kgtest::edge::end, values::one_infinite);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Conv2D, AndItsGradientsSumTheProductsOfEveryWindow) {
  kgtest::on_every_target([](const char*) { check_all<float>(conv_family, true); });
}
TEST(Conv2D, AndItsGradientsDoSoInDoublePrecision) {
  kgtest::on_every_target([](const char*) { check_all<double>(conv_family, true); });
}
TEST(Conv2D, ReferenceSumsTheProductsOfEveryWindow) {
  check_all<float>(conv_family, false);
  check_all<double>(conv_family, false);
}
TEST(Depthwise, AndItsGradientsSumTheProductsOfEveryWindow) {
  kgtest::on_every_target([](const char*) { check_all<float>(depthwise_family, true); });
}
TEST(Depthwise, AndItsGradientsDoSoInDoublePrecision) {
  kgtest::on_every_target([](const char*) { check_all<double>(depthwise_family, true); });
}
TEST(Depthwise, ReferenceSumsTheProductsOfEveryWindow) {
  check_all<float>(depthwise_family, false);
  check_all<double>(depthwise_family, false);
}

TEST(ConvTables, NameTheSameKernelsOnBothSides) {
  ASSERT_EQ(std::size(conv_simd), std::size(reference::conv_reference));
  ASSERT_EQ(std::size(depthwise_simd), std::size(reference::depthwise_reference));
  for (std::size_t i = 0; i < std::size(conv_simd); ++i) {
    EXPECT_STREQ(conv_simd[i].op, reference::conv_reference[i].op);
    EXPECT_EQ(conv_simd[i].type, reference::conv_reference[i].type);
    EXPECT_STREQ(depthwise_simd[i].op, reference::depthwise_reference[i].op);
    EXPECT_EQ(depthwise_simd[i].type, reference::depthwise_reference[i].type);
  }
}

}  // namespace
