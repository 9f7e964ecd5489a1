// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/complex.h"
#include "kernels/elementwise/select.h"
#include "kernels/elementwise/texts.h"
#include "kernels/elementwise/unary.h"

namespace kerngrad::kernels {

inline constexpr auto elementwise_kernel_list =
    list_of(unary_simd, parametric_simd, binary_simd, complex_unary_simd, complex_binary_simd, select_simd, texts_simd);
namespace reference {
inline constexpr auto elementwise_kernel_list =
    list_of(unary_reference, parametric_reference, binary_reference, complex_unary_reference, complex_binary_reference,
            select_reference, texts_reference);
}

}  // namespace kerngrad::kernels
