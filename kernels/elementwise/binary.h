// SPDX-License-Identifier: Apache-2.0
// Entry points of the elementwise kernels of two operands; declarations and table are derived from binary.inc.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// Operands broadcast to a common shape. Axes are merged where possible; strides count elements. The innermost
/// stride of each operand is 0 or 1, the output is contiguous.
struct broadcast_geometry {
  int rank;  ///< at least 1
  std::int64_t dims[max_rank];
  std::int64_t strides[3][max_rank];  ///< per operand; two are used here, three by Select
};

#define KG_BINARY(Name, types, expression) types(KG_DECLARE, Name)
#define KG_DECLARE(Name, type)                                                                     \
  KG_DECLARE_FUNCTION(type, Name##_##type, (const void* a, const void* b, void* y, std::size_t n)) \
  KG_DECLARE_ENTRY(type, Name##_##type##_broadcast)
#include "kernels/elementwise/binary.inc"
#undef KG_DECLARE

/// Every kernel of binary.inc with its dtypes. `run` takes a broadcast_geometry; in[0] and in[1] give out[0].
inline constexpr entry binary_simd[] = {
#define KG_BINARY(Name, types, expression) types(KG_ENTRY, Name)
#define KG_ENTRY(Name, type) {#Name, dtype::type, Name##_##type##_broadcast, nullptr, Name##_##type},
#include "kernels/elementwise/binary.inc"
};
#undef KG_ENTRY

}  // namespace kerngrad::kernels
