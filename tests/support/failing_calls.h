// SPDX-License-Identifier: Apache-2.0
// Faults of the system: the n-th call that touches files fails, or ends the process. A program that uses this links
// failing_calls.cc, whose functions take the place of the C library's.
#pragma once
#include <string_view>

namespace kgtest {

/// The n-th of the calls from now on, counted from 1, fails with that `errno`, or ends the process without a word where
/// it is 0. Calls after it work again. One object at a time.
class failing_calls {
 public:
  failing_calls(int nth, int error);
  failing_calls(const failing_calls&) = delete;
  failing_calls& operator=(const failing_calls&) = delete;
  ~failing_calls();
  /// Name of the call that failed; empty when there were fewer.
  static std::string_view failed();
  /// Exit code of a process that was ended.
  static constexpr int ended = 77;
};

}  // namespace kgtest
