// SPDX-License-Identifier: Apache-2.0
// Entry points of the reductions over one axis.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// x is [outer, count, inner] and y is [outer, inner]: the middle axis is reduced.
struct reduce_geometry {
  std::int64_t outer, count, inner;
};

// ArgMax and ArgMin write int32, the sum of uint8 is int64, the others write the dtype of the operand.
#define KG_REDUCE_KERNELS(X) \
  KG_NUMERIC(X, Sum)         \
  KG_PAIRS(X, Sum)           \
  KG_FLOATS(X, Mean)         \
  KG_PAIRS(X, Mean)          \
  KG_SIGNED(X, Prod)         \
  KG_ORDERED(X, Max)         \
  KG_ORDERED(X, Min)         \
  KG_FLOATS(X, NanMax)       \
  KG_FLOATS(X, NanMin)       \
  KG_BOOLEAN(X, All)         \
  KG_BOOLEAN(X, Any)         \
  KG_ORDERED(X, ArgMax)      \
  KG_ORDERED(X, ArgMin)

KG_DECLARE_KERNELS(reduce, KG_REDUCE_KERNELS)

}  // namespace kerngrad::kernels
