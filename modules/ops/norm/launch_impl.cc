// SPDX-License-Identifier: Apache-2.0
// Launchers of the normalizations.
module;
#include <algorithm>
#include <range/v3/view/drop.hpp>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/common/stream.h"
#include "kernels/norm/batch.h"
#include "kernels/norm/layer.h"
#include "kernels/norm/response.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {
namespace {

// FusedBatchNorm from an element of x and one of the moments on.
void normalize_from(const launch_call& c, std::int64_t x, std::int64_t moment,
                    const kernels::batch_norm_geometry& part) {
  const std::int64_t size = static_cast<std::int64_t>(size_of(c.in[0].type));
  const void* in[5] = {};
  for (std::size_t i = 0; i < c.in.size(); ++i)
    if (c.call.has(i)) in[i] = detail::advanced(c.in[i].data, (i == 0 ? x : moment) * size);
  void* out[] = {detail::advanced(c.out[0].data, x * size)};
  c.kernel.run(in, out, &part);
}

}  // namespace

void batch_norm(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const double epsilon = c.call.attr(place_in(attributes::batch_norm, "varianceEpsilon")).as_number();
  const kernels::batch_norm_geometry all{detail::broadcast_walk<2>(dims, {dims, c.in[1].dims}), epsilon};
  const double cost = c.call.row.cost;
  if (!detail::worth_splitting(c, dims.size(), cost)) return normalize_from(c, 0, 0, all);
  const std::span<const std::int64_t> sizes(all.walk.dims, static_cast<std::size_t>(all.walk.rank));
  const detail::box_cut cut(sizes, detail::chunk_elements(cost));
  const std::size_t result_bytes = static_cast<std::size_t>(dims.size()) * size_of(c.out[0].type);
  kernels::parallel_chunks(cut.chunks(), [&](std::size_t chunk) {
    const kernels::part_of_result whole(result_bytes);
    kernels::batch_norm_geometry part{{}, epsilon};
    part.walk.rank = all.walk.rank - cut.axis;
    std::ranges::copy(all.walk.dims | ranges::views::drop(cut.axis), part.walk.dims);
    for (int k = 0; k < 2; ++k)
      std::ranges::copy(all.walk.strides[k] | ranges::views::drop(cut.axis), part.walk.strides[k]);
    part.walk.dims[0] = cut.count(chunk);
    normalize_from(c, cut.first(chunk) * cut.inner, cut.offset(chunk, sizes, all.walk.strides[1]), part);
  });
}

void layer_norm(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  if (dims.size() == 0) return;
  const std::int64_t count = dims[dims.rank() - 1];
  const double epsilon = c.call.attr(place_in(attributes::layer_norm, "epsilon")).as_number();
  const auto operand = [&](std::size_t i) { return c.call.has(i) ? c.in[i].data : nullptr; };
  // Scale and offset, operands 1 and 2, are the same for all rows.
  detail::run_slices(c, dims.size() / count, dims.size(), 6,
                     [&](std::int64_t rows, const void* const* in, void* const* out) {
                       const kernels::layer_norm_geometry g{.rows = rows, .count = count, .epsilon = epsilon};
                       const void* all[] = {in[0], operand(1), operand(2)};
                       c.kernel.run(all, out, &g);
                     });
}

void response_norm(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const std::int64_t channels = dims[dims.rank() - 1];
  const std::int64_t radius = c.call.attr(place_in(attributes::response_norm, "depthRadius")).as_integer();
  const auto number = [&](attr_place at) { return c.call.attr(at).as_number(); };
  detail::run_kernel_of(c,
                        kernels::response_geometry{.rows = channels == 0 ? 0 : dims.size() / channels,
                                                   .channels = channels,
                                                   .radius = std::min(radius, std::max<std::int64_t>(channels - 1, 0)),
                                                   .bias = number(place_in(attributes::response_norm, "bias")),
                                                   .alpha = number(place_in(attributes::response_norm, "alpha")),
                                                   .beta = number(place_in(attributes::response_norm, "beta"))});
}

}  // namespace kerngrad::launch
