// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/softmax/softmax.h"

namespace kerngrad::kernels {

inline constexpr auto softmax_kernel_list = list_of(softmax_simd);
namespace reference {
inline constexpr auto softmax_kernel_list = list_of(softmax_reference);
}

}  // namespace kerngrad::kernels
