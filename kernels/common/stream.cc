// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/stream.h"

#include <unistd.h>

#include <algorithm>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace kerngrad::kernels {
namespace {

// The largest cache that a core has, as the processor says; 0 where it does not. sysconf adds up the caches of all
// cores on some systems.
std::size_t cache_of_core() noexcept {
  std::size_t largest = 0;
#if defined(__x86_64__) || defined(__i386__)
  // Intel's and AMD's leaves have one form: a register each for type, line size and ways, and sets.
  for (const unsigned leaf : {0x4u, 0x8000001Du})
    for (unsigned level = 0, type, shape, sets, flags; level < 8; ++level) {
      if (!__get_cpuid_count(leaf, level, &type, &shape, &sets, &flags) || (type & 31) == 0) break;
      const std::size_t ways = (shape >> 22) + 1, partitions = ((shape >> 12) & 1023) + 1, line = (shape & 4095) + 1;
      largest = std::max(largest, ways * partitions * line * (std::size_t{sets} + 1));
    }
#endif
  return largest;
}

}  // namespace

std::size_t half_of_last_cache() noexcept {
  if (const std::size_t bytes = cache_of_core()) return bytes / 2;
#if defined(_SC_LEVEL3_CACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<std::size_t>(bytes) / 2;
#endif
  return std::size_t{16} << 20;
}

std::atomic<std::size_t> stream_least{half_of_last_cache()};

}  // namespace kerngrad::kernels
