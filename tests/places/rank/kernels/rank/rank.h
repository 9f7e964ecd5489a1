// SPDX-License-Identifier: Apache-2.0
// Rows of pairs sorted by their keys.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// `outer` rows of `count` pairs.
struct rank_geometry {
  std::int64_t outer, count;
};

// in = {keys, values}, out = {keys in ascending order, their values}; equal keys keep their order, NaN comes last.
KG_FLOATS(KG_DECLARE_KERNEL, SortPairs)

inline constexpr entry rank_simd[] = {
#define KG_ENTRY_RANK(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FLOATS(KG_ENTRY_RANK, SortPairs)};
#undef KG_ENTRY_RANK

}  // namespace kerngrad::kernels
