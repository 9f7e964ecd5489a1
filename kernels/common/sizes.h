// SPDX-License-Identifier: Apache-2.0
// Sizes that are multiplied and added up: rejected when no std::int64_t holds them. Plain C++, for kernels, launchers
// and shape rules; what is asked of memory is always such a product (tools/lint.py looks).
#pragma once
#include <cstddef>
#include <cstdint>

namespace kerngrad::kernels {

/// The largest size.
inline constexpr std::int64_t most_size = INT64_MAX;

/// Throws kg::error: a size is more than most_size. Defined in modules/tensor/scratch_impl.cc.
[[noreturn]] void refuse_size();

/// The product of sizes, none of them negative, or most_size where it is more: for estimates and comparisons.
template <class... Sizes>
constexpr std::int64_t saturated_product(Sizes... sizes) {
  std::int64_t product = 1;
  bool zero = false, fits = true;
  const auto multiply = [&](std::int64_t size) {
    zero = zero || size == 0;
    fits = fits && !__builtin_mul_overflow(product, size, &product);
  };
  (multiply(static_cast<std::int64_t>(sizes)), ...);
  return zero ? 0 : fits ? product : most_size;
}

/// The sum of sizes, none of them negative, or most_size where it is more.
template <class... Sizes>
constexpr std::int64_t saturated_sum(Sizes... sizes) {
  std::int64_t sum = 0;
  const bool fits = (!__builtin_add_overflow(sum, static_cast<std::int64_t>(sizes), &sum) && ...);
  return fits ? sum : most_size;
}

/// The product of sizes; rejected where it is more than most_size.
template <class... Sizes>
constexpr std::int64_t product_of(Sizes... sizes) {
  const std::int64_t all = saturated_product(sizes...);
  if (all == most_size) refuse_size();
  return all;
}

/// The sum of sizes; rejected where it is more than most_size.
template <class... Sizes>
constexpr std::int64_t sum_of(Sizes... sizes) {
  const std::int64_t all = saturated_sum(sizes...);
  if (all == most_size) refuse_size();
  return all;
}

/// The product of sizes as the number of elements or bytes in memory.
template <class... Sizes>
constexpr std::size_t extent(Sizes... sizes) {
  return static_cast<std::size_t>(product_of(sizes...));
}

}  // namespace kerngrad::kernels
