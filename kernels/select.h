// SPDX-License-Identifier: Apache-2.0
// Choosing elements by a condition. Elements are copied bit by bit, so there is one kernel per element size.
#pragma once
#include "kernels/abi.h"
#include "kernels/binary.h"

namespace kerngrad::kernels {

// in = {condition (one byte per element), t, e}, out[0] = condition ? t : e; a broadcast_geometry with all three
// strides. A condition byte other than 0 is true. y may be exactly t or e.
void Select_1(const void* const* in, void* const* out, const void* geometry);
void Select_4(const void* const* in, void* const* out, const void* geometry);
void Select_8(const void* const* in, void* const* out, const void* geometry);

/// Select by the dtype of t and e.
inline constexpr entry select_simd[] = {
    {"Select", dtype::float32, Select_4, nullptr, nullptr},   {"Select", dtype::float64, Select_8, nullptr, nullptr},
    {"Select", dtype::int32, Select_4, nullptr, nullptr},     {"Select", dtype::int64, Select_8, nullptr, nullptr},
    {"Select", dtype::uint8, Select_1, nullptr, nullptr},     {"Select", dtype::boolean, Select_1, nullptr, nullptr},
    {"Select", dtype::complex64, Select_8, nullptr, nullptr},
};

}  // namespace kerngrad::kernels
