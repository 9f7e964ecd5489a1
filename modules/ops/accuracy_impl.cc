// SPDX-License-Identifier: Apache-2.0
// What is known of the errors of the kernels, beside the rows: measuring anew rebuilds no interface.
module;
#include <algorithm>
#include "kernels/common/accuracy.h"
#include "kernels/common/accuracy_worst.h"
module kerngrad;

namespace kerngrad {

std::optional<op_accuracy> accuracy_of(std::string_view name, dtype type) {
  const auto* bound = std::ranges::find(kernels::accuracy, name, &kernels::accuracy_bound::op);
  if (bound == std::end(kernels::accuracy)) return {};
  for (const kernels::accuracy_worst& found : kernels::accuracy_measured)
    if (name == found.op && type == found.type)
      return op_accuracy{.bound = type == dtype::float32 ? bound->ulp_float32 : bound->ulp_float64,
                         .worst = found.ulp,
                         .at = {found.a, found.b},
                         .target = found.target,
                         .all = found.all};
  return {};
}

}  // namespace kerngrad
