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

/// One run of a kernel, as hooks get it. Objects that it refers to live until the hook returns.
struct kernel_event {
  std::string_view op;                    ///< name of the op
  std::string_view backend;               ///< name of the backend that it runs on
  std::string_view target;                ///< the SIMD target, on the backend simd; empty for plain C++
  dtype compute = dtype::float32;         ///< the dtype that the kernel was chosen by
  std::span<const tensor* const> in;      ///< operands after promotion; optional ones may be undefined
  std::span<const tensor> out;            ///< results; none yet at `begin`
  bool backward = false;                  ///< true if it runs in a backward pass
  std::int64_t begin_ns = 0, end_ns = 0;  ///< nanoseconds of the steady clock; end_ns is 0 at `begin`
};
/// An allocation (bytes > 0) or a release (bytes < 0) of a tensor's elements, as hooks get it.
struct allocation_event {
  std::int64_t bytes = 0;
};
/// A call for which the active backend `from` has no kernel, so that the kernel of the backend `to` runs.
struct fallback_event {
  std::string_view op, from, to;
  dtype compute = dtype::float32;
};

/// Functions that the library calls when kernels run and memory is allocated; empty ones are skipped. They run on the
/// thread of the call. If `begin` or `end` throws, the call ends with that exception, its result is dropped, and
/// nothing is recorded. Kernels that a hook runs are not reported. `allocate` must not throw and must not make tensors.
struct hooks {
  std::function<void(const kernel_event&)> begin{}, end{};
  std::function<void(const allocation_event&)> allocate{};
  std::function<void(const fallback_event&)> fallback{};
  /// If true, only calls of the thread that adds the hooks are reported; else those of all threads.
  bool this_thread_only = false;
};

/// Keeps hooks active for as long as it lives. Move-only.
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
/// Adds hooks, which are active for as long as the result lives. Hooks run in the order in which they were added.
[[nodiscard]] hook_handle add_hooks(hooks wanted);

}  // namespace kerngrad
