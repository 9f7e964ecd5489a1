// SPDX-License-Identifier: Apache-2.0
// How runs of kernels and allocations are told to the hooks active. Known inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:watch;

import :std;
import :core;
import :tensor;
import :observe;
import :engine;
import :live;

namespace kerngrad::detail {

bool watched_here();
std::int64_t now_ns();  // of the steady clock
/// Watches one run of a kernel: `begin` at construction, `end` on success only. `plain_cpp`: the kernel is no SIMD
/// code.
class watch_run {
 public:
  watch_run(std::string_view op, const live_backend& on, dtype compute, std::span<const tensor* const> in,
            bool plain_cpp = false);
  watch_run(const watch_run&) = delete;
  watch_run& operator=(const watch_run&) = delete;
  void done(const tensor_list& out);

 private:
  kernel_event event_;
  std::string target_;
  bool on_;
};
void watch_fallback(std::string_view op, const live_backend& from, const live_backend& to, dtype compute);
/// Called by the allocator while a hook is active.
extern std::atomic<int> allocation_watchers;
void watch_allocation(std::int64_t bytes) noexcept;

}  // namespace kerngrad::detail
