// SPDX-License-Identifier: Apache-2.0
// Launchers of the conversions.
module;
#include "kernels/common/abi.h"
#include "kernels/convert/convert.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

void cast(const launch_call& c) { detail::run_counted(c, kernels::cast_geometry{c.out[0].dims.size(), c.out[0].type}); }
void convert(const launch_call& c) { detail::run_counted(c, kernels::convert_geometry{c.out[0].dims.size()}); }

}  // namespace kerngrad::launch
