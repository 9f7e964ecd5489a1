// SPDX-License-Identifier: Apache-2.0
// Special functions of one operand.
#pragma once
#include "kernels/elementwise/unary.h"

namespace kerngrad::kernels {

#define KG_FUNCTION_KERNELS(X)                 \
  X(LONG, Lgamma, KG_FLOATS, Lgamma(d, x))     \
  X(LONG, Digamma, KG_FLOATS, Digamma(d, x))   \
  X(LONG, Erfinv, KG_FLOATS, Erfinv(d, x))     \
  X(LONG, Expi, KG_FLOATS, Expi(d, x))         \
  X(LONG, BesselI0, KG_FLOATS, BesselI0(d, x)) \
  X(LONG, BesselI1, KG_FLOATS, BesselI1(d, x)) \
  X(LONG, BesselJ0, KG_FLOATS, BesselJ0(d, x)) \
  X(LONG, BesselJ1, KG_FLOATS, BesselJ1(d, x))

KG_DECLARE_LIST(function, KG_FUNCTION_KERNELS, KG_DECLARE_MAP1, KG_ENTRY_MAP)

/// Largest order of Polygamma: the factorial of a larger one leaves float64.
inline constexpr int most_polygamma = 100;

// Polygamma takes its order as params[0] of unary_geometry.
#define KG_ORDER_KERNELS(X) KG_FLOATS(X, Polygamma)

KG_DECLARE_KERNELS(order, KG_ORDER_KERNELS)

}  // namespace kerngrad::kernels
