// SPDX-License-Identifier: Apache-2.0
// Entry points of the reductions over one axis; declarations and table are derived from reduce.inc.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// x is [outer, count, inner] and y is [outer, inner]: the middle axis is reduced.
struct reduce_geometry {
  std::int64_t outer, count, inner;
};

#define KG_REDUCE(Name, types, shape) types(KG_DECLARE_KERNEL, Name)
#include "kernels/reduce/reduce.inc"
#undef KG_REDUCE

/// Every kernel of reduce.inc with its dtypes. ArgMax and ArgMin write int32, the sum of uint8 is int64, the others
/// write the dtype of the operand.
inline constexpr entry reduce_simd[] = {
#define KG_REDUCE(Name, types, shape) types(KG_ENTRY_REDUCE, Name)
#define KG_ENTRY_REDUCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
#include "kernels/reduce/reduce.inc"
};
#undef KG_REDUCE
#undef KG_ENTRY_REDUCE

}  // namespace kerngrad::kernels
