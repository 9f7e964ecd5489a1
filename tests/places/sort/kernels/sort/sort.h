// SPDX-License-Identifier: Apache-2.0
// Rows of pairs sorted by their keys.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// `outer` rows of `count` pairs.
struct sort_geometry {
  std::int64_t outer, count;
};

// in = {keys, values}, out = {keys in ascending order, their values}; equal keys keep their order, NaN comes last.
#define KG_DECLARE_SORT(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_FLOATS(KG_DECLARE_SORT, SortPairs)
#undef KG_DECLARE_SORT

inline constexpr entry sort_simd[] = {
#define KG_ENTRY_SORT(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_FLOATS(KG_ENTRY_SORT, SortPairs)};
#undef KG_ENTRY_SORT

}  // namespace kerngrad::kernels
