// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/norm/batch.h"
#include "kernels/norm/layer.h"
#include "kernels/norm/response.h"

namespace kerngrad::kernels {

inline constexpr auto norm_kernel_list = list_of(batch_simd, layer_simd, response_simd);
namespace reference {
inline constexpr auto norm_kernel_list = list_of(batch_reference, layer_reference, response_reference);
}

}  // namespace kerngrad::kernels
