// SPDX-License-Identifier: Apache-2.0
// Entry points of the batched matrix product.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// C[batch..., m, n] = op(A) op(B). A matrix of A is [m, k], or [k, m] when transposed; of B [k, n] or [n, k]. Every
/// matrix is contiguous and row-major. Batch strides count matrices; 0 repeats one matrix along that axis.
struct matmul_geometry {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
  int batch_rank;
  std::int64_t batch_dims[max_rank];
  std::int64_t stride_a[max_rank], stride_b[max_rank];
};

// in = {a, b}, out = {c}. The geometry is a matmul_geometry.
#define KG_MATMUL_KERNELS(X) KG_FLOATS(X, BatchMatMul) X(BatchMatMul, int32) X(BatchMatMul, int64)

KG_DECLARE_KERNELS(matmul, KG_MATMUL_KERNELS)

}  // namespace kerngrad::kernels
