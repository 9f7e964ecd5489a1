// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/rank/rank.h"

namespace kerngrad::kernels {

inline constexpr auto rank_kernel_list = list_of(rank_simd);
namespace reference {
inline constexpr auto rank_kernel_list = list_of(rank_reference);
}

}  // namespace kerngrad::kernels
