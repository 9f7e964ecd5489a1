// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/matmul/complex.h"
#include "kernels/matmul/matmul.h"

namespace kerngrad::kernels {

inline constexpr auto matmul_kernel_list = list_of(matmul_simd, complex_matmul_simd);
namespace reference {
inline constexpr auto matmul_kernel_list = list_of(matmul_reference, complex_matmul_reference);
}

}  // namespace kerngrad::kernels
