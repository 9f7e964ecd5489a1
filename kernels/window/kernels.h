// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/window/conv.h"
#include "kernels/window/depthwise.h"
#include "kernels/window/dilation.h"
#include "kernels/window/pool.h"

namespace kerngrad::kernels {

inline constexpr auto window_kernel_list = list_of(conv_simd, depthwise_simd, dilation_simd, pool_simd);
namespace reference {
inline constexpr auto window_kernel_list =
    list_of(conv_reference, depthwise_reference, dilation_reference, pool_reference);
}

}  // namespace kerngrad::kernels
