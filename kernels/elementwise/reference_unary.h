// SPDX-License-Identifier: Apache-2.0
// Scalar definitions of the kernels of unary.inc, with the same signatures.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/elementwise/unary.h"

namespace kerngrad::kernels::reference {

#define KG_UNARY(Name, types, expression) types(KG_DECLARE, Name)
#define KG_PARAMETRIC(Name, types, map) types(KG_DECLARE_RUN, Name)
#define KG_DECLARE_RUN(Name, type) \
  void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry);
#define KG_DECLARE(Name, type)                               \
  void Name##_##type(const void* x, void* y, std::size_t n); \
  KG_DECLARE_RUN(Name, type)
#include "kernels/elementwise/unary.inc"
#undef KG_DECLARE
#undef KG_DECLARE_RUN

inline constexpr entry unary_reference[] = {
#define KG_UNARY(Name, types, expression) types(KG_ENTRY, Name)
#define KG_PARAMETRIC(Name, types, map) types(KG_ENTRY_RUN, Name)
#define KG_ENTRY(Name, type) {#Name, dtype::type, Name##_##type##_run, Name##_##type, nullptr},
#define KG_ENTRY_RUN(Name, type) {#Name, dtype::type, Name##_##type##_run, nullptr, nullptr},
#include "kernels/elementwise/unary.inc"
};
#undef KG_ENTRY
#undef KG_ENTRY_RUN

}  // namespace kerngrad::kernels::reference
