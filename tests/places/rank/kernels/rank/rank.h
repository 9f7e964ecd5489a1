// SPDX-License-Identifier: Apache-2.0
// Rows of pairs sorted by their keys. A new family begins as a copy of these files; CONTRIBUTING.md says what else it
// has.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// `outer` rows of `count` pairs. The launcher fills in the geometry, and the kernel gets it as its first parameter.
struct rank_geometry {
  std::int64_t outer, count;
};

// in = {keys, values}, out = {keys in ascending order, their values}; equal keys keep their order, NaN comes last.
//
// The list applies X to the name and the dtypes of each kernel. KG_FLOATS stands for float32 and float64; abi.h has
// the other sets.
#define KG_RANK_KERNELS(X) KG_FLOATS(X, SortPairs)

// Declares the entry points SortPairs_float32 and SortPairs_float64 and the same in the namespace `reference`, and the
// tables rank_simd and reference::rank_reference, which kernels.h hands on to the op table.
KG_DECLARE_KERNELS(rank, KG_RANK_KERNELS)

}  // namespace kerngrad::kernels
