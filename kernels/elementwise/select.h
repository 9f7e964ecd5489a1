// SPDX-License-Identifier: Apache-2.0
// Choosing elements by a condition. Elements are copied bit by bit, so there is one kernel per element size.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/elementwise/binary.h"

namespace kerngrad::kernels {

// in = {condition (one byte per element), t, e}, out[0] = condition ? t : e; a broadcast_geometry with all three
// strides. A condition byte other than 0 is true. y may be exactly t or e.
#define KG_SELECT_KERNELS(X) KG_SIZES(X, Select)
#define KG_SELECT_OPS(X) KG_MOVED(X, (Select, Select))

KG_DECLARE_SHARED_KERNELS(select, KG_SELECT_KERNELS, KG_SELECT_OPS)

}  // namespace kerngrad::kernels
