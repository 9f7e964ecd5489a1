// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/move/borders.h"
#include "kernels/move/combine.h"
#include "kernels/move/move.h"
#include "kernels/move/nonzero.h"

namespace kerngrad::kernels {

inline constexpr auto move_kernel_list = list_of(move_simd, border_simd, nonzero_simd, combine_simd);
namespace reference {
inline constexpr auto move_kernel_list =
    list_of(move_reference, border_reference, nonzero_reference, combine_reference);
}

}  // namespace kerngrad::kernels
