// SPDX-License-Identifier: Apache-2.0
// boolean_mask, which is composed of other ops.
module;
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad {

tensor boolean_mask(const tensor& x, const tensor& mask, axis_index axis) {
  const shape &dims = x.dims(), &masked = mask.dims();
  const int first = detail::axis_from_front(axis.value(), dims.rank()).value_or(dims.rank());
  const auto refuse = [&](const std::string& wanted) {
    fail("kg::boolean_mask",
         "x " + to_string(dims) + ", mask " + to_string(masked) + " and axis " + std::to_string(axis.value()), wanted);
  };
  if (masked.rank() == 0) refuse("a mask of rank 1 or more");
  if (first + masked.rank() > dims.rank()) refuse("an axis of x from which on it has those of the mask");
  std::vector<std::int64_t> joined(dims.begin(), dims.begin() + first);
  joined.push_back(masked.size());
  for (int i = 0; i < dims.rank(); ++i) {
    if (i >= first && i < first + masked.rank() && dims[i] != masked[i - first])
      refuse("a mask of the shape of these axes");
    if (i >= first + masked.rank()) joined.push_back(dims[i]);
  }
  const tensor indices = nonzero(reshape(mask, shape{masked.size()}));
  return gather(reshape(x, shape(joined)), reshape(indices, shape{indices.dims()[0]}), first);
}

}  // namespace kerngrad
