// SPDX-License-Identifier: Apache-2.0
// embedding_bag with bags of one size, which is composed of other ops.
module;
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad {

tensor embedding_bag(const tensor& params, const tensor& indices, const embedding_bag_options& options) {
  const shape& dims = indices.dims();
  if (dims.rank() != 2) fail("kg::embedding_bag", "indices of shape " + to_string(dims), "[bags, size], or offsets");
  embedding_bag_options flat = options;
  if (flat.weights.defined()) {
    if (!(flat.weights.dims() == dims))
      fail("kg::embedding_bag", "weights of shape " + to_string(flat.weights.dims()),
           "that of the indices, " + to_string(dims));
    flat.weights = reshape(flat.weights, shape{dims.size()});
  }
  const tensor offsets = arange(0, static_cast<double>(dims[0]), 1, dtype::int64) * dims[1];
  return embedding_bag(params, reshape(indices, shape{dims.size()}), offsets, flat);
}

}  // namespace kerngrad
