// SPDX-License-Identifier: Apache-2.0
// Scalar definition of Select, with the signature of kernels/select.h. Any strides are accepted.
#pragma once
#include "kernels/abi.h"

namespace kerngrad::kernels::reference {

void Select_1(const void* const* in, void* const* out, const void* geometry);
void Select_4(const void* const* in, void* const* out, const void* geometry);
void Select_8(const void* const* in, void* const* out, const void* geometry);

inline constexpr entry select_reference[] = {
    {"Select", dtype::float32, Select_4, nullptr, nullptr},   {"Select", dtype::float64, Select_8, nullptr, nullptr},
    {"Select", dtype::int32, Select_4, nullptr, nullptr},     {"Select", dtype::int64, Select_8, nullptr, nullptr},
    {"Select", dtype::uint8, Select_1, nullptr, nullptr},     {"Select", dtype::boolean, Select_1, nullptr, nullptr},
    {"Select", dtype::complex64, Select_8, nullptr, nullptr},
};

}  // namespace kerngrad::kernels::reference
