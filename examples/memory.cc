// SPDX-License-Identifier: Apache-2.0
// The examples of docs/memory.md: limits, what is held, an allocator of the program's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>

import kerngrad;

namespace {

struct my_heap {
  long blocks = 0;
};
void* take(void* context, std::size_t bytes) {
  ++static_cast<my_heap*>(context)->blocks;
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}
void give(void* context, void* block, std::size_t) {
  --static_cast<my_heap*>(context)->blocks;
  std::free(block);
}

}  // namespace

int main() {
  kg::set_memory_limit(kg::memory().live_bytes + (std::int64_t{100} << 20));
  try {
    kg::ones({1 << 15, 1 << 10});
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }
  kg::set_memory_limit(kg::unlimited);

  {
    const kg::memory_budget budget(std::int64_t{1} << 20);
    try {
      kg::ones({1 << 20});
    } catch (const kg::error& e) {
      std::cout << e.what() << "\n";
    }
  }
  const kg::counted_memory cache(1000);  // of a cache of the program's

  static my_heap heap;  // outlives the tensors
  kg::set_allocator({take, give, &heap});
  const kg::tensor x = kg::ones({1000});
  kg::set_allocator({});
  if (heap.blocks != 1) return EXIT_FAILURE;

  kg::exp(kg::ones({1 << 20}));
  const kg::allocator_info held = kg::allocations();
  std::cout << held.system_bytes << " bytes from the system, " << kg::memory().cached_bytes << " kept for reuse\n";
  kg::release_cached_memory();
  return kg::memory().cached_bytes == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
