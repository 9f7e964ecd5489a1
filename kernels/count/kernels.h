// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/count/bincount.h"
#include "kernels/count/unique.h"

namespace kerngrad::kernels {

inline constexpr auto count_kernel_list = list_of(bincount_simd, unique_simd);
namespace reference {
inline constexpr auto count_kernel_list = list_of(bincount_reference, unique_reference);
}

}  // namespace kerngrad::kernels
