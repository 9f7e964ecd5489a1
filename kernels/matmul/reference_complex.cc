// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/complex.h"

#include <cstddef>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

// Sums in the next wider type, rounded once.
template <dtype Type, class T = part_t<Type>>
void BatchMatMul(const matmul_geometry& g, const T* a, const T* b, T* c) {
  std::int64_t batch = 1;
  for (int axis = 0; axis < g.batch_rank; ++axis) batch *= g.batch_dims[axis];
  for (std::int64_t index = 0; index < batch * g.m * g.n; ++index) {
    const std::int64_t i = index / g.n % g.m, j = index % g.n;
    std::int64_t rest = index / (g.m * g.n), at_a = 0, at_b = 0;
    for (int axis = g.batch_rank - 1; axis >= 0; rest /= g.batch_dims[axis--]) {
      at_a += rest % g.batch_dims[axis] * g.stride_a[axis];
      at_b += rest % g.batch_dims[axis] * g.stride_b[axis];
    }
    wide_t<T> re = 0, im = 0;
    for (std::int64_t p = 0; p < g.k; ++p) {
      const T* left = a + 2 * (at_a * g.m * g.k + (g.transpose_a ? p * g.m + i : i * g.k + p));
      const T* right = b + 2 * (at_b * g.k * g.n + (g.transpose_b ? j * g.k + p : p * g.n + j));
      const wide_t<T> u = left[0], v = left[1], x = right[0], y = right[1];
      re += u * x - v * y;
      im += u * y + v * x;
    }
    c[2 * index] = static_cast<T>(re), c[2 * index + 1] = static_cast<T>(im);
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_COMPLEX_MATMUL_KERNELS)

}  // namespace kerngrad::kernels::reference
