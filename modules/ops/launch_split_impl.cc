// SPDX-License-Identifier: Apache-2.0
// Work for several threads: a kernel's geometry is cut into geometries of the same kind, once per calling convention.
// The cuts depend on the op and the sizes only.
module;
#include <algorithm>
#include <bit>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/enumerate.hpp>
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/common/parallel.h"
#include "kernels/common/sizes.h"
#include "kernels/common/stream.h"
#include "kernels/window/window.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad::detail {

std::int64_t chunk_elements(double cost) {
  // An element of memory in the second cache takes as long as about sixteen operations (bench/threads.cc).
  const auto elements = static_cast<std::uint64_t>(32768.0 / (1.0 + (std::clamp(cost, 1.0, 1e4) - 1) / 16));
  return static_cast<std::int64_t>(std::max<std::uint64_t>(std::bit_floor(elements), 64));
}

bool worth_splitting(std::int64_t elements, double cost) {
  return cost >= 0 && kernels::threads_allowed() > 1 && elements >= 4 * chunk_elements(cost);
}

bool worth_splitting(const launch_call& c, std::int64_t elements, double cost) {
  return worth_splitting(elements, cost) && c.built_in;
}

double split_cost(const launch_call& c) { return c.built_in ? c.call.row.cost : never_split; }

void split_flat1(const kernel_slot& slot, double cost, const void* x, std::size_t x_size, void* y, std::size_t y_size,
                 std::size_t count) {
  const std::int64_t all = static_cast<std::int64_t>(count), bytes = all * static_cast<std::int64_t>(y_size);
  in_chunks(all, chunk_elements(cost), bytes, [&](std::int64_t begin, std::int64_t part) {
    slot.flat1(advanced(x, begin * static_cast<std::int64_t>(x_size)),
               advanced(y, begin * static_cast<std::int64_t>(y_size)), static_cast<std::size_t>(part));
  });
}

void split_flat2(const kernel_slot& slot, double cost, const void* a, const void* b, std::size_t in_size, void* y,
                 std::size_t y_size, std::size_t count) {
  const std::int64_t all = static_cast<std::int64_t>(count), bytes = all * static_cast<std::int64_t>(y_size);
  in_chunks(all, chunk_elements(cost), bytes, [&](std::int64_t begin, std::int64_t part) {
    const std::int64_t at = begin * static_cast<std::int64_t>(in_size);
    slot.flat2(advanced(a, at), advanced(b, at), advanced(y, begin * static_cast<std::int64_t>(y_size)),
               static_cast<std::size_t>(part));
  });
}

box_cut::box_cut(std::span<const std::int64_t> dims, std::int64_t chunk) {
  inner = ranges::accumulate(dims, std::int64_t{1}, std::multiplies{});
  for (const auto& [i, length] : ranges::views::enumerate(dims)) {
    axis = static_cast<int>(i);
    inner /= length;
    if (inner <= chunk) break;
    outer *= length;
  }
  size = dims[static_cast<std::size_t>(axis)];
  piece = std::clamp(chunk / inner, std::int64_t{1}, size);
  pieces = (size + piece - 1) / piece;
}

void run_broadcast(const launch_call& c, const kernels::broadcast_geometry& g) {
  const std::span<const std::int64_t> dims(g.dims, static_cast<std::size_t>(g.rank));
  const std::int64_t count = c.out[0].dims.size();
  const double cost = c.call.row.cost;
  const std::size_t result_bytes = static_cast<std::size_t>(count) * size_of(c.out[0].type);
  if (count < split_least || !worth_splitting(c, count, cost)) {
    const kernels::part_of_result whole(result_bytes);  // the kernel sees rows
    return run_kernel_of(c, g);
  }
  const box_cut cut(dims, chunk_elements(cost));
  kernels::parallel_chunks(cut.chunks(), [&](std::size_t chunk) {
    const kernels::part_of_result whole(result_bytes);
    kernels::broadcast_geometry part{};
    part.rank = g.rank - cut.axis;
    std::ranges::copy(g.dims | ranges::views::drop(cut.axis), part.dims);
    for (int k = 0; k < 3; ++k) std::ranges::copy(g.strides[k] | ranges::views::drop(cut.axis), part.strides[k]);
    part.dims[0] = cut.count(chunk);
    const void* in[3];
    for (std::size_t k = 0; k < c.in.size(); ++k)
      in[k] = advanced(c.in[k].data,
                       cut.offset(chunk, dims, g.strides[k]) * static_cast<std::int64_t>(size_of(c.in[k].type)));
    void* out[1] = {
        advanced(c.out[0].data, cut.first(chunk) * cut.inner * static_cast<std::int64_t>(size_of(c.out[0].type)))};
    c.kernel.run(in, out, &part);
  });
}

void run_windows(const launch_call& c, const void* const* in, void* out, const kernels::window_geometry& g) {
  in_window_rows(c, g, [&](const window_rows& rows) {
    const std::int64_t image = g.in_h * g.in_w * g.in_c, row = g.out_w * c.out[0].dims[3];
    const void* from[2] = {advanced(in[0], rows.image * image * static_cast<std::int64_t>(size_of(c.in[0].type))),
                           in[1]};
    void* to[1] = {
        advanced(out, (rows.image * g.out_h + rows.first) * row * static_cast<std::int64_t>(size_of(c.out[0].type)))};
    c.kernel.run(from, to, &rows.part);
  });
}

}  // namespace kerngrad::detail
