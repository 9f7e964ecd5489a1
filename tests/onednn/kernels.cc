// SPDX-License-Identifier: Apache-2.0
// The kernels on oneDNN against the reference kernels. The bound of a sum comes from the reference as well: run on the
// magnitudes of the operands it gives the magnitude of every sum, and on ones the number of its terms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "kernels/window/conv.h"
#include "kernels/onednn/onednn.h"
#include "kernels/matmul/matmul.h"
#include "kernels/softmax/softmax.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::edge;
using kgtest::guarded;
namespace views = ranges::views;

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

std::size_t product(std::initializer_list<std::int64_t> sizes) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return static_cast<std::size_t>(n);
}

// A call of a kernel with two operands: sizes in elements.
struct call {
  const char* op;
  const void* geometry;
  std::size_t first, second, result;
};

void fill(guarded<float>& values, std::mt19937& random) {
  for (float& v : values) v = static_cast<float>(static_cast<double>(random()) / 4294967296.0 - 0.5);
}

std::vector<float> run_reference(run_fn reference, const call& c, std::vector<float> first, std::vector<float> second) {
  std::vector<float> result(c.result);
  const void* in[] = {first.data(), second.data()};
  void* out[] = {result.data()};
  reference(in, out, c.geometry);
  return result;
}

// Each element within (terms + 1) * eps * sum |terms| of the reference, which is rounded once.
void check_sums(run_fn kernel, run_fn reference, const call& c, edge side) {
  guarded<float> first(c.first, side), second(c.second, side), result(c.result, side);
  std::mt19937 random(17);
  fill(first, random);
  fill(second, random);
  std::fill(result.begin(), result.end(), nan);
  const void* in[] = {first.data(), second.data()};
  void* out[] = {result.data()};
  kernel(in, out, c.geometry);

  const auto mapped = [](const guarded<float>& values, auto f) {
    std::vector<float> to;
    for (std::size_t i = 0; i < values.size(); ++i) to.push_back(f(values[i]));
    return to;
  };
  const auto same = [](float v) { return v; };
  const auto magnitude = [](float v) { return std::fabs(v); };
  const auto one = [](float) { return 1.0f; };
  const std::vector<float> want = run_reference(reference, c, mapped(first, same), mapped(second, same));
  const std::vector<float> size = run_reference(reference, c, mapped(first, magnitude), mapped(second, magnitude));
  const std::vector<float> terms = run_reference(reference, c, mapped(first, one), mapped(second, one));
  for (std::size_t i = 0; i < c.result; ++i) {
    const float bound = (terms[i] + 1) * std::numeric_limits<float>::epsilon() * size[i];
    ASSERT_LE(std::fabs(result[i] - want[i]), bound) << i << ": " << result[i] << " wanted " << want[i];
  }
}

// ------------------------------------------------------------------------------------------ BatchMatMul

matmul_geometry matrices(std::int64_t m, std::int64_t n, std::int64_t k, int transposes) {
  matmul_geometry g{};
  g.m = m;
  g.n = n;
  g.k = k;
  g.transpose_a = (transposes & 1) != 0;
  g.transpose_b = (transposes & 2) != 0;
  return g;
}

struct batch_axis {
  std::int64_t size, stride_a, stride_b;
};
matmul_geometry stacked(matmul_geometry g, std::initializer_list<batch_axis> axes) {
  for (const batch_axis& axis : axes) {
    g.batch_dims[g.batch_rank] = axis.size;
    g.stride_a[g.batch_rank] = axis.stride_a;
    g.stride_b[g.batch_rank++] = axis.stride_b;
  }
  return g;
}

call call_of(const matmul_geometry& g) {
  std::int64_t batch = 1, last_a = 0, last_b = 0;
  for (int axis = 0; axis < g.batch_rank; ++axis) {
    batch *= g.batch_dims[axis];
    last_a += (g.batch_dims[axis] - 1) * g.stride_a[axis];
    last_b += (g.batch_dims[axis] - 1) * g.stride_b[axis];
  }
  const bool any = batch > 0;
  return {"BatchMatMul", &g, product({any * (last_a + 1), g.m, g.k}), product({any * (last_b + 1), g.k, g.n}),
          product({batch, g.m, g.n})};
}

