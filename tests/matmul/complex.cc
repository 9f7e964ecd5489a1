// SPDX-License-Identifier: Apache-2.0
// Products of complex matrices between guard pages, against the reference and the definition.
#include "kernels/matmul/complex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "tests/support/kernels.h"

namespace {

using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;

template <class T>
void check(run_fn run, const matmul_geometry& g, std::int64_t matrices_of_a, std::int64_t matrices_of_b) {
  std::int64_t batch = 1;
  for (int axis = 0; axis < g.batch_rank; ++axis) batch *= g.batch_dims[axis];
  guarded<std::complex<T>> a(static_cast<std::size_t>(matrices_of_a * g.m * g.k)),
      b(static_cast<std::size_t>(matrices_of_b * g.k * g.n)), c(static_cast<std::size_t>(batch * g.m * g.n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = {T(std::sin(T(i))), T(std::cos(T(3 * i)))};
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = {T(std::cos(T(i))), T(std::sin(T(2 * i)))};
  const void* in[] = {a.data(), b.data()};
  void* out[] = {c.data()};
  run(in, out, &g);
  for (std::int64_t at = 0; at < batch * g.m * g.n; ++at) {
    const std::int64_t i = at / g.n % g.m, j = at % g.n;
    std::int64_t rest = at / (g.m * g.n), of_a = 0, of_b = 0;
    for (int axis = g.batch_rank - 1; axis >= 0; rest /= g.batch_dims[axis--]) {
      of_a += rest % g.batch_dims[axis] * g.stride_a[axis];
      of_b += rest % g.batch_dims[axis] * g.stride_b[axis];
    }
    std::complex<long double> sum = 0;
    long double sizes = 0;
    for (std::int64_t p = 0; p < g.k; ++p) {
      const auto left = a[static_cast<std::size_t>(of_a * g.m * g.k + (g.transpose_a ? p * g.m + i : i * g.k + p))];
      const auto right = b[static_cast<std::size_t>(of_b * g.k * g.n + (g.transpose_b ? j * g.k + p : p * g.n + j))];
      sum += std::complex<long double>(left) * std::complex<long double>(right);
      sizes += std::abs(left) * std::abs(right);
    }
    const std::complex<T> got = c[static_cast<std::size_t>(at)];
    const long double most = (static_cast<long double>(2 * g.k) + 1) * std::numeric_limits<T>::epsilon() * sizes;
    ASSERT_LE(std::abs(std::complex<long double>(got) - sum), most) << at;
  }
}

TEST(complex_products_of_matrices, match_the_definition_in_every_shape) {
  struct sizes {
    std::int64_t m, n, k;
  };
  kgtest::on_every_target([](const char*) {
    for (const sizes& s : {sizes{1, 1, 1}, {1, 9, 5}, {9, 1, 5}, {3, 4, 7}, {17, 33, 65}, {40, 50, 0}})
      for (const int how : {0, 1, 2, 3}) {
        matmul_geometry g{};
        g.m = s.m, g.n = s.n, g.k = s.k, g.transpose_a = how & 1, g.transpose_b = how & 2;
        check<float>(BatchMatMul_complex64, g, 1, 1);
        check<double>(BatchMatMul_complex128, g, 1, 1);
        check<double>(reference::BatchMatMul_complex128, g, 1, 1);
        // Two batches of A and three of B: each of A serves for three.
        g.batch_rank = 2, g.batch_dims[0] = 2, g.batch_dims[1] = 3, g.stride_a[0] = 1, g.stride_b[1] = 1;
        check<float>(BatchMatMul_complex64, g, 2, 3);
        check<double>(BatchMatMul_complex128, g, 2, 3);
        check<float>(reference::BatchMatMul_complex64, g, 2, 3);
      }
  });
}

TEST(complex_products_of_matrices, with_one_right_operand_are_one_product) {
  matmul_geometry g{};
  g.m = 4, g.n = 6, g.k = 5, g.batch_rank = 1, g.batch_dims[0] = 3, g.stride_a[0] = 1;
  check<double>(BatchMatMul_complex128, g, 3, 1);
}

}  // namespace
