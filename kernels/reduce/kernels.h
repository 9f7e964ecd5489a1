// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/reduce/products.h"
#include "kernels/reduce/reduce.h"

namespace kerngrad::kernels {

inline constexpr auto reduce_kernel_list = list_of(reduce_simd, products_simd);
namespace reference {
inline constexpr auto reduce_kernel_list = list_of(reduce_reference, products_reference);
}

}  // namespace kerngrad::kernels
