// SPDX-License-Identifier: Apache-2.0
// Products of complex numbers along an axis, and running sums and products. The loops are plain ones: a running result
// waits for the one before it.
#pragma once
#include "kernels/common/lists.h"
#include "kernels/move/move.h"
#include "kernels/reduce/reduce.h"

namespace kerngrad::kernels {

#define KG_PRODUCT_KERNELS(X) KG_PAIRS(X, Prod) KG_PAIRS(X, Cumsum) KG_PAIRS(X, Cumprod)

KG_DECLARE_PLAIN_KERNELS(products, KG_PRODUCT_KERNELS)

}  // namespace kerngrad::kernels
