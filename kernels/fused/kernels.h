// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/fused/fused.h"

namespace kerngrad::kernels {

inline constexpr auto fused_kernel_list = list_of(fused_simd);
namespace reference {
inline constexpr auto fused_kernel_list = list_of(fused_reference);
}

}  // namespace kerngrad::kernels
