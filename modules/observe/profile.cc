// SPDX-License-Identifier: Apache-2.0
// Tools on top of the hooks: which kernels ran and how long they took, traces for a viewer, the op that makes the first
// NaN, and what memory a piece of a program leaves behind.
module;
#include "kernels/common/abi.h"
export module kerngrad:profile;

import :std;
import :core;
import :tensor;
import :observe;

export namespace kerngrad {

// ------------------------------------------------------------------------------------------ profiles

/// One run of a kernel under a profile.
struct kernel_run {
  std::string op, backend, target;  ///< the SIMD target on the backend simd; empty for plain C++
  dtype compute = dtype::float32;   ///< the dtype that the kernel was chosen by
  std::vector<signature> in, out;   ///< given operands after promotion, and results
  std::int64_t bytes = 0;           ///< bytes of operands and results, each counted once
  std::int64_t begin_ns = 0;        ///< since the profile began
  std::int64_t ns = 0;              ///< duration, including the kernels that it ran itself
  int depth = 0;                    ///< number of kernels that it ran inside of
  bool backward = false;            ///< true if it ran in a backward pass
};
/// A call for which the active backend had no kernel.
struct fallback_run {
  std::string op, from, to;
  dtype compute = dtype::float32;
  std::int64_t at_ns = 0;  ///< since the profile began
};
/// The live memory after an allocation or a release.
struct memory_sample {
  std::int64_t at_ns = 0;  ///< since the profile began
  std::int64_t bytes = 0;  ///< bytes that the thread has taken since then, less those that it has given back
};
/// Totals over the runs of one kernel in a profile.
struct kernel_total {
  std::string op, backend, target;
  dtype compute = dtype::float32;
  std::int64_t calls = 0, total_ns = 0, min_ns = 0, median_ns = 0, bytes = 0;
  /// Bytes per nanosecond, which are gigabytes per second. 0 if the clock measured no time.
  double gigabytes_per_second() const;
};
/// The result of `profile`: kernels and memory of one thread while a function ran.
struct profile_result {
  std::vector<kernel_run> runs;  ///< in the order in which they began; reshapes share memory and are no kernels
  std::vector<fallback_run> fallbacks;
  std::vector<memory_sample> memory;
  std::int64_t begin_bytes = 0;  ///< memory().live_bytes when the function began
  std::int64_t peak_bytes = 0;   ///< the largest value of net_bytes while the function ran; 0 or more
  std::int64_t net_bytes = 0;    ///< bytes that the thread allocated, less those that it released; may be negative
  std::int64_t wall_ns = 0;      ///< duration of the whole function
  int thread = 0;                ///< a number for the thread, from 1
  /// The runs summed by kernel, the longest total first.
  std::vector<kernel_total> totals() const;
};

/// Runs f and records every kernel that it runs on this thread; work of other threads is not included. Profiles nest.
/// Exceptions of f reach the caller.
profile_result profile(const std::function<void()>& f);
/// Returns a table of the kernels, the longest total first.
std::string to_string(const profile_result& result);
/// Writes the profile as JSON for chrome://tracing or Perfetto: a slice for each run, and live bytes as a counter.
/// Throws if the stream or the file cannot be written.
void write_chrome_trace(const profile_result& result, std::ostream& out);
void write_chrome_trace(const profile_result& result, const std::string& path);

// ------------------------------------------------------------------------------------------ NaN and infinity

/// Options of nan_check.
struct nan_check_options {
  bool infinities = true;  ///< true: also looks for infinities
  bool operands = false;   ///< true: also throws for operands that have them, before the kernel runs
};

/// Finds the first NaN: while the object exists, an op of this thread that makes a NaN or infinity throws, in forward
/// and backward pass. The error names the op and the element, and describes the operands. Ops that only pass a NaN or
/// infinity on do not throw. An op makes a NaN if no operand has one, and an infinity if no operand has a NaN or
/// infinity. Tensors that you fill yourself, and ops without operands such as `full`, are not checked. The check reads
/// every result once.
class nan_check {
 public:
  explicit nan_check(nan_check_options wanted = {});

 private:
  hook_handle hooks_;
};

// ------------------------------------------------------------------------------------------ memory

/// Growth of live memory, as `memory_scope::leaked` returns it; negative if there is less than before.
struct memory_growth {
  std::int64_t tensors = 0, buffers = 0, bytes = 0;  ///< as in memory_info
  constexpr bool operator==(const memory_growth&) const = default;
};
/// The growth as in "2 tensors, 1 buffer, 64 bytes".
std::string to_string(const memory_growth& growth);

/// Remembers the memory that is live when it is made, to find leaks: `EXPECT_EQ(scope.leaked().buffers, 0)`.
class memory_scope {
 public:
  /// `process` counts the tensors of all threads. `thread` counts the memory that this thread takes less the memory
  /// that it returns, whichever thread made it.
  enum class of : std::uint8_t { process, thread };
  explicit memory_scope(of counted = of::process);
  /// Growth of live memory since this object was made. Throws on another thread than the one counted.
  memory_growth leaked() const;

 private:
  of counted_;
  const void* thread_;
  memory_growth begin_;
};

}  // namespace kerngrad

namespace kerngrad::detail {
memory_growth held_by_thread();
}  // namespace kerngrad::detail
