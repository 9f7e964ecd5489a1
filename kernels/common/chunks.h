// SPDX-License-Identifier: Apache-2.0
// Work of a kernel in chunks that may run on several threads, and cutting it into even parts. Private to kernels/.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/common/parallel.h"

namespace kerngrad::kernels {

/// Products (a multiplication and an addition each) from which on work is worth more than one thread.
inline constexpr std::int64_t products_worth_threads = 1 << 20;

/// Calls body(i) for each i < count, for `products` products in all. The body may throw, for want of memory.
template <class Body>
void run_in_chunks(std::ptrdiff_t count, std::int64_t products, const Body& body) {
  if (count <= 1 || products < products_worth_threads || threads_allowed() == 1) {
    for (std::ptrdiff_t i = 0; i < count; ++i) body(i);
    return;
  }
  parallel_chunks(static_cast<std::size_t>(count), [&](std::size_t i) { body(static_cast<std::ptrdiff_t>(i)); });
}

/// Cuts `total` into the fewest parts of at most `most`, as even as possible.
struct even_parts {
  std::ptrdiff_t count, length, longer;  // the first `longer` parts are one longer than `length`
  even_parts(std::ptrdiff_t total, std::ptrdiff_t most) : count((total + most - 1) / most), length(total), longer(0) {
    if (count <= 1) return;  // saves two divisions, which small products feel
    length = total / count;
    longer = total % count;
  }
  std::ptrdiff_t begin(std::ptrdiff_t i) const { return i * length + std::min(i, longer); }
  std::ptrdiff_t size(std::ptrdiff_t i) const { return length + (i < longer ? 1 : 0); }
  std::ptrdiff_t longest() const { return size(0); }
};

/// Calls body(begin, length) for each of those parts.
template <class Body>
void for_even_parts(std::ptrdiff_t total, std::ptrdiff_t most, Body body) {
  const even_parts parts(total, most);
  for (std::ptrdiff_t i = 0; i < parts.count; ++i) body(parts.begin(i), parts.size(i));
}

}  // namespace kerngrad::kernels
