// SPDX-License-Identifier: Apache-2.0
// TopK over rows. NaN is the greatest element.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// The `k` largest of `rows` rows of `count` elements, k <= count.
struct top_geometry {
  std::int64_t rows, count, k;
};

// x -> k elements of each row and their places, int32, in descending order; equal elements, -0 and 0, and all NaN keep
// their order, and the first of them are taken. count < 2^31.
#define KG_TOP_KERNELS(X) KG_ORDERED(X, TopK)

KG_TOP_KERNELS(KG_DECLARE_KERNEL)

inline constexpr entry top_simd[] = {
#define KG_ENTRY_TOP(Name, type) {#Name, dtype::type, Name##_##type, nullptr, nullptr},
    KG_TOP_KERNELS(KG_ENTRY_TOP)};
#undef KG_ENTRY_TOP

}  // namespace kerngrad::kernels
