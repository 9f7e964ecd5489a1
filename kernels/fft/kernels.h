// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/fft/fft.h"

namespace kerngrad::kernels {

inline constexpr auto fft_kernel_list = list_of(fft_simd);
namespace reference {
inline constexpr auto fft_kernel_list = list_of(fft_reference);
}

}  // namespace kerngrad::kernels
