// SPDX-License-Identifier: Apache-2.0
// Entry points of the elementwise kernels of one operand; declarations and table are derived from unary.inc.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// `run` of every unary kernel: in[0] to out[0]. The result has the operand's dtype, boolean for the predicates.
/// LeakyRelu and Step take alpha = params[0], ClipByValue the bounds params[0] <= params[1]; others ignore them.
struct unary_geometry {
  std::int64_t count;
  double params[2];
};

#define KG_UNARY(Name, types, expression) types(KG_DECLARE, Name)
#define KG_PARAMETRIC(Name, types, map) types(KG_DECLARE_RUN, Name)
#define KG_DECLARE_RUN(Name, type) KG_DECLARE_ENTRY(type, Name##_##type##_run)
#define KG_DECLARE(Name, type)                                                      \
  KG_DECLARE_FUNCTION(type, Name##_##type, (const void* x, void* y, std::size_t n)) \
  KG_DECLARE_RUN(Name, type)
#include "kernels/elementwise/unary.inc"
#undef KG_DECLARE
#undef KG_DECLARE_RUN

/// Every kernel of unary.inc with its dtypes. The kernels with parameters have no flat1.
inline constexpr entry unary_simd[] = {
#define KG_UNARY(Name, types, expression) types(KG_ENTRY, Name)
#define KG_PARAMETRIC(Name, types, map) types(KG_ENTRY_RUN, Name)
#define KG_ENTRY(Name, type) {#Name, dtype::type, Name##_##type##_run, Name##_##type, nullptr},
#define KG_ENTRY_RUN(Name, type) {#Name, dtype::type, Name##_##type##_run, nullptr, nullptr},
#include "kernels/elementwise/unary.inc"
};
#undef KG_ENTRY
#undef KG_ENTRY_RUN

}  // namespace kerngrad::kernels
