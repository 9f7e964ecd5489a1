// SPDX-License-Identifier: Apache-2.0
// Products of complex matrices.
#pragma once
#include "kernels/matmul/matmul.h"

namespace kerngrad::kernels {

#define KG_COMPLEX_MATMUL_KERNELS(X) KG_PAIRS(X, BatchMatMul)

KG_DECLARE_PLAIN_KERNELS(complex_matmul, KG_COMPLEX_MATMUL_KERNELS)

}  // namespace kerngrad::kernels
