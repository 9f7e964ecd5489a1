// SPDX-License-Identifier: Apache-2.0
// Sort and ArgSort over rows. NaN is the greatest element.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// `rows` rows of `count` elements, one behind the other.
struct sort_geometry {
  std::int64_t rows, count;
  bool descending;
};

// Sort: x -> the elements in order, -0 before 0, every NaN the quiet one; y may be x.
// ArgSort: x -> their places, int32; equal elements, -0 and 0, and all NaN keep their order. count < 2^31.
#define KG_SORT_KERNELS(X) KG_ORDERED(X, Sort) KG_ORDERED(X, ArgSort)

KG_SORT_KERNELS(KG_DECLARE_KERNEL)

inline constexpr entry sort_simd[] = {
#define KG_ENTRY_SORT(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_SORT_KERNELS(KG_ENTRY_SORT)};
#undef KG_ENTRY_SORT

}  // namespace kerngrad::kernels
