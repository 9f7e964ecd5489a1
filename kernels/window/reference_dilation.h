// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/window/dilation.h once more, in plain C++ from the definition: oracle of the tests and
// fallback.
#pragma once
#include "kernels/window/dilation.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_DILATION(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_DILATION_KERNELS(KG_DECLARE_DILATION)
#undef KG_DECLARE_DILATION

inline constexpr entry dilation_reference[] = {
#define KG_ENTRY_DILATION(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_DILATION_KERNELS(KG_ENTRY_DILATION)
#undef KG_ENTRY_DILATION
};

}  // namespace kerngrad::kernels::reference
