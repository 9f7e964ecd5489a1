// SPDX-License-Identifier: Apache-2.0
// Convolution of volumes and its gradients against sums in long double, on every target. The three kernels are the
// three ways to sum the same list of terms (input element, filter element, output element).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/volume/conv3d.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;

enum part { input, filter, output };
// By the part that a kernel computes.
constexpr const char* name_of[] = {"Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", "Conv3D"};

template <class T>
run_fn kernel_of(part computed, bool simd) {
  constexpr dtype type = sizeof(T) == 4 ? dtype::float32 : dtype::float64;
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(conv3d_simd), std::end(conv3d_simd))
            : std::vector<entry>(std::begin(reference::conv3d_reference), std::end(reference::conv3d_reference))) {
    if (std::string(e.op) == name_of[computed] && e.type == type) return e.run;
  }
  return nullptr;
}

// The pairs (input, filter element) that an output index meets on an axis.
std::vector<std::array<std::int64_t, 2>> met_by(const volume_axis& a, std::int64_t o) {
  std::vector<std::array<std::int64_t, 2>> found;
  for (std::int64_t k = 0; k < a.filter; ++k) {
    const std::int64_t at = o * a.stride - a.pad + k * a.dilation;
    if (at >= 0 && at < a.in) found.push_back({at, k});
  }
  return found;
}

// Calls term(input element, filter element, output element) for every product of the convolution.
template <class Term>
void for_each_term(const volume_geometry& g, Term term) {
  std::int64_t out = 0;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oz = 0; oz < g.depth.out; ++oz)
      for (std::int64_t oy = 0; oy < g.height.out; ++oy)
        for (std::int64_t ox = 0; ox < g.width.out; ++ox, out += g.out_c)
          for (const auto& [iz, kz] : met_by(g.depth, oz))
            for (const auto& [iy, ky] : met_by(g.height, oy))
              for (const auto& [ix, kx] : met_by(g.width, ox)) {
                const std::int64_t in = (((b * g.depth.in + iz) * g.height.in + iy) * g.width.in + ix) * g.in_c;
                const std::int64_t tap = ((kz * g.height.filter + ky) * g.width.filter + kx) * g.in_c;
                for (std::int64_t co = 0; co < g.out_c; ++co)
                  for (std::int64_t ci = 0; ci < g.in_c; ++ci) term(in + ci, (tap + ci) * g.out_c + co, out + co);
              }
}

std::string text_of(const volume_axis& a) {
  std::string text;
  for (const std::int64_t n : {a.in, a.out, a.filter, a.stride, a.dilation, a.pad}) text += ' ' + std::to_string(n);
  return text;
}

enum class values { any, one_infinite };

