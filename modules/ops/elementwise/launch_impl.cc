// SPDX-License-Identifier: Apache-2.0
// Launchers of the elementwise ops, with broadcasting.
module;
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

void unary(const launch_call& c) {
  kernels::unary_geometry g{c.out[0].dims.size(), {}};
  for (std::size_t i = 0; i < c.call.attrs.size(); ++i) g.params[i] = c.call.attrs[i].as_number();
  detail::run_counted(c, g);
}

void binary(const launch_call& c) {
  const kernels::broadcast_geometry g = detail::broadcast_walk<2>(c.out[0].dims, {c.in[0].dims, c.in[1].dims});
  if (g.rank == 1 && g.strides[0][0] == 1 && g.strides[1][0] == 1)
    return detail::run_flat2(c.kernel, detail::split_cost(c), c.in[0].data, c.in[1].data, c.in[0].type, c.out[0].data,
                             c.out[0].type, g.dims[0]);
  detail::run_broadcast(c, g);
}

void select(const launch_call& c) {
  detail::run_broadcast(c, detail::broadcast_walk<3>(c.out[0].dims, {c.in[0].dims, c.in[1].dims, c.in[2].dims}));
}

void add_n(const launch_call& c) {
  const std::int64_t count = c.out[0].dims.size();
  const dtype type = c.out[0].type;
  void* y = c.out[0].data;
  if (c.in.size() == 1) {
    if (count) std::memcpy(y, c.in[0].data, static_cast<std::size_t>(count) * size_of(type));
    return;
  }
  const double cost = detail::split_cost(c);
  detail::run_flat2(c.kernel, cost, c.in[0].data, c.in[1].data, type, y, type, count);
  for (std::size_t i = 2; i < c.in.size(); ++i)
    detail::run_flat2(c.kernel, cost, y, c.in[i].data, type, y, type, count);
}

}  // namespace kerngrad::launch
