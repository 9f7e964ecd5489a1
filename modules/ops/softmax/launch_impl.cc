// SPDX-License-Identifier: Apache-2.0
// Launchers of the softmax family.
module;
#include "kernels/common/abi.h"
#include "kernels/reduce/reduce.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

void along_axis(const launch_call& c) { detail::run_outer(c, detail::split_at_axis(c)); }
void cross_entropy(const launch_call& c) { detail::run_outer(c, detail::split_at_axis(c)); }

}  // namespace kerngrad::launch
