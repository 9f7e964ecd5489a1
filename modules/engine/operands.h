// SPDX-License-Identifier: Apache-2.0
// How a kernel that throws keeps its arrays: messages from them may still be under way. A plain header, because it
// crosses modules without being exported.
#pragma once

namespace kerngrad::kernels {

/// A kernel that throws sets it, if others may still read its operands and results. The engine then keeps these until
/// the process ends, and clears it.
inline constinit thread_local bool arrays_stay = false;

}  // namespace kerngrad::kernels
