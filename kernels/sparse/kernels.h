// SPDX-License-Identifier: Apache-2.0
// All kernels of the family: for every CPU target, and of the backend `reference`.
#pragma once
#include "kernels/common/list_of.h"
#include "kernels/sparse/indices.h"
#include "kernels/sparse/rows.h"
#include "kernels/sparse/segments.h"

namespace kerngrad::kernels {

inline constexpr auto sparse_kernel_list = list_of(sparse_indices_simd, sparse_rows_simd, sparse_segments_simd);
namespace reference {
inline constexpr auto sparse_kernel_list =
    list_of(sparse_indices_reference, sparse_rows_reference, sparse_segments_reference);
}

}  // namespace kerngrad::kernels
