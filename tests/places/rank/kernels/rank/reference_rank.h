// SPDX-License-Identifier: Apache-2.0
// Scalar definition of the kernels of rank.h.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_FLOATS(KG_DECLARE_REFERENCE, SortPairs)
#undef KG_DECLARE_REFERENCE

inline constexpr entry rank_reference[] = {
#define KG_ENTRY_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FLOATS(KG_ENTRY_REFERENCE, SortPairs)};
#undef KG_ENTRY_REFERENCE

}  // namespace kerngrad::kernels::reference
