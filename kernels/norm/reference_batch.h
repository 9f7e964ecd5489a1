// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/norm/batch.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/norm/batch.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_BATCH(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_FLOATS(KG_DECLARE_BATCH, FusedBatchNorm)
#undef KG_DECLARE_BATCH

inline constexpr entry batch_reference[] = {
#define KG_ENTRY_BATCH(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FLOATS(KG_ENTRY_BATCH, FusedBatchNorm)};
#undef KG_ENTRY_BATCH

}  // namespace kerngrad::kernels::reference
