// SPDX-License-Identifier: Apache-2.0
// The launcher of Betainc, which has three operands.
module;
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

void betainc(const launch_call& c) {
  detail::run_broadcast(c, detail::broadcast_walk<3>(c.out[0].dims, {c.in[0].dims, c.in[1].dims, c.in[2].dims}));
}

}  // namespace kerngrad::launch
