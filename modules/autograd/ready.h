// SPDX-License-Identifier: Apache-2.0
// How a module on top of kerngrad hears of gradients while the backward pass still runs: what sends them elsewhere can
// begin before the pass ends. A plain header, because it crosses modules without being exported.
#pragma once

namespace kerngrad::kernels {

/// Who hears of gradients. `variable` points to a kg::variable and `gradient` to its kg::tensor, which is complete.
struct gradient_listener {
  void* self;
  void (*ready)(void* self, const void* variable, const void* gradient);
};
/// The listener of the next `variable_grads` on this thread, which takes it before it runs its function.
inline constinit thread_local const gradient_listener* next_listener = nullptr;

}  // namespace kerngrad::kernels
