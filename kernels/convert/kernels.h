// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/convert/convert.h"

namespace kerngrad::kernels {

inline constexpr auto convert_kernel_list = list_of(convert_simd);
namespace reference {
inline constexpr auto convert_kernel_list = list_of(convert_reference);
}

}  // namespace kerngrad::kernels
