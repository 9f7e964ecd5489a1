// SPDX-License-Identifier: Apache-2.0
// BatchMatMul against a product written from the definition, of floats in long double, of integers in 128 bits; on
// every target.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <range/v3/view/cartesian_product.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "kernels/matmul/matmul.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;

__extension__ using wide_integer = unsigned __int128;  // of which products and sums keep the lower bits

template <class T> run_fn simd_kernel();
template <> run_fn simd_kernel<float>() { return BatchMatMul_float32; }
template <> run_fn simd_kernel<double>() { return BatchMatMul_float64; }
template <> run_fn simd_kernel<std::int32_t>() { return BatchMatMul_int32; }
template <> run_fn simd_kernel<std::int64_t>() { return BatchMatMul_int64; }
template <class T> run_fn reference_kernel();
template <> run_fn reference_kernel<float>() { return reference::BatchMatMul_float32; }
template <> run_fn reference_kernel<double>() { return reference::BatchMatMul_float64; }
template <> run_fn reference_kernel<std::int32_t>() { return reference::BatchMatMul_int32; }
template <> run_fn reference_kernel<std::int64_t>() { return reference::BatchMatMul_int64; }

matmul_geometry plain(std::int64_t m, std::int64_t n, std::int64_t k, bool ta = false, bool tb = false) {
  matmul_geometry g{};
  g.m = m;
  g.n = n;
  g.k = k;
  g.transpose_a = ta;
  g.transpose_b = tb;
  return g;
}

std::int64_t batch_of(const matmul_geometry& g) {
  std::int64_t batch = 1;
  for (int axis = 0; axis < g.batch_rank; ++axis) batch *= g.batch_dims[axis];
  return batch;
}

// How many matrices an operand holds.
std::int64_t matrices(const matmul_geometry& g, const std::int64_t* strides) {
  std::int64_t last = 0;
  for (int axis = 0; axis < g.batch_rank; ++axis) last += (g.batch_dims[axis] - 1) * strides[axis];
  return batch_of(g) == 0 ? 0 : last + 1;
}

template <class T>
struct operands {
  kgtest::guarded<T> a, b, c;
  operands(const matmul_geometry& g, kgtest::edge side, unsigned seed)
      : a(static_cast<std::size_t>(matrices(g, g.stride_a) * g.m * g.k), side),
        b(static_cast<std::size_t>(matrices(g, g.stride_b) * g.k * g.n), side),
        c(static_cast<std::size_t>(batch_of(g) * g.m * g.n), side) {
    std::mt19937_64 random(seed);
    const auto fill = [&](kgtest::guarded<T>& values) {
      for (T& v : values) {
        if constexpr (std::is_integral_v<T>) {
          v = static_cast<T>(random());
        } else {
          v = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5);
        }
      }
    };
    fill(a);
    fill(b);
    for (T& v : c) v = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T{77};
  }
  void run(run_fn kernel, const matmul_geometry& g) {
    const void* in[] = {a.data(), b.data()};
    void* out[] = {c.data()};
    kernel(in, out, &g);
  }
};

// Compares with the definition; the bound is that of a sum of k rounded products.
template <class T>
void check(run_fn kernel, const matmul_geometry& g, kgtest::edge side, unsigned seed) {
  SCOPED_TRACE(::testing::Message() << "m " << g.m << " n " << g.n << " k " << g.k << " ta " << g.transpose_a << " tb "
                                    << g.transpose_b << " seed " << seed);
  operands<T> o(g, side, seed);
  o.run(kernel, g);
  for (std::int64_t index = 0; index < batch_of(g); ++index) {
    std::int64_t rest = index, at_a = 0, at_b = 0;
    for (int axis = g.batch_rank - 1; axis >= 0; rest /= g.batch_dims[axis--]) {
      at_a += rest % g.batch_dims[axis] * g.stride_a[axis];
      at_b += rest % g.batch_dims[axis] * g.stride_b[axis];
    }
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        long double sum = 0, size = 0;
        wide_integer whole = 0;
        for (std::int64_t p = 0; p < g.k; ++p) {
          const T x = o.a[static_cast<std::size_t>(at_a * g.m * g.k + (g.transpose_a ? p * g.m + i : i * g.k + p))];
          const T y = o.b[static_cast<std::size_t>(at_b * g.k * g.n + (g.transpose_b ? j * g.k + p : p * g.n + j))];
          if constexpr (std::is_integral_v<T>) {
            whole += static_cast<wide_integer>(x) * static_cast<wide_integer>(y);
          } else {
            sum += static_cast<long double>(x) * y;
            size += std::fabs(static_cast<long double>(x) * y);
          }
        }
        const T got = o.c[static_cast<std::size_t>((index * g.m + i) * g.n + j)];
        if constexpr (std::is_integral_v<T>) {
          ASSERT_EQ(got, static_cast<T>(whole)) << i << ", " << j;
        } else {
          const long double bound = static_cast<long double>(g.k + 1) * std::numeric_limits<T>::epsilon() * size;
          ASSERT_LE(std::fabs(static_cast<long double>(got) - sum), bound) << i << ", " << j << ": " << got;
        }
      }
    }
  }
}