void check(const matmul_geometry& g) {
  SCOPED_TRACE(::testing::Message() << "m " << g.m << " n " << g.n << " k " << g.k << " transposes " << g.transpose_a
                                    << g.transpose_b << " batch rank " << g.batch_rank << ", runs "
                                    << onednn::implementation("BatchMatMul", &g));
  for (const edge side : {edge::begin, edge::end})
    check_sums(onednn::BatchMatMul_float32, reference::BatchMatMul_float32, call_of(g), side);
}

TEST(OnednnMatmul, GivesTheProductForOddSizesAndAllTransposes) {
  constexpr std::int64_t sizes[] = {1, 2, 3, 5, 8, 13, 15, 16, 17, 31, 32, 33, 64, 65, 129};
  std::mt19937 random(7);
  const auto pick = [&] { return sizes[random() % std::size(sizes)]; };
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
    const std::int64_t m = pick(), n = pick(), k = pick();
    for (int transposes = 0; transposes < 4; ++transposes) check(matrices(m, n, k, transposes));
  }
  for (int transposes = 0; transposes < 4; ++transposes) check(matrices(171, 139, 261, transposes));
}

TEST(OnednnMatmul, TreatsSingleRowsAndColumnsLikeAnyMatrix) {
  constexpr std::int64_t sizes[] = {1, 7, 16, 47, 70}, depths[] = {1, 9, 16, 67};
  for (const auto& [n, k, transposes] : views::cartesian_product(sizes, depths, views::iota(0, 4))) {
    check(matrices(1, n, k, transposes));
    check(matrices(n, 1, k, transposes));
  }
}

TEST(OnednnMatmul, WalksAndRepeatsMatricesAlongBatchAxes) {
  for (int transposes = 0; transposes < 4; ++transposes) {
    const matmul_geometry g = matrices(5, 17, 4, transposes);
    check(stacked(g, {{7, 1, 1}}));
    check(stacked(g, {{1, 0, 0}}));
    check(stacked(g, {{7, 1, 0}}));
    check(stacked(g, {{7, 0, 1}}));
    check(stacked(g, {{3, 0, 0}}));
    check(stacked(g, {{3, 2, 1}}));
    check(stacked(g, {{3, 0, 2}, {2, 1, 1}}));
    check(stacked(g, {{3, 2, 0}, {2, 1, 0}}));
    check(stacked(g, {{2, 2, 0}, {3, 0, 1}, {2, 1, 0}}));
    check(stacked(g, {{2, 0, 3}, {2, 1, 0}, {3, 0, 1}}));
    check(stacked(matrices(64, 48, 33, transposes), {{12, 1, 1}}));
  }
}

TEST(OnednnMatmul, GivesZerosForEmptySumsAndWritesNothingForEmptyResults) {
  for (int transposes = 0; transposes < 4; ++transposes) {
    check(matrices(3, 5, 0, transposes));
    check(matrices(0, 5, 4, transposes));
    check(matrices(3, 0, 4, transposes));
    const matmul_geometry g = matrices(3, 5, 4, transposes);
    check(stacked(g, {{0, 1, 1}}));
    check(stacked(g, {{0, 2, 1}, {2, 1, 0}}));
    check(stacked(g, {{2, 0, 1}, {0, 1, 0}}));
    check(stacked(matrices(3, 5, 0, transposes), {{2, 1, 0}}));
  }
}

TEST(OnednnMatmul, LetsNanAndInfinityThrough) {
  const matmul_geometry g = matrices(2, 3, 2, 0);
  const float a[] = {nan, 0, infinity, 1}, b[] = {0, 1, 1, 2, 3, 0};
  float c[6];
  const void* in[] = {a, b};
  void* out[] = {c};
  onednn::BatchMatMul_float32(in, out, &g);
  for (int j = 0; j < 4; ++j) EXPECT_TRUE(std::isnan(c[j])) << j;
  EXPECT_EQ(c[4], infinity);
  EXPECT_EQ(c[5], infinity);
}

// ------------------------------------------------------------------------------------------ Conv2D

call call_of(int computed, const window_geometry& g) {
  const std::size_t input = product({g.batch, g.in_h, g.in_w, g.in_c});
  const std::size_t filter = product({g.filter_h, g.filter_w, g.in_c, g.out_c});
  const std::size_t output = product({g.batch, g.out_h, g.out_w, g.out_c});
  const char* op = onednn::onednn_kernels[1 + computed].op;
  if (computed == 0) return {op, &g, input, filter, output};
  if (computed == 1) return {op, &g, output, filter, input};
  return {op, &g, input, output, filter};
}

