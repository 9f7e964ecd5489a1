// SPDX-License-Identifier: Apache-2.0
// Rows that are sorted each for itself, cut into chunks for threads. Private to kernels/sort.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/common/chunks.h"
#include "kernels/common/sizes.h"

namespace kerngrad::kernels {

/// Elements in a chunk of rows, about; it depends on no number of threads.
inline constexpr std::int64_t elements_of_sorted_chunk = 1 << 14;
/// Cost of sorting an element, in products.
inline constexpr std::int64_t products_of_sorting = 16;

/// Calls body(begin, end) for chunks of rows, which may throw for want of memory.
template <class Body>
void in_chunks_of_rows(std::int64_t rows, std::int64_t elements_of_row, const Body& body) {
  const std::int64_t chunk =
      std::max(std::int64_t{1}, elements_of_sorted_chunk / std::max(std::int64_t{1}, elements_of_row));
  const std::int64_t work = saturated_product(rows, elements_of_row, products_of_sorting);
  run_in_chunks(static_cast<std::ptrdiff_t>((rows + chunk - 1) / chunk), work, [&](std::ptrdiff_t i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * chunk;
    body(begin, std::min(begin + chunk, rows));
  });
}

}  // namespace kerngrad::kernels
