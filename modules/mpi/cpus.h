// SPDX-License-Identifier: Apache-2.0
// CPUs that ranks of one machine may use. A plain header, so that tests reach it.
#ifndef KERNGRAD_MODULES_MPI_CPUS_H_
#define KERNGRAD_MODULES_MPI_CPUS_H_

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

namespace kerngrad::mpi::detail {

// The CPUs that a process may use, one bit each. Ranks exchange it as bytes.
struct cpu_mask {
  static constexpr int most = 1024;
  std::uint64_t words[most / 64] = {};

  void add(int cpu) { words[cpu / 64] |= std::uint64_t{1} << cpu % 64; }
  void add(const cpu_mask& other) {
    for (std::size_t i = 0; i < std::size(words); ++i) words[i] |= other.words[i];
  }
  bool meets(const cpu_mask& other) const {
    for (std::size_t i = 0; i < std::size(words); ++i)
      if (words[i] & other.words[i]) return true;
    return false;
  }
  int count() const {
    int sum = 0;
    for (const std::uint64_t word : words) sum += std::popcount(word);
    return sum;
  }
};

// The CPUs to which this process is bound, or else all of the machine.
inline cpu_mask own_cpus() {
  cpu_mask own;
#if defined(CPU_COUNT)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < std::min(cpu_mask::most, CPU_SETSIZE); ++cpu)
      if (CPU_ISSET(cpu, &set)) own.add(cpu);
#endif
  const int all = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, cpu_mask::most);
  if (own.count() == 0)
    for (int cpu = 0; cpu < all; ++cpu) own.add(cpu);
  return own;
}

// True if rank `own` and the ranks with which it shares CPUs have more threads together than CPUs.
inline bool is_crowded(std::span<const cpu_mask> ranks, std::size_t own, int threads_of_rank) {
  cpu_mask all;
  int sharing = 0;
  for (const cpu_mask& each : ranks)
    if (each.meets(ranks[own])) all.add(each), ++sharing;
  return sharing * threads_of_rank > all.count();
}

}  // namespace kerngrad::mpi::detail

#endif  // KERNGRAD_MODULES_MPI_CPUS_H_
