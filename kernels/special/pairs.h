// SPDX-License-Identifier: Apache-2.0
// Special functions of two and three operands.
#pragma once
#include "kernels/elementwise/binary.h"

namespace kerngrad::kernels {

#define KG_PAIR_KERNELS(X)                        \
  X(LONG, Beta, KG_FLOATS, Beta(d, a, b))         \
  X(LONG, Gammainc, KG_FLOATS, Gammainc(d, a, b)) \
  X(LONG, Gammaincc, KG_FLOATS, Gammaincc(d, a, b))

KG_DECLARE_LIST(pair, KG_PAIR_KERNELS, KG_DECLARE_MAP2, KG_ENTRY_MAP)

// Betainc takes a, b and x with all three strides of broadcast_geometry.
#define KG_TRIPLE_KERNELS(X) KG_FLOATS(X, Betainc)

KG_DECLARE_KERNELS(triple, KG_TRIPLE_KERNELS)

}  // namespace kerngrad::kernels
