// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/sort/search.h"
#include "kernels/sort/sort.h"
#include "kernels/sort/top.h"

namespace kerngrad::kernels {

inline constexpr auto sort_kernel_list = list_of(sort_simd, top_simd, search_simd);
namespace reference {
inline constexpr auto sort_kernel_list = list_of(sort_reference, top_reference, search_reference);
}

}  // namespace kerngrad::kernels
