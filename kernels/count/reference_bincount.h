// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/count/bincount.h once more, in plain C++ from the definition: oracle of the tests and
// fallback.
#pragma once
#include "kernels/count/bincount.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_BINCOUNT(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_BINCOUNT_KERNELS(KG_DECLARE_BINCOUNT)
#undef KG_DECLARE_BINCOUNT

inline constexpr entry bincount_reference[] = {
#define KG_ENTRY_BINCOUNT(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_BINCOUNT_KERNELS(KG_ENTRY_BINCOUNT)
#undef KG_ENTRY_BINCOUNT
};

}  // namespace kerngrad::kernels::reference
