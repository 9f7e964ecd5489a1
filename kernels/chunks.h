// SPDX-License-Identifier: Apache-2.0
// Work of a kernel in chunks that may run on several threads. Private to kernels/.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "kernels/parallel.h"

namespace kerngrad::kernels {

/// Products (a multiplication and an addition each) from which on work is worth more than one thread.
inline constexpr std::int64_t products_worth_threads = 1 << 20;

/// Calls body(i) for each i < count, for `products` products in all. The body may run out of memory: that is thrown
/// here, after all of its calls have returned.
template <class Body>
void run_in_chunks(std::ptrdiff_t count, std::int64_t products, const Body& body) {
  if (count <= 1 || products < products_worth_threads || threads_allowed() == 1) {
    for (std::ptrdiff_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<bool> out_of_memory = false;
  parallel_chunks(static_cast<std::size_t>(count), [&](std::size_t i) {
    try {
      body(static_cast<std::ptrdiff_t>(i));
    } catch (const std::bad_alloc&) {
      out_of_memory.store(true, std::memory_order_relaxed);
    }
  });
  if (out_of_memory.load(std::memory_order_relaxed)) throw std::bad_alloc{};
}

}  // namespace kerngrad::kernels