void check(const window_geometry& g) {
  for (int computed = 0; computed < 3; ++computed) {
    const entry& kernel = onednn::onednn_kernels[1 + computed];
    const entry* reference = reference::conv_reference;
    while (std::strcmp(reference->op, kernel.op) != 0 || reference->type != dtype::float32) ++reference;
    SCOPED_TRACE(::testing::Message() << kernel.op << " batch " << g.batch << " in " << g.in_h << 'x' << g.in_w << 'x'
                                      << g.in_c << " out " << g.out_h << 'x' << g.out_w << 'x' << g.out_c << " filter "
                                      << g.filter_h << 'x' << g.filter_w << " stride " << g.stride_h << ','
                                      << g.stride_w << " dilation " << g.dilation_h << ',' << g.dilation_w << " pad "
                                      << g.pad_top << ',' << g.pad_left << ", runs "
                                      << onednn::implementation(kernel.op, &g));
    for (const edge side : {edge::begin, edge::end}) {
      ASSERT_NO_FATAL_FAILURE(check_sums(kernel.run, reference->run, call_of(computed, g), side));
    }
  }
}

struct padding {
  std::int64_t top, bottom, left, right;
};

// Geometry with the output size that follows from the padding.
window_geometry window(std::int64_t h, std::int64_t w, std::int64_t in_c, std::int64_t out_c, std::int64_t fh,
                       std::int64_t fw, std::int64_t stride, std::int64_t dilation, padding pad) {
  const std::int64_t extent_h = (fh - 1) * dilation + 1, extent_w = (fw - 1) * dilation + 1;
  return {2,
          h,
          w,
          in_c,
          std::max<std::int64_t>(0, h + pad.top + pad.bottom - extent_h + stride) / stride,
          std::max<std::int64_t>(0, w + pad.left + pad.right - extent_w + stride) / stride,
          out_c,
          fh,
          fw,
          stride,
          stride,
          dilation,
          dilation,
          pad.top,
          pad.left};
}
padding same(std::int64_t fh, std::int64_t fw, std::int64_t dilation) {
  const std::int64_t h = (fh - 1) * dilation, w = (fw - 1) * dilation;
  return {h / 2, h - h / 2, w / 2, w - w / 2};
}

TEST(OnednnConv2D, AndItsGradientsSumTheProductsOfEveryWindow) {
  constexpr std::int64_t channels[] = {1, 2, 3, 5, 8, 16, 17, 24, 32, 33, 64};
  constexpr std::int64_t heights[] = {1, 2, 5, 7, 12}, widths[] = {1, 3, 6, 9, 17, 30}, filters[] = {1, 2, 3, 3, 5};
  std::mt19937 random(11);
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  constexpr std::int64_t strides[] = {1, 2, 3}, dilations[] = {1, 2};
  for (const auto& [stride, dilation, way, repeat] :
       views::cartesian_product(strides, dilations, views::iota(0, 4), views::iota(0, 6))) {
    const std::int64_t h = pick(heights), w = pick(widths), fh = pick(filters), fw = pick(filters);
    const padding ways[] = {{}, same(fh, fw, dilation), {3, 1, 0, 4}, {0, 2, 1, 0}};
    check(window(h, w, pick(channels), pick(channels), fh, fw, stride, dilation, ways[way]));
    if (HasFatalFailure()) return;
  }
}

TEST(OnednnConv2D, IsRightForTheShapesOfNetworks) {
  check(window(28, 28, 1, 32, 3, 3, 1, 1, same(3, 3, 1)));
  check(window(14, 14, 64, 64, 3, 3, 1, 1, same(3, 3, 1)));
  check(window(14, 14, 32, 64, 3, 3, 2, 1, {0, 1, 0, 1}));
  check(window(30, 30, 3, 64, 7, 7, 2, 1, {2, 3, 2, 3}));
  check(window(14, 14, 64, 96, 1, 1, 1, 1, {}));
  check(window(14, 14, 64, 96, 1, 1, 2, 1, {}));
  check(window(15, 15, 16, 16, 3, 3, 1, 4, same(3, 3, 4)));
}

