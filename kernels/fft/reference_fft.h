// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/fft/fft.h once more, in plain C++ and wider arithmetic: oracle of the tests and fallback.
#pragma once
#include "kernels/fft/fft.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_FFT(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_FFT_OPS(KG_DECLARE_FFT)
#undef KG_DECLARE_FFT

inline constexpr entry fft_reference[] = {
#define KG_ENTRY_FFT(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FFT_OPS(KG_ENTRY_FFT)
#undef KG_ENTRY_FFT
};

}  // namespace kerngrad::kernels::reference
