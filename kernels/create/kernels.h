// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/create/create.h"
#include "kernels/create/multinomial.h"
#include "kernels/create/random.h"

namespace kerngrad::kernels {

inline constexpr auto create_kernel_list = list_of(create_simd, random_simd, multinomial_simd);
namespace reference {
inline constexpr auto create_kernel_list = list_of(create_reference, random_reference, multinomial_reference);
}

}  // namespace kerngrad::kernels
