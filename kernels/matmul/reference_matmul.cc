// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/reference_matmul.h"

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

template <class T>
void BatchMatMul(const void* const* in, void* const* out, const void* geometry) {
  using element = typename sums<T>::element;
  using wide = typename sums<T>::type;
  const auto& g = *static_cast<const matmul_geometry*>(geometry);
  std::int64_t batch = 1;
  for (int axis = 0; axis < g.batch_rank; ++axis) batch *= g.batch_dims[axis];
  for (std::int64_t index = 0; index < batch; ++index) {
    std::int64_t rest = index, at_a = 0, at_b = 0;
    for (int axis = g.batch_rank - 1; axis >= 0; --axis) {
      at_a += rest % g.batch_dims[axis] * g.stride_a[axis];
      at_b += rest % g.batch_dims[axis] * g.stride_b[axis];
      rest /= g.batch_dims[axis];
    }
    const element* a = static_cast<const element*>(in[0]) + at_a * g.m * g.k;
    const element* b = static_cast<const element*>(in[1]) + at_b * g.k * g.n;
    element* c = static_cast<element*>(out[0]) + index * g.m * g.n;
    for (std::int64_t i = 0; i < g.m; ++i)
      for (std::int64_t j = 0; j < g.n; ++j) {
        wide sum = 0;
        for (std::int64_t p = 0; p < g.k; ++p) {
          const wide left = a[g.transpose_a ? p * g.m + i : i * g.k + p];
          const wide right = b[g.transpose_b ? j * g.k + p : p * g.n + j];
          sum += left * right;
        }
        c[i * g.n + j] = static_cast<element>(sum);
      }
  }
}

}  // namespace

#define KG_DEFINE_MATMUL(Name, type)                                                  \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<storage_t<dtype::type>>(in, out, geometry);                                  \
  }
KG_MATMUL_KERNELS(KG_DEFINE_MATMUL)
#undef KG_DEFINE_MATMUL

}  // namespace kerngrad::kernels::reference