TEST(OnednnConv2D, TakesUnequalStridesCroppedImagesAndWindowsOutsideTheImage) {
  check(window_geometry{1, 6, 11, 5, 2, 5, 5, 3, 2, 3, 2, 1, 2, 1, 0});
  check(window_geometry{2, 6, 8, 3, 3, 4, 3, 2, 2, 1, 1, 1, 1, -1, -2});
  check(window_geometry{2, 9, 9, 16, 3, 3, 16, 2, 2, 1, 1, 1, 1, 0, 0});    // rows and columns outside every window
  check(window_geometry{1, 4, 4, 16, 12, 12, 16, 3, 3, 1, 1, 1, 1, 5, 5});  // whole windows of padding
  check(window_geometry{1, 1, 1, 16, 1, 1, 16, 5, 5, 1, 1, 1, 1, 2, 2});    // a filter larger than the image
  check(window_geometry{1, 2, 40, 16, 2, 45, 32, 1, 1, 1, 1, 1, 1, 0, 2});  // pointwise, with padding
}

TEST(OnednnConv2D, GivesZerosForEmptySumsAndWritesNothingForEmptyResults) {
  std::int64_t window_geometry::* const sizes[] = {
      &window_geometry::batch,    &window_geometry::in_h,     &window_geometry::in_w,  &window_geometry::in_c,
      &window_geometry::filter_h, &window_geometry::filter_w, &window_geometry::out_h, &window_geometry::out_c};
  for (const auto empty : sizes) {
    window_geometry g = window(4, 5, 3, 3, 2, 2, 1, 1, {});
    g.*empty = 0;
    check(g);
  }
}

// ------------------------------------------------------------------------------------------ Softmax

// Within (8 + |x - max| + classes / 2) * eps of each share: without fused multiply-add oneDNN's exponential loses with
// the distance, and the sum is one of rounded float32 terms, none negative.
void check(const reduce_geometry& g, edge side, bool special) {
  const std::size_t n = product({g.outer, g.count, g.inner});
  const float specials[] = {nan, infinity, -infinity, -infinity, -infinity};
  guarded<float> x(n, side), y(n, side);
  std::mt19937 random(static_cast<unsigned>(g.count * 31 + g.inner));
  for (float& v : x) v = static_cast<float>(random() % 20000) / 512 - 15;
  for (float& v : x)
    if (special && random() % 20 == 0) v = specials[random() % 5];
  std::vector<float> want(n);
  const void* in[] = {x.data()};
  void *out[] = {y.data()}, *wanted[] = {want.data()};
  onednn::Softmax_float32(in, out, &g);
  reference::Softmax_float32(in, wanted, &g);
  SCOPED_TRACE(::testing::Message() << g.outer << 'x' << g.count << 'x' << g.inner << ", runs "
                                    << onednn::implementation("Softmax", &g));
  const float eps = std::numeric_limits<float>::epsilon(), least = std::numeric_limits<float>::min();
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(std::isnan(want[i]), std::isnan(y[i])) << i << ": " << y[i] << " wanted " << want[i];
    if (std::isnan(want[i])) continue;
    float distance = 0;  // to the maximum of the row
    const std::int64_t at = static_cast<std::int64_t>(i), row = at / (g.count * g.inner) * g.count * g.inner;
    for (std::int64_t c = row + at % g.inner; want[i] > 0 && c < row + g.count * g.inner; c += g.inner)
      distance = std::max(distance, x[static_cast<std::size_t>(c)] - x[i]);
    ASSERT_LE(std::fabs(y[i] - want[i]), (8 + distance + static_cast<float>(g.count) / 2) * eps * want[i] + least)
        << i << ": " << y[i] << " wanted " << want[i];
  }
}

TEST(OnednnSoftmax, MatchesTheReferenceAlongTheLastAxisAndOthers) {
  for (const edge side : {edge::begin, edge::end}) {
    for (std::int64_t n = 0; n <= 67; ++n) ASSERT_NO_FATAL_FAILURE(check(reduce_geometry{3, n, 1}, side, false));
    for (const std::int64_t n : {1000, 4097, 9000})
      ASSERT_NO_FATAL_FAILURE(check(reduce_geometry{2, n, 1}, side, false));
    for (const std::int64_t inner : {0, 2, 17})
      ASSERT_NO_FATAL_FAILURE(check(reduce_geometry{2, 10, inner}, side, false));
    ASSERT_NO_FATAL_FAILURE(check(reduce_geometry{0, 4, 1}, side, false));
  }
}

