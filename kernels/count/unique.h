// SPDX-License-Identifier: Apache-2.0
// Entry points of the search for distinct rows.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// Rows of x, [count, width]. Two are equal when all of their elements are: -0 equals 0, and NaN equals NaN.
struct unique_geometry {
  std::int64_t count;  ///< below 2^31
  std::int64_t width;
};

// in = {x}; out = {int32 [count]: the number of each row among the distinct ones, in the order in which they come
// first; int32 [count]: where each of those comes first; one int64: how many there are}. The geometry is a
// unique_geometry.
#define KG_UNIQUE_KERNELS(X) KG_ORDERED(X, Unique) X(Unique, text)

#define KG_DECLARE_UNIQUE(Name, type) void Name##_##type(const void* const* in, void* const* out, const void* geometry);
KG_UNIQUE_KERNELS(KG_DECLARE_UNIQUE)
#undef KG_DECLARE_UNIQUE

inline constexpr entry unique_simd[] = {
#define KG_ENTRY_UNIQUE(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_UNIQUE_KERNELS(KG_ENTRY_UNIQUE)
#undef KG_ENTRY_UNIQUE
};

}  // namespace kerngrad::kernels
