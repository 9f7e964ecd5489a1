// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/move/move.h"
#include "kernels/move/reference_move.h"

namespace kerngrad::kernels {

inline constexpr auto move_kernel_list = list_of(move_simd);
namespace reference {
inline constexpr auto move_kernel_list = list_of(move_reference);
}

}  // namespace kerngrad::kernels
