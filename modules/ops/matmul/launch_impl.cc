// SPDX-License-Identifier: Apache-2.0
// The launcher of the matrix product.
module;
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/matmul/matmul.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

void matmul(const launch_call& c) {
  const shape &a = c.in[0].dims, &b = c.in[1].dims, &y = c.out[0].dims;
  kernels::matmul_geometry g{};
  g.transpose_a = c.call.attr(place_in(attributes::matmul, "transposeA")).as_bool();
  g.transpose_b = c.call.attr(place_in(attributes::matmul, "transposeB")).as_bool();
  g.m = y[y.rank() - 2];
  g.n = y[y.rank() - 1];
  g.k = a[a.rank() - (g.transpose_a ? 2 : 1)];
  if (y.rank() == 2) return detail::run_kernel_of(c, g);
  const auto batch_of = [](const shape& dims) {
    return shape(dims.dims().first(static_cast<std::size_t>(dims.rank()) - 2));
  };
  const shape batch = batch_of(y);
  const kernels::broadcast_geometry walk = detail::broadcast_walk<2>(batch, {batch_of(a), batch_of(b)});
  g.batch_rank = walk.rank;
  for (int i = 0; i < walk.rank; ++i) {
    g.batch_dims[i] = walk.dims[i];
    g.stride_a[i] = walk.strides[0][i];
    g.stride_b[i] = walk.strides[1][i];
  }
  detail::run_kernel_of(c, g);
}

}  // namespace kerngrad::launch
