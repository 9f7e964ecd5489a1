// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/sparse/indices.h once more, in plain C++ from the definition: oracle of the tests and
// fallback.
#pragma once
#include "kernels/sparse/indices.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_INDICES(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_SPARSE_INDICES_KERNELS(KG_DECLARE_INDICES)
#undef KG_DECLARE_INDICES

inline constexpr entry sparse_indices_reference[] = {
#define KG_ENTRY_INDICES(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_SPARSE_INDICES_KERNELS(KG_ENTRY_INDICES)
#undef KG_ENTRY_INDICES
};

}  // namespace kerngrad::kernels::reference
