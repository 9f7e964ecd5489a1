// SPDX-License-Identifier: Apache-2.0
// Scalar definition of Select, with the signature of kernels/elementwise/select.h. Any strides are accepted.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_REFERENCE(Name, type) \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_SIZES(KG_DECLARE_REFERENCE, Select)
#undef KG_DECLARE_REFERENCE

inline constexpr entry select_kernels[] = {
#define KG_KERNEL_REFERENCE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_SIZES(KG_KERNEL_REFERENCE, Select)};
#undef KG_KERNEL_REFERENCE

inline constexpr entry select_reference[] = {
#define KG_ENTRY_REFERENCE(Name, type) serving(select_kernels, {#Name, #Name}, dtype::type),
    KG_MOVED(KG_ENTRY_REFERENCE, Select)};
#undef KG_ENTRY_REFERENCE

}  // namespace kerngrad::kernels::reference