template <class T>
void check_shapes(run_fn kernel, int count) {
  constexpr std::int64_t sizes[] = {0, 1, 2, 3, 5, 8, 13, 14, 15, 16, 17, 31, 32, 33, 64, 65};
  std::mt19937 random(7);
  const auto pick = [&] { return sizes[random() % std::size(sizes)]; };
  for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) {
    const std::int64_t m = pick(), n = pick(), k = pick();
    const auto side = i % 2 == 0 ? kgtest::edge::end : kgtest::edge::begin;
    for (int transposes = 0; transposes < 4; ++transposes) {
      check<T>(kernel, plain(m, n, k, transposes & 1, transposes & 2), side, static_cast<unsigned>(i));
    }
  }
}

template <class T>
class Matmul : public ::testing::Test {};
using element_types = ::testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Matmul, element_types);

TYPED_TEST(Matmul, GivesTheProductForOddSizesAndAllTransposes) {
  kgtest::on_every_target([](const char*) { check_shapes<TypeParam>(simd_kernel<TypeParam>(), 60); });
}

TYPED_TEST(Matmul, ReferenceGivesTheProductForOddSizesAndAllTransposes) {
  check_shapes<TypeParam>(reference_kernel<TypeParam>(), 20);
}

TYPED_TEST(Matmul, TreatsSingleRowsAndColumnsLikeAnyMatrix) {
  kgtest::on_every_target([](const char*) {
    const std::array<std::int64_t, 6> widths{1, 7, 16, 19, 47, 70}, depths{1, 7, 9, 16, 35, 67};
    const std::array<bool, 2> either{false, true};
    for (const auto [n, k, ta, tb] : ranges::views::cartesian_product(widths, depths, either, either)) {
      check<TypeParam>(simd_kernel<TypeParam>(), plain(1, n, k, ta, tb), kgtest::edge::end, 1);
      check<TypeParam>(simd_kernel<TypeParam>(), plain(n, 1, k, ta, tb), kgtest::edge::end, 2);
    }
  });
}

TYPED_TEST(Matmul, IsRightAcrossTheEdgesOfItsCacheBlocks) {
  kgtest::on_every_target([](const char*) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      const bool ta = transposes & 1, tb = transposes & 2;
      check<TypeParam>(simd_kernel<TypeParam>(), plain(171, 139, 261, ta, tb), kgtest::edge::end, 3);
    }
    check<TypeParam>(simd_kernel<TypeParam>(), plain(5, 1030, 17), kgtest::edge::end, 4);
    check<TypeParam>(simd_kernel<TypeParam>(), plain(1, 1030, 17), kgtest::edge::end, 5);
    check<TypeParam>(simd_kernel<TypeParam>(), plain(9, 20, 512), kgtest::edge::end, 6);
  });
}

TYPED_TEST(Matmul, RepeatsMatricesAlongBroadcastBatchAxes) {
  kgtest::on_every_target([](const char*) {
    matmul_geometry g = plain(3, 5, 4);
    g.batch_rank = 3;
    const std::int64_t dims[] = {2, 3, 2}, stride_a[] = {2, 0, 1}, stride_b[] = {0, 1, 0};
    std::copy(dims, dims + 3, g.batch_dims);
    std::copy(stride_a, stride_a + 3, g.stride_a);
    std::copy(stride_b, stride_b + 3, g.stride_b);
    check<TypeParam>(simd_kernel<TypeParam>(), g, kgtest::edge::end, 8);
    check<TypeParam>(reference_kernel<TypeParam>(), g, kgtest::edge::end, 8);
    matmul_geometry stacked = plain(3, 17, 4);  // one B for a stack of A, which is one tall product
    stacked.batch_rank = 2;
    stacked.batch_dims[0] = 3;
    stacked.batch_dims[1] = 2;
    stacked.stride_a[0] = 2;
    stacked.stride_a[1] = 1;
    check<TypeParam>(simd_kernel<TypeParam>(), stacked, kgtest::edge::end, 9);
    stacked.transpose_a = true;
    check<TypeParam>(simd_kernel<TypeParam>(), stacked, kgtest::edge::end, 10);
    stacked.batch_dims[1] = 0;
    check<TypeParam>(simd_kernel<TypeParam>(), stacked, kgtest::edge::end, 11);
  });
}