TEST(OnednnSoftmax, TreatsInfinitiesAndNanAsTheReferenceDoes) {
  for (const std::int64_t n : {1, 3, 8, 16, 20, 33, 100})
    ASSERT_NO_FATAL_FAILURE(check(reduce_geometry{60, n, 1}, edge::end, true));
  ASSERT_NO_FATAL_FAILURE(check(reduce_geometry{2, 10, 5}, edge::end, true));
}

TEST(OnednnSoftmax, SubtractsTheMaximumSoThatNothingOverflows) {
  const reduce_geometry g{1, 4, 1};
  float y[4];
  void* out[] = {y};
  for (const float shift : {1000.0f, -1000.0f, 1e30f, -1e30f, -3.3e38f}) {
    const float x[] = {shift, shift, shift, shift};
    const void* in[] = {x};
    onednn::Softmax_float32(in, out, &g);
    for (const float v : y) EXPECT_EQ(v, 0.25f) << shift;
  }
  const float apart[] = {3e38f, -3e38f, -3e38f, -3e38f};  // their distance overflows
  const void* in[] = {apart};
  onednn::Softmax_float32(in, out, &g);
  EXPECT_EQ(y[0], 1.0f);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(y[i], 0.0f);
}

TEST(OnednnSoftmax, MayReplaceItsOperandByTheResult) {
  for (const std::int64_t n : {7, 16, 50}) {
    std::vector<float> x(static_cast<std::size_t>(3 * n)), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 11);
    const reduce_geometry g{3, n, 1};
    const void* in[] = {x.data()};
    void *out[] = {y.data()}, *in_place[] = {x.data()};
    onednn::Softmax_float32(in, out, &g);
    onednn::Softmax_float32(in, in_place, &g);
    ASSERT_EQ(x, y);
  }
}

// ------------------------------------------------------------------------------------------ all of them

const window_geometry large_window{4, 28, 28, 64, 28, 28, 64, 3, 3, 1, 1, 1, 1, 1, 1};
const matmul_geometry large_matrices = matrices(300, 200, 500, 0);

std::vector<call> large_calls() {
  return {call_of(large_matrices), call_of(0, large_window), call_of(1, large_window), call_of(2, large_window)};
}

TEST(OnednnKernels, RunOnednnWhereItIsWorthIt) {
  const reduce_geometry classes{64, 1000, 1};
  for (const call& c : large_calls()) EXPECT_STRNE(onednn::implementation(c.op, c.geometry), "") << c.op;
  EXPECT_STRNE(onednn::implementation("Softmax", &classes), "");
  EXPECT_STREQ(onednn::implementation("Exp", nullptr), "");
}

TEST(OnednnKernels, GiveTheSameBitsAtEveryAlignmentWithEveryCallInEveryThread) {
  for (const call& c : large_calls()) {
    const entry& kernel = *std::find_if(std::begin(onednn::onednn_kernels), std::end(onednn::onednn_kernels),
                                        [&](const entry& e) { return std::string(e.op) == c.op; });
    const auto results_at = [&](edge side) {
      guarded<float> first(c.first, side), second(c.second, side), result(c.result, side);
      std::mt19937 random(3);
      fill(first, random);
      fill(second, random);
      const void* in[] = {first.data(), second.data()};
      void* out[] = {result.data()};
      kernel.run(in, out, c.geometry);
      return std::vector<float>(result.begin(), result.end());
    };
    const std::vector<float> once = results_at(edge::end);
    for (int i = 0; i < 5; ++i) ASSERT_EQ(once, results_at(i % 2 ? edge::end : edge::begin)) << c.op;
    std::vector<float> elsewhere[2];
    std::thread other([&] { elsewhere[0] = results_at(edge::end); });
    elsewhere[1] = results_at(edge::end);
    other.join();
    ASSERT_EQ(once, elsewhere[0]) << c.op;
    ASSERT_EQ(once, elsewhere[1]) << c.op;
  }
}

TEST(OnednnKernels, AreRightForMoreGeometriesThanAThreadKeeps) {
  for (int round = 0; round < 2; ++round)
    for (std::int64_t m = 1; m <= 300 && !HasFatalFailure(); ++m) check(matrices(m, 3, 2, 0));
}

}  // namespace
