// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/norm/layer.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/norm/layer.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_LAYER(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_FLOATS(KG_DECLARE_LAYER, LayerNorm)
#undef KG_DECLARE_LAYER

inline constexpr entry layer_reference[] = {
#define KG_ENTRY_LAYER(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FLOATS(KG_ENTRY_LAYER, LayerNorm)};
#undef KG_ENTRY_LAYER

}  // namespace kerngrad::kernels::reference
