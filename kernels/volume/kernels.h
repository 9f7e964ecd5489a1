// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/volume/conv3d.h"
#include "kernels/volume/pool3d.h"

namespace kerngrad::kernels {

inline constexpr auto volume_kernel_list = list_of(conv3d_simd, pool3d_simd);
namespace reference {
inline constexpr auto volume_kernel_list = list_of(conv3d_reference, pool3d_reference);
}

}  // namespace kerngrad::kernels
