// SPDX-License-Identifier: Apache-2.0
// When results are written past the caches. A store to a line that is in no cache reads the line first; a result that
// does not fit the caches is better written without that, by non-temporal stores. The bits are the same.
#pragma once
#include <atomic>
#include <cstddef>

namespace kerngrad::kernels {

/// Half the last-level cache in bytes, which others use as well; of 32 MiB where the system does not say.
std::size_t half_of_last_cache() noexcept;

/// Results of at least that many bytes are written past the caches; tests lower it.
extern std::atomic<std::size_t> stream_least;

/// The bytes of the whole result while this thread computes a part of it: 0 when it computes all.
inline constinit thread_local std::size_t whole_result_bytes = 0;

/// Says so as long as it lives.
class part_of_result {
 public:
  explicit part_of_result(std::size_t bytes) : outer_(whole_result_bytes) { whole_result_bytes = bytes; }
  part_of_result(const part_of_result&) = delete;
  part_of_result& operator=(const part_of_result&) = delete;
  ~part_of_result() { whole_result_bytes = outer_; }

 private:
  std::size_t outer_;
};

/// Smaller arrays are not asked about: the question would take as long as the work. Chunks for threads are larger.
inline constexpr std::size_t stream_question = 8192;  // elements

/// True if `bytes` bytes of a result go past the caches.
inline bool is_streamed(std::size_t bytes) {
  const std::size_t whole = whole_result_bytes;
  return (bytes > whole ? bytes : whole) >= stream_least.load(std::memory_order_relaxed);
}

}  // namespace kerngrad::kernels
