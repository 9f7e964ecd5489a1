// SPDX-License-Identifier: Apache-2.0
// Scalar reference of the borders that repeat elements; the geometry is that of kernels/move/borders.h.
#pragma once
#include "kernels/move/borders.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_BORDER_KERNELS(KG_DECLARE_REFERENCE)
#undef KG_DECLARE_REFERENCE

inline constexpr entry border_reference[] = {
#define KG_ENTRY_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_BORDER_KERNELS(KG_ENTRY_REFERENCE)
#undef KG_ENTRY_REFERENCE
};

}  // namespace kerngrad::kernels::reference
