// SPDX-License-Identifier: Apache-2.0
// Scalar definition of the kernels of top.h.
#pragma once
#include "kernels/common/abi.h"
#include "kernels/sort/top.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_TOP_KERNELS(KG_DECLARE_REFERENCE)
#undef KG_DECLARE_REFERENCE

inline constexpr entry top_reference[] = {
#define KG_ENTRY_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_TOP_KERNELS(KG_ENTRY_REFERENCE)};
#undef KG_ENTRY_REFERENCE

}  // namespace kerngrad::kernels::reference
