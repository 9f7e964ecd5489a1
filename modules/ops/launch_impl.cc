// SPDX-License-Identifier: Apache-2.0
// Shared by launchers of several families: how shapes are walked, and what a kernel says it made.
module;
#include <algorithm>
#include <ranges>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/reduce/reduce.h"
module kerngrad;

import :geometry;

namespace kerngrad {

void made(const launch_call& c, int k, const shape& dims) {
  view& y = c.out[static_cast<std::size_t>(k)];
  if (!c.call.row.bounded || !is_within(dims, y.dims))
    fail(c.call.row.name, "a kernel that made result " + std::to_string(k) + " of shape " + to_string(dims),
         (c.call.row.bounded ? "at most " : "") + to_string(y.dims) + " by the op's row");
  y.dims = dims;
}

}  // namespace kerngrad

namespace kerngrad::detail {

namespace views = ranges::views;

const resolved_geometry& resolved(const launch_call& c, resolved_geometry::kind wanted) {
  if (c.call.resolved.is != wanted)
    fail(c.call.row.name, "a shape rule that does not resolve what the row's calling convention needs",
         "the shape rule of an op of this convention", "call that of kg::shapes in the row's own");
  return c.call.resolved;
}

template <std::size_t N>
kernels::broadcast_geometry broadcast_walk(const shape& dims, const std::array<shape, N>& operands) {
  kernels::broadcast_geometry g{};
  std::array<std::int64_t, N> step;
  std::ranges::fill(step, 1);
  // From the innermost axis outwards; the geometry is built in reverse and reversed at the end.
  int rank = 0;
  for (int axis : views::iota(0, dims.rank()) | views::reverse) {
    std::array<std::int64_t, N> stride{};
    for (auto&& [x, length, by] : views::zip(operands, step, stride)) {
      const int at = axis - (dims.rank() - x.rank());
      const std::int64_t size = at >= 0 ? x[at] : 1;
      by = size == 1 ? 0 : length;
      length *= size;
    }
    if (dims[axis] == 1) continue;
    const bool joins = rank > 0 && std::ranges::all_of(std::views::iota(std::size_t{0}, N), [&](std::size_t k) {
                         return stride[k] == g.strides[k][rank - 1] * g.dims[rank - 1];
                       });
    if (joins) {
      g.dims[rank - 1] *= dims[axis];
      continue;
    }
    g.dims[rank] = dims[axis];
    for (std::size_t k = 0; k < N; ++k) g.strides[k][rank] = stride[k];
    ++rank;
  }
  if (rank == 0) g.dims[rank++] = dims.size();  // a scalar
  std::reverse(g.dims, g.dims + rank);
  for (std::size_t k = 0; k < N; ++k) std::reverse(g.strides[k], g.strides[k] + rank);
  g.rank = rank;
  return g;
}
template kernels::broadcast_geometry broadcast_walk<2>(const shape&, const std::array<shape, 2>&);
template kernels::broadcast_geometry broadcast_walk<3>(const shape&, const std::array<shape, 3>&);

kernels::reduce_geometry split_at_axis(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const int axis = resolved(c, resolved_geometry::kind::axis).axis.at;
  if (axis < 0) return {1, 1, 1};  // a scalar
  return {extent_of(dims, 0, axis), dims[axis], extent_of(dims, axis + 1, dims.rank())};
}

}  // namespace kerngrad::detail
