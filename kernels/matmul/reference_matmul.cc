// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/matmul.h"

#include <cstddef>

namespace kerngrad::kernels::reference {
namespace {

// Element type the memory is read as and the type that sums are formed in; rounded once to the result, those of
// integers cut.
template <class T> struct sums;
template <> struct sums<float> {
  using element = float;
  using type = double;
};
template <> struct sums<double> {
  using element = double;
  using type = long double;
};
template <> struct sums<std::int32_t> {
  using element = std::uint32_t;
  using type = std::uint64_t;
};
template <> struct sums<std::int64_t> {
  using element = std::uint64_t;
  using type = std::uint64_t;
};

template <dtype Type, class T = typename sums<storage_t<Type>>::element>
void BatchMatMul(const matmul_geometry& g, const T* a, const T* b, T* c) {
  using wide = typename sums<storage_t<Type>>::type;
  std::int64_t batch = 1;
  for (int axis = 0; axis < g.batch_rank; ++axis) batch *= g.batch_dims[axis];
  for (std::int64_t index = 0; index < batch; ++index) {
    std::int64_t rest = index, at_a = 0, at_b = 0;
    for (int axis = g.batch_rank - 1; axis >= 0; --axis) {
      at_a += rest % g.batch_dims[axis] * g.stride_a[axis];
      at_b += rest % g.batch_dims[axis] * g.stride_b[axis];
      rest /= g.batch_dims[axis];
    }
    const T* one_a = a + at_a * g.m * g.k;
    const T* one_b = b + at_b * g.k * g.n;
    T* one_c = c + index * g.m * g.n;
    for (std::int64_t i = 0; i < g.m; ++i)
      for (std::int64_t j = 0; j < g.n; ++j) {
        wide sum = 0;
        for (std::int64_t p = 0; p < g.k; ++p) {
          const wide left = one_a[g.transpose_a ? p * g.m + i : i * g.k + p];
          const wide right = one_b[g.transpose_b ? j * g.k + p : p * g.n + j];
          sum += left * right;
        }
        one_c[i * g.n + j] = static_cast<T>(sum);
      }
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_MATMUL_KERNELS)

}  // namespace kerngrad::kernels::reference
