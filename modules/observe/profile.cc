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
  std::vector<signature> in, out;   ///< operands that were given, after promotion; results
  std::int64_t bytes = 0;           ///< of operands and results, as if each was read or written once
  std::int64_t begin_ns = 0;        ///< since the profile began
  std::int64_t ns = 0;              ///< with the kernels that it ran itself
  int depth = 0;                    ///< how many kernels it ran inside
  bool backward = false;            ///< it is part of a backward pass over a tape
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
  std::int64_t bytes = 0;  ///< what the thread has taken since then, less what it has given back
};
/// The runs of one kernel.
struct kernel_total {
  std::string op, backend, target;
  dtype compute = dtype::float32;
  std::int64_t calls = 0, total_ns = 0, min_ns = 0, median_ns = 0, bytes = 0;
  /// Bytes per nanosecond, which are gigabytes per second. 0 if the clock measured no time.
  double gigabytes_per_second() const;
};
/// The calls of one thread while a function ran.
struct profile_result {
  std::vector<kernel_run> runs;  ///< in the order in which they began; reshapes share memory and are no kernels
  std::vector<fallback_run> fallbacks;
  std::vector<memory_sample> memory;
  std::int64_t begin_bytes = 0;  ///< memory().live_bytes when it began
  std::int64_t peak_bytes = 0;   ///< the most that the thread held of what it took meanwhile
  std::int64_t net_bytes = 0;    ///< taken and not given back; negative when more was given back
  std::int64_t wall_ns = 0;      ///< of the whole function
  int thread = 0;                ///< a number for the thread, from 1
  /// The runs summed by kernel, the longest total first.
  std::vector<kernel_total> totals() const;
};

/// Runs f and records every kernel that it runs on this thread; work of other threads is not included. Profiles nest.
/// Exceptions of f reach the caller.
profile_result profile(const std::function<void()>& f);
/// A table of the kernels, the longest total first.
std::string to_string(const profile_result& result);
/// The profile as JSON for chrome://tracing or Perfetto: a slice for each run, and live bytes as a counter. Throws if
/// the stream or the file cannot be written.
void write_chrome_trace(const profile_result& result, std::ostream& out);
void write_chrome_trace(const profile_result& result, const std::string& path);

// ------------------------------------------------------------------------------------------ NaN and infinity

/// Options of nan_check.
struct nan_check_options {
  bool infinities = true;  ///< also look for infinities
  bool operands = false;   ///< also reject operands that have them, before the kernel runs
};

/// While it lives, an op of this thread that makes the first NaN or infinity throws, in forward and backward pass. The
/// error names the op and the element, and describes the operands. Ops that only pass a NaN or infinity on do not
/// throw: an op makes a NaN if no operand has one, and an infinity if no operand has a NaN or infinity. Tensors that
/// you fill yourself, and ops without operands such as `full`, are not checked. It reads every result once.
class nan_check {
 public:
  explicit nan_check(nan_check_options wanted = {});

 private:
  hook_handle hooks_;
};

// ------------------------------------------------------------------------------------------ memory

/// Growth of live memory; negative if there is less than before.
struct memory_growth {
  std::int64_t tensors = 0, buffers = 0, bytes = 0;  ///< as in memory_info
  constexpr bool operator==(const memory_growth&) const = default;
};
/// The growth as in "2 tensors, 1 buffer, 64 bytes".
std::string to_string(const memory_growth& growth);

/// Remembers the memory that is live when it begins: `EXPECT_EQ(scope.leaked().buffers, 0)`.
class memory_scope {
 public:
  /// `process` counts the tensors of all threads. `thread` counts the memory that this thread takes less the memory
  /// that it returns, whichever thread made it.
  enum class of : std::uint8_t { process, thread };
  explicit memory_scope(of counted = of::process);
  /// Growth of live memory since the begin. Throws on another thread than the one counted.
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
