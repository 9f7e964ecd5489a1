// SPDX-License-Identifier: Apache-2.0
// Shape rules of the normalizations.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_norm;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;

namespace kerngrad::shapes {

/// FusedBatchNorm: the shape of x. Mean, variance, offset and scale have one shape, which broadcasts to it.
export constexpr void batch_norm(inference& call) {
  const shape &x = call.in[0].dims, &mean = call.in[1].dims;
  for (std::size_t i = 2; i < call.in.size(); ++i)
    if (call.has(i) && !(call.in[i].dims == mean))
      call.refuse(std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims),
                  "the shape of mean, " + to_string(mean));
  const std::optional<shape> both = broadcast(x, mean);
  if (!both || !(*both == x))
    call.refuse("mean of shape " + to_string(mean), "a shape that broadcasts to that of x, " + to_string(x));
  call.give(x);
}

/// LayerNorm: the shape of x. Scale and offset have a value for each element of the last axis.
export constexpr void layer_norm(inference& call) {
  const shape& x = call.in[0].dims;
  if (x.rank() == 0) call.refuse("x of shape " + to_string(x), "rank 1 or more");
  const shape row{x[x.rank() - 1]};
  for (std::size_t i = 1; i < call.in.size(); ++i)
    if (call.has(i) && !(call.in[i].dims == row))
      call.refuse(std::string(call.row.operands[i].name) + " of shape " + to_string(call.in[i].dims),
                  "the size of the last axis of x, " + to_string(row));
  call.give(x);
}

/// LRN and its gradient: the shape of the images, channels last, with or without a batch.
export constexpr void response_norm(inference& call) {
  const shape& x = call.in[0].dims;
  if (x.rank() != 3 && x.rank() != 4)
    call.refuse("x of shape " + to_string(x), "rank 3 or 4: batch if any, height, width, channels");
  all_equal(call);
}

}  // namespace kerngrad::shapes
