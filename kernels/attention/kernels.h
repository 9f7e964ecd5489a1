// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/attention/attention.h"
#include "kernels/common/list_of.h"

namespace kerngrad::kernels {

inline constexpr auto attention_kernel_list = list_of(attention_simd);
namespace reference {
inline constexpr auto attention_kernel_list = list_of(attention_reference);
}

}  // namespace kerngrad::kernels
