// SPDX-License-Identifier: Apache-2.0
// The kernel of kernels/move/combine.h once more, in plain C++: oracle of the tests and fallback.
#pragma once
#include "kernels/move/combine.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_COMBINE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_COMBINE_KERNELS(KG_DECLARE_COMBINE)
#undef KG_DECLARE_COMBINE

inline constexpr entry combine_kernels[] = {
#define KG_KERNEL_COMBINE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_COMBINE_KERNELS(KG_KERNEL_COMBINE)
#undef KG_KERNEL_COMBINE
};
inline constexpr entry combine_reference[] = {
#define KG_ENTRY_COMBINE(names, type) serving(combine_kernels, KG_NAMES_OF_COMBINED names, dtype::type),
    KG_COMBINE_OPS(KG_ENTRY_COMBINE)
#undef KG_ENTRY_COMBINE
};

}  // namespace kerngrad::kernels::reference
