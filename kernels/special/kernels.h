// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/special/functions.h"
#include "kernels/special/pairs.h"

namespace kerngrad::kernels {

inline constexpr auto special_kernel_list = list_of(function_simd, order_simd, pair_simd, triple_simd);
namespace reference {
inline constexpr auto special_kernel_list =
    list_of(function_reference, order_reference, pair_reference, triple_reference);
}

}  // namespace kerngrad::kernels
