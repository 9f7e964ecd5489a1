// SPDX-License-Identifier: Apache-2.0
// Scalar definitions of the kernels of convert.inc, with the same signatures and geometry.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/convert/convert.h"

namespace kerngrad::kernels::reference {

#define KG_CONVERT(Name, types) types(KG_DECLARE, Name)
#define KG_DECLARE(Name, type) void Name##_##type##_run(const void* const* in, void* const* out, const void* geometry);
#include "kernels/convert/convert.inc"
#undef KG_DECLARE

inline constexpr entry convert_reference[] = {
#define KG_CONVERT(Name, types) types(KG_ENTRY, Name)
#define KG_ENTRY(Name, type) {#Name, dtype::type, Name##_##type##_run, nullptr, nullptr},
#include "kernels/convert/convert.inc"
};
#undef KG_ENTRY

}  // namespace kerngrad::kernels::reference