template <class T>
void check(part computed, bool simd, const volume_geometry& g, kgtest::edge side, values which = values::any) {
  SCOPED_TRACE(::testing::Message() << name_of[computed] << " batch " << g.batch << " channels " << g.in_c << ' '
                                    << g.out_c << " in, out, filter, stride, dilation, pad" << text_of(g.depth) << ','
                                    << text_of(g.height) << ',' << text_of(g.width));
  const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  kgtest::guarded<T> data[] = {kgtest::guarded<T>(count(g.batch * g.depth.in * g.in_slice()), side),
                               kgtest::guarded<T>(count(g.depth.filter * g.filter_slice()), side),
                               kgtest::guarded<T>(count(g.batch * g.depth.out * g.out_slice()), side)};
  std::mt19937 random(5);
  for (auto& array : data) {
    for (T& v : array) v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 - 0.5);
  }
  if (which == values::one_infinite) {  // among positive ones: no sum is NaN but by a product with padding
    for (auto& array : data) {
      for (T& v : array) v = std::fabs(v) + static_cast<T>(0.1);
      if (array.size() > 0) *array.begin() = std::numeric_limits<T>::infinity();
    }
  }
  for (T& v : data[computed]) v = std::numeric_limits<T>::quiet_NaN();
  // Operands in the order of the op: dy before the filter, x before everything.
  const part first = computed == input ? output : input, second = computed == filter ? output : filter;
  const void* in[] = {data[first].data(), data[second].data()};
  void* out[] = {data[computed].data()};
  kernel_of<T>(computed, simd)(in, out, &g);

  std::vector<long double> sum(data[computed].size()), size(sum.size());
  std::vector<int> terms(sum.size());
  for_each_term(g, [&](std::int64_t i, std::int64_t w, std::int64_t o) {
    const std::size_t at[] = {count(i), count(w), count(o)};
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

// An axis with the output size that follows from the padding.
volume_axis axis(std::int64_t in, std::int64_t filter, std::int64_t stride, std::int64_t dilation, std::int64_t before,
                 std::int64_t after) {
  const std::int64_t reach = (filter - 1) * dilation + 1;
  const std::int64_t out = std::max<std::int64_t>(0, in + before + after - reach + stride) / stride;
  return {in, out, filter, stride, dilation, before};
}

std::vector<volume_geometry> geometries() {
  constexpr std::int64_t channels[] = {1, 2, 3, 5, 16, 17}, sizes[] = {1, 2, 4, 5, 7, 9}, filters[] = {1, 2, 3, 3, 4};
  std::vector<volume_geometry> list;
  std::mt19937 random(11);
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  for (int i = 0; i < 60; ++i) {
    const auto any_axis = [&] {
      const std::int64_t filter = pick(filters), dilation = 1 + random() % 2, most = (filter - 1) * dilation;
      return axis(pick(sizes), filter, 1 + random() % 3, dilation, i % 3 == 0 ? 0 : random() % (most + 2),
                  i % 3 == 0 ? 0 : random() % (most + 2));
    };
    list.push_back({2, pick(channels), pick(channels), any_axis(), any_axis(), any_axis()});
  }
  const volume_axis same = axis(6, 3, 1, 1, 1, 1), one = axis(4, 1, 1, 1, 0, 0), far = axis(6, 3, 1, 5, 5, 5);
  list.push_back({2, 16, 32, same, same, same});
  list.push_back({2, 5, 9, one, one, one});
  list.push_back({1, 3, 2, same, one, axis(9, 2, 2, 1, 0, 0)});
  list.push_back({2, 5, 18, far, far, far});
  list.push_back({1, 3, 4, axis(5, 9, 10, 1, 4, 12), same, one});  // taps between pixels that none of them meets
  list.push_back({1, 3, 4, {4, 7, 2, 1, 1, 5}, same, same});       // slices outside of the volume
  list.push_back({1, 3, 4, {9, 2, 2, 4, 1, -1}, same, {8, 3, 2, 2, 1, -2}});
  for (int empty = 0; empty < 6; ++empty) {
    volume_geometry g{2, 3, 3, same, axis(4, 2, 1, 1, 0, 0), axis(5, 2, 1, 1, 0, 0)};
    if (empty == 0) g.batch = 0;
    if (empty == 1) g.depth.out = 0;
    if (empty == 2) g.depth.in = 0;
    if (empty == 3) g.depth.filter = 0;
    if (empty == 4) g.in_c = 0;
    if (empty == 5) g.out_c = 0;
    list.push_back(g);
  }
  return list;
}

template <class T>
void check_all(bool simd) {
  for (const volume_geometry& g : geometries()) {
    for (const part computed : {input, filter, output}) {
      for (const kgtest::edge side : kgtest::edges) check<T>(computed, simd, g, side);
      check<T>(computed, simd, g, kgtest::edge::end, values::one_infinite);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Conv3D, AndItsGradientsSumTheProductsOfEveryWindow) {
  kgtest::on_every_target([](const char*) { check_all<float>(true); });
}
TEST(Conv3D, AndItsGradientsDoSoInDoublePrecision) {
  kgtest::on_every_target([](const char*) { check_all<double>(true); });
}
TEST(Conv3D, ReferenceSumsTheProductsOfEveryWindow) {
  check_all<float>(false);
  check_all<double>(false);
}
TEST(Conv3DTables, NameTheSameKernelsOnBothSides) {
  ASSERT_EQ(std::size(conv3d_simd), std::size(reference::conv3d_reference));
  for (std::size_t i = 0; i < std::size(conv3d_simd); ++i) {
    EXPECT_STREQ(conv3d_simd[i].op, reference::conv3d_reference[i].op);
    EXPECT_EQ(conv3d_simd[i].type, reference::conv3d_reference[i].type);
  }
}

}  // namespace
