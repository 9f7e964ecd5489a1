// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kgbench {

struct selection;
/// Registers the optimizers' steps, which are no ops: sizes x targets for each kernel of kernels/optimizer/update.h.
void register_updates(const selection& chosen);

}  // namespace kgbench
