// SPDX-License-Identifier: Apache-2.0
// The launcher of SortPairs.
module;
#include "kernels/common/abi.h"
#include "kernels/rank/rank.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

void sort_pairs(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const std::int64_t count = dims[dims.rank() - 1];
  if (dims.size() == 0) return;
  detail::run_kernel_of(c, kernels::rank_geometry{dims.size() / count, count});
}

}  // namespace kerngrad::launch
