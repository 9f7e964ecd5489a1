// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/window/depthwise.h once more, in plain C++ from the definition: oracle of the tests and
// fallback.
#pragma once
#include "kernels/window/depthwise.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_DEPTHWISE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_DEPTHWISE_KERNELS(KG_DECLARE_DEPTHWISE)
#undef KG_DECLARE_DEPTHWISE

inline constexpr entry depthwise_reference[] = {
#define KG_ENTRY_DEPTHWISE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_DEPTHWISE_KERNELS(KG_ENTRY_DEPTHWISE)
#undef KG_ENTRY_DEPTHWISE
};

}  // namespace kerngrad::kernels::reference
