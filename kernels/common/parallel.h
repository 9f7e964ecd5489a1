// SPDX-License-Identifier: Apache-2.0
// Work in chunks on several threads, for kernels and launchers; plain C++, no Highway. docs/threads.md.
//
// The caller chooses the chunks. They must not depend on the number of threads, or the results must be bitwise
// identical in every cutting.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace kerngrad::kernels {

/// One chunk of a job: `job` is what was handed to run_chunks.
using chunk_fn = void (*)(void* job, std::size_t chunk);
/// Runs the chunks of a job in place of the library's pool: each once. All have returned when it returns. The chunks
/// that it gets throw nothing.
using pool_fn = void (*)(std::size_t count, chunk_fn run, void* job);

/// The most threads that may be allowed.
inline constexpr std::size_t most_threads = 1024;

/// How many threads one job may use, the caller's among them.
std::size_t threads_allowed();
/// Changes that for jobs that begin later; from 1 to most_threads.
void allow_threads(std::size_t count);
/// The CPUs that this process may run on, at least 1.
std::size_t cpus_available();
/// Hands jobs to another pool than the library's; null returns to that.
void use_pool(pool_fn pool);

/// Runs chunks 0 to count - 1 on the pool's threads and this one. Throws the first exception of a chunk when all chunks
/// that had begun have ended; then others may not have been run.
void run_chunks(std::size_t count, chunk_fn run, void* job);

/// Calls run_chunk(i) once for each i in [0, count): on this thread in order when one thread is allowed or there is one
/// chunk, else by several threads, which claim chunks one by one. Chunks may call this again, and may throw.
template <class F>
void parallel_chunks(std::size_t count, F&& run_chunk) {
  if (count <= 1 || threads_allowed() == 1) {
    for (std::size_t i = 0; i < count; ++i) run_chunk(i);
    return;
  }
  using chunks = std::remove_reference_t<F>;
  run_chunks(
      count, [](void* job, std::size_t i) { (*static_cast<chunks*>(job))(i); },
      const_cast<void*>(static_cast<const void*>(std::addressof(run_chunk))));
}

namespace detail {
// Read by every launch of large work, so it is a word and no more.
extern std::atomic<std::size_t> allowed_threads;
}  // namespace detail
inline std::size_t threads_allowed() { return detail::allowed_threads.load(std::memory_order_relaxed); }

}  // namespace kerngrad::kernels