TYPED_TEST(Matmul, GivesTheSameBitsAtEveryAlignment) {
  kgtest::on_every_target([](const char*) {
    const matmul_geometry g = plain(15, 21, 37);
    operands<TypeParam> o(g, kgtest::edge::end, 12);
    o.run(simd_kernel<TypeParam>(), g);
    constexpr std::size_t offsets = 64 / sizeof(TypeParam);
    std::vector<TypeParam> a(o.a.size() + offsets), b(o.b.size() + offsets), c(o.c.size() + offsets);
    for (std::size_t i = 0; i < offsets; ++i) {
      TypeParam *at_a = a.data() + i, *at_b = b.data() + 3 * i % offsets, *at_c = c.data() + (5 * i + 1) % offsets;
      std::copy(o.a.begin(), o.a.end(), at_a);
      std::copy(o.b.begin(), o.b.end(), at_b);
      const void* in[] = {at_a, at_b};
      void* out[] = {at_c};
      simd_kernel<TypeParam>()(in, out, &g);
      EXPECT_EQ(std::memcmp(o.c.data(), at_c, o.c.size() * sizeof(TypeParam)), 0) << "offset " << i;
    }
  });
}

TYPED_TEST(Matmul, OfAMatrixAndItsOwnTransposeHasTheBitsOfTheProductWithACopy) {
  kgtest::on_every_target([](const char*) {
    constexpr std::array<std::array<std::int64_t, 2>, 7> sizes = {
        {{1, 9}, {2, 3}, {17, 5}, {33, 64}, {64, 300}, {150, 20}, {171, 261}}};
    for (const auto [n, k] : sizes)
      for (const bool first : {true, false}) {
        const matmul_geometry g = plain(n, n, k, first, !first);
        operands<TypeParam> o(g, kgtest::edge::end, 13);
        std::copy(o.a.begin(), o.a.end(), o.b.begin());
        o.run(simd_kernel<TypeParam>(), g);
        std::vector<TypeParam> c(o.c.size());
        const void* in[] = {o.a.data(), o.a.data()};
        void* out[] = {c.data()};
        simd_kernel<TypeParam>()(in, out, &g);
        EXPECT_EQ(std::memcmp(o.c.data(), c.data(), c.size() * sizeof(TypeParam)), 0)
            << n << " x " << k << (first ? ", the first transposed" : ", the second transposed");
      }
  });
}

TEST(MatmulOfFloats, LetsNanAndInfinityThrough) {
  kgtest::on_every_target([](const char*) {
    const matmul_geometry g = plain(2, 3, 2);
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    operands<float> o(g, kgtest::edge::end, 1);
    const float a[] = {nan, 0, infinity, 1}, b[] = {0, 1, 1, 2, 3, 0};
    std::copy(a, a + 4, o.a.data());
    std::copy(b, b + 6, o.b.data());
    o.run(BatchMatMul_float32, g);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isnan(o.c[j]));
    EXPECT_TRUE(std::isnan(o.c[3]));
    EXPECT_EQ(o.c[4], infinity);
    EXPECT_EQ(o.c[5], infinity);
  });
}

TEST(MatmulTables, NameOneKernelPerDtypeOnBothSides) {
  ASSERT_EQ(std::size(matmul_simd), 4u);
  ASSERT_EQ(std::size(reference::matmul_reference), std::size(matmul_simd));
  for (std::size_t i = 0; i < std::size(matmul_simd); ++i) {
    EXPECT_STREQ(matmul_simd[i].op, reference::matmul_reference[i].op);
    EXPECT_EQ(matmul_simd[i].type, reference::matmul_reference[i].type);
    EXPECT_NE(matmul_simd[i].run, reference::matmul_reference[i].run);
  }
}

}  // namespace
