// SPDX-License-Identifier: Apache-2.0
// Which SIMD targets this build has and this CPU runs, and pinning one of them. Safe to include anywhere.
#pragma once
#include <cstdint>

namespace kerngrad::kernels {

struct target {
  std::int64_t bits;  ///< Highway's bit of the target
  const char* name;   ///< Highway's name: "AVX3", "AVX2", "SSE4", "SSSE3", "EMU128", "NEON", ...
};

/// Writes the targets that were compiled in and that the CPU supports, best first; returns how many there are.
int supported_targets(target* out, int capacity);
/// Writes every target that was compiled in, supported or not, best first; returns how many there are.
int compiled_targets(target* out, int capacity);
/// Lets every kernel run on this target from now on (process-wide). `bits` must come from supported_targets().
void pin_target(std::int64_t bits);
/// Removes the pin: the best supported target is chosen again.
void unpin_target();
/// Chooses a target if none was chosen yet: before work for threads, whose chunks must not throw.
void require_target();
/// Throws kg::error: the CPU has none of the targets that were compiled in. Defined in modules/tensor/scratch_impl.cc.
[[noreturn]] void refuse_cpu();
/// The name of the target that a dispatched kernel runs on now, as the kernel itself reports it.
const char* running_target();

}  // namespace kerngrad::kernels
