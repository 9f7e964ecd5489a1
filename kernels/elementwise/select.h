// SPDX-License-Identifier: Apache-2.0
// Choosing elements by a condition. Elements are copied bit by bit, so there is one kernel per element size.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"

namespace kerngrad::kernels {

// in = {condition (one byte per element), t, e}, out[0] = condition ? t : e; a broadcast_geometry with all three
// strides. A condition byte other than 0 is true. y may be exactly t or e.
KG_SIZES(KG_DECLARE_BYTES, Select)

/// The kernels, for one dtype of each size.
inline constexpr entry select_kernels[] = {
#define KG_KERNEL_SELECT(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_SIZES(KG_KERNEL_SELECT, Select)};
#undef KG_KERNEL_SELECT

/// Select by the dtype of t and e.
inline constexpr entry select_simd[] = {
#define KG_ENTRY_SELECT(Name, type) serving(select_kernels, {#Name, #Name}, dtype::type),
    KG_MOVED(KG_ENTRY_SELECT, Select)};
#undef KG_ENTRY_SELECT

}  // namespace kerngrad::kernels
