// SPDX-License-Identifier: Apache-2.0
// Watching kernels run: hooks for profilers, tracers and checkers. While no hook is active, a call pays nothing for
// it: the flag shares a word with the choice of the backend, which is read anyway.
module;
#include "kernels/common/abi.h"
export module kerngrad:observe;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// One run of a kernel. Objects that it refers to live until the hook returns.
struct kernel_event {
  std::string_view op;                    ///< its name
  std::string_view backend;               ///< where it runs
  std::string_view target;                ///< the SIMD target, on the backend simd; empty for plain C++
  dtype compute = dtype::float32;         ///< the dtype that the kernel was chosen by
  std::span<const tensor* const> in;      ///< operands after promotion; optional ones may be undefined
  std::span<const tensor> out;            ///< results; none yet at `begin`
  bool backward = false;                  ///< it is part of a backward pass over a tape
  std::int64_t begin_ns = 0, end_ns = 0;  ///< of the steady clock; the second at `end` only
};
/// An allocation (bytes > 0) or a release (bytes < 0) of a tensor's elements.
struct allocation_event {
  std::int64_t bytes = 0;
};
/// The active backend has no kernel for a call, and another backend's runs.
struct fallback_event {
  std::string_view op, from, to;
  dtype compute = dtype::float32;
};

/// Functions to call; empty ones are skipped. They run on the thread of the call. If `begin` or `end` throws, the call
/// ends with that exception, its result is dropped, and nothing is recorded. Kernels that a hook runs are not reported.
/// `allocate` must not throw and must not make tensors.
struct hooks {
  std::function<void(const kernel_event&)> begin{}, end{};
  std::function<void(const allocation_event&)> allocate{};
  std::function<void(const fallback_event&)> fallback{};
  /// If true, only calls of the thread that adds the hooks are reported; else those of all threads.
  bool this_thread_only = false;
};

/// Hooks that are active while this lives. Move-only.
class hook_handle {
 public:
  hook_handle() = default;
  hook_handle(hook_handle&& other) noexcept : added_(std::move(other.added_)) {}
  hook_handle& operator=(hook_handle&& other) noexcept {
    std::swap(added_, other.added_);
    return *this;
  }
  ~hook_handle() { remove(); }
  /// Removes the hooks now.
  void remove() noexcept;

 private:
  friend hook_handle add_hooks(hooks);
  std::shared_ptr<const void> added_;
};
/// Adds hooks. With several, they run in the order in which they were added.
[[nodiscard]] hook_handle add_hooks(hooks wanted);

}  // namespace kerngrad
