// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/image/crop.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/image/crop.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_CROP(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_CROP_KERNELS(KG_DECLARE_CROP)
#undef KG_DECLARE_CROP

inline constexpr entry crop_reference[] = {
#define KG_ENTRY_CROP(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_CROP_KERNELS(KG_ENTRY_CROP)
#undef KG_ENTRY_CROP
};

}  // namespace kerngrad::kernels::reference
