// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/image/crop.h"
#include "kernels/image/resize.h"
#include "kernels/image/rotate.h"
#include "kernels/image/suppress.h"
#include "kernels/image/warp.h"

namespace kerngrad::kernels {

inline constexpr auto image_kernel_list = list_of(resize_simd, crop_simd, warp_simd, rotate_simd, suppress_simd);
namespace reference {
inline constexpr auto image_kernel_list =
    list_of(resize_reference, crop_reference, warp_reference, rotate_reference, suppress_reference);
}

}  // namespace kerngrad::kernels
