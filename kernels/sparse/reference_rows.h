// SPDX-License-Identifier: Apache-2.0
// The kernels of kernels/sparse/rows.h once more, in plain C++ from the definition: oracle of the tests and fallback.
#pragma once
#include "kernels/sparse/rows.h"

namespace kerngrad::kernels::reference {

#define KG_DECLARE_ROWS(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_SPARSE_ROWS_KERNELS(KG_DECLARE_ROWS)
#undef KG_DECLARE_ROWS

inline constexpr entry sparse_rows_kernels[] = {
#define KG_KERNEL_ROWS(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_SPARSE_ROWS_KERNELS(KG_KERNEL_ROWS)
#undef KG_KERNEL_ROWS
};
inline constexpr entry sparse_rows_reference[] = {
#define KG_ENTRY_ROWS(names, type) serving(sparse_rows_kernels, KG_NAMES_OF_ROWS names, dtype::type),
    KG_SPARSE_ROWS_OPS(KG_ENTRY_ROWS)
#undef KG_ENTRY_ROWS
};

}  // namespace kerngrad::kernels::reference
