// SPDX-License-Identifier: Apache-2.0
// Scalar definitions of the kernels of binary.inc, with the same signatures. Any strides are accepted.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"

namespace kerngrad::kernels::reference {

#define KG_BINARY(Name, types, expression) types(KG_DECLARE, Name)
#define KG_DECLARE(Name, type)                                              \
  void Name##_##type(const void* a, const void* b, void* y, std::size_t n); \
  void Name##_##type##_broadcast(const void* const* in, void* const* out, const void* geometry);
#include "kernels/elementwise/binary.inc"
#undef KG_DECLARE

inline constexpr entry binary_reference[] = {
#define KG_BINARY(Name, types, expression) types(KG_ENTRY, Name)
#define KG_ENTRY(Name, type) {#Name, dtype::type, Name##_##type##_broadcast, nullptr, Name##_##type},
#include "kernels/elementwise/binary.inc"
};
#undef KG_ENTRY

}  // namespace kerngrad::kernels::reference
