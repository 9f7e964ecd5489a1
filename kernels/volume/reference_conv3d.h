// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/volume/conv3d.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/volume/conv3d.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_CONV3D(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_CONV3D_KERNELS(KG_DECLARE_CONV3D)
#undef KG_DECLARE_CONV3D

inline constexpr entry conv3d_reference[] = {
#define KG_ENTRY_CONV3D(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_CONV3D_KERNELS(KG_ENTRY_CONV3D)
#undef KG_ENTRY_CONV3D
};

}  // namespace kerngrad::kernels::reference
