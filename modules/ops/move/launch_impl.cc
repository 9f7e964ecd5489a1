// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops that move elements: all movement is one strided copy.
module;
#include <algorithm>
#include <range/v3/numeric/inner_product.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/zip.hpp>
#include <range/v3/view/zip_with.hpp>
#include "kernels/common/abi.h"
#include "kernels/create/create.h"
#include "kernels/move/move.h"
#include "kernels/common/parallel.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad::detail {

void on_int32(const launch_call& c, std::size_t at, launch_fn launch) {
  const view& wide = c.in[at];
  const tensor scratch = tensor_access::adopt(allocate(dtype::int32, wide.dims));
  std::byte* const data = tensor_access::buffer(scratch)->data;
  const std::span from(static_cast<const std::int64_t*>(wide.data), static_cast<std::size_t>(wide.dims.size()));
  std::ranges::transform(from, reinterpret_cast<std::int32_t*>(data), [](std::int64_t i) {
    return std::in_range<std::int32_t>(i) ? static_cast<std::int32_t>(i) : -1;
  });
  std::vector<view> in(c.in.begin(), c.in.end());
  in[at] = {data, wide.dims, dtype::int32};
  launch({.call = c.call, .kernel = c.kernel, .from = c.from, .built_in = c.built_in, .in = in, .out = c.out});
}

}  // namespace kerngrad::detail

namespace kerngrad::launch {

namespace views = ranges::views;
using namespace detail;

namespace {

// The axes of a box: its sizes, walked with the strides of whole tensors on either side.
copy_axes box(const shape& sizes, const axis_strides& in, const axis_strides& out) {
  copy_axes axes;
  for (const auto& [size, from, to] : views::zip(sizes.dims(), in, out)) axes.push_back({size, from, to});
  return axes;
}

int axis_of(const launch_call& c) { return resolved(c, resolved_geometry::kind::axis).axis.at; }

enum class copies { into_whole, into_parts };

// The parts of a tensor along an axis, copied into it or out of it. A part is one run of elements for each index of the
// axes before that axis. It may lack the axis, as the operands of Pack and the results of Unpack do.
void parts(const launch_call& c, const view& whole, std::span<const view> pieces, int axis, copies direction) {
  const std::int64_t outer = extent_of(whole.dims, 0, axis);
  const std::int64_t inner = extent_of(whole.dims, axis + 1, whole.dims.rank()), step = whole.dims[axis] * inner;
  std::int64_t start = 0;
  for (const view& piece : pieces) {
    const std::int64_t run = piece.dims.rank() == whole.dims.rank() ? piece.dims[axis] * inner : inner;
    if (direction == copies::into_whole)
      copy_strided(c, piece.data, whole.data, whole.type, {{outer, run, step}, {run, 1, 1}}, 0, start);
    else copy_strided(c, whole.data, piece.data, whole.type, {{outer, step, run}, {run, 1, 1}}, start, 0);
    start += run;
  }
}

}  // namespace

void copy(const launch_call& c) {
  const std::size_t bytes = static_cast<std::size_t>(c.out[0].dims.size()) * size_of(c.out[0].type);
  if (bytes) std::memcpy(c.out[0].data, c.in[0].data, bytes);
}

void transpose(const launch_call& c) {
  const auto& perm = resolved(c, resolved_geometry::kind::permutation).permutation;
  permute(c, c.in[0].data, c.out[0].data, c.in[0].type, c.in[0].dims,
          {perm.data(), static_cast<std::size_t>(c.in[0].dims.rank())});
}

void slice(const launch_call& c) {
  const auto& begin = resolved(c, resolved_geometry::kind::begin).begin;
  const axis_strides in = strides_of(c.in[0].dims);
  const std::int64_t offset = ranges::inner_product(in, begin, std::int64_t{0});
  copy_strided(c, c.in[0].data, c.out[0].data, c.in[0].type, box(c.out[0].dims, in, strides_of(c.out[0].dims)), offset,
               0);
}

void concat(const launch_call& c) { parts(c, c.out[0], c.in, axis_of(c), copies::into_whole); }
void unpack(const launch_call& c) { parts(c, c.in[0], c.out, axis_of(c), copies::into_parts); }
void split(const launch_call& c) { unpack(c); }

void pad(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const std::span<const std::int64_t> pairs = c.call.attr(place_in(attributes::pad, "paddings")).as_list();
  const dtype type = c.out[0].type;
  const element_of value(c, c.call.attr(place_in(attributes::pad, "constantValue")), type);
  kernels::pad_geometry g{1, {1}, {}, {}, value.bytes};
  for (const auto& [i, size] : views::enumerate(dims.dims())) {
    const std::int64_t before = pairs[2 * i], after = pairs[2 * i + 1];
    int last = g.rank - 1;
    if (before == 0 && after == 0) {  // one with the axis before it
      g.dims[last] *= size, g.before[last] *= size, g.after[last] *= size;
      continue;
    }
    if (g.dims[last] != 1 || g.before[last] != 0 || g.after[last] != 0) last = g.rank++;
    g.dims[last] = size, g.before[last] = before, g.after[last] = after;
  }
  const std::int64_t slices = g.before[0] + g.dims[0] + g.after[0], count = c.out[0].dims.size();
  if (count < split_least || !worth_splitting(c, count, 1)) return run_kernel_of(c, g);
  const std::int64_t bytes = static_cast<std::int64_t>(size_of(type)), slice = count / slices * bytes;
  const std::int64_t row = dims.size() / std::max(g.dims[0], std::int64_t{1}) * bytes;
  in_chunks(slices, std::max(chunk_elements(1) * bytes / slice, std::int64_t{1}), count * bytes,
            [&](std::int64_t begin, std::int64_t part_slices) {
              const auto inside = [&](std::int64_t i) {
                return std::clamp(i - g.before[0], std::int64_t{0}, g.dims[0]);
              };
              kernels::pad_geometry part = g;
              const std::int64_t first = inside(begin), end = inside(begin + part_slices);
              part.before[0] = std::clamp(g.before[0] - begin, std::int64_t{0}, part_slices);
              part.dims[0] = end - first;
              part.after[0] = part_slices - part.before[0] - part.dims[0];
              const void* in[1] = {advanced(c.in[0].data, first * row)};
              void* out[1] = {advanced(c.out[0].data, begin * slice)};
              c.kernel.run(in, out, &part);
            });
}

void tile(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const axis_strides in = strides_of(dims), out = strides_of(c.out[0].dims);
  const std::span<const std::int64_t> reps = c.call.attr(place_in(attributes::tile, "reps")).as_list();
  copy_axes axes;
  for (const auto& [size, times, from, to] : views::zip(dims.dims(), reps, in, out)) {
    axes.push_back({times, 0, size * to});
    axes.push_back({size, from, to});
  }
  copy_strided(c, c.in[0].data, c.out[0].data, c.in[0].type, axes);
}

void broadcast_to(const launch_call& c) {
  const shape &from = c.in[0].dims, &to = c.out[0].dims;
  const axis_strides in = strides_of(from), out = strides_of(to);
  copy_axes axes;
  for (const auto& [size, step] : views::zip(to.dims(), out)) axes.push_back({size, 0, step});
  for (auto&& [axis, size, step] : views::zip(axes | views::drop(to.rank() - from.rank()), from.dims(), in))
    if (size != 1) axis.in = step;
  copy_strided(c, c.in[0].data, c.out[0].data, c.in[0].type, axes);
}

void reverse(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const shapes::axis_set axes = resolved(c, resolved_geometry::kind::axes).axes;
  const axis_strides out = strides_of(dims);
  axis_strides in = out;
  std::int64_t offset = 0;
  for (auto&& [axis, size, step] : views::zip(views::iota(0), dims.dims(), in)) {
    if (!((axes >> axis) & 1)) continue;
    offset += (size - 1) * step;
    step = -step;
  }
  copy_strided(c, c.in[0].data, c.out[0].data, c.in[0].type, box(dims, in, out), offset, 0);
}

// ------------------------------------------------------------------------------------------ indices

namespace {

kernels::gather_geometry gather_geometry_of(const launch_call& c, const shape& x, const shape& indices) {
  const auto [axis, batch] = resolved(c, resolved_geometry::kind::axis).axis;
  return {.outer = extent_of(x, batch, axis),
          .axis = x[axis],
          .inner = extent_of(x, axis + 1, x.rank()),
          .count = extent_of(indices, batch, indices.rank()),
          .batch = extent_of(x, 0, batch)};
}

template <class T>
void check_each(const launch_call& c, const T* indices, std::int64_t count, std::int64_t limit) {
  for (std::int64_t i = 0; i < count; ++i)
    if (indices[i] < 0 || indices[i] >= limit)
      c.call.refuse("index " + std::to_string(indices[i]), "indices from 0 to " + std::to_string(limit - 1));
}

void check_indices(const launch_call& c, const view& indices, std::int64_t limit) {
  const std::int64_t count = indices.dims.size();
  if (indices.type == dtype::int32) return check_each(c, static_cast<const std::int32_t*>(indices.data), count, limit);
  if (limit > std::numeric_limits<std::int32_t>::max())
    c.call.refuse("an axis of " + std::to_string(limit) + " elements", "at most 2^31 - 1 where it is indexed");
  check_each(c, static_cast<const std::int64_t*>(indices.data), count, limit);
}

// A list of indices for each batch: chunks of batches.
void run_batches(const launch_call& c, const kernels::gather_geometry& g) {
  if (g.batch == 0) return;
  run_slices(c, g.batch, std::max(c.in[0].dims.size(), c.out[0].dims.size()), 0,
             [&](std::int64_t batch, const void* const* in, void* const* out) {
               kernels::gather_geometry part = g;
               part.batch = batch;
               c.kernel.run(in, out, &part);
             });
}

// Rows added up at their ids in chunks of segments, each of which looks at all ids: a segment gets its rows in their
// order. False where that does not pay: looking at an id takes as long as adding sixteen elements.
bool split_segments(const launch_call& c, const kernels::segment_geometry& g) {
  const std::int64_t wanted = std::min({g.inner / 128, g.segments, std::int64_t{16}});
  if (wanted < 2 || c.from != backend::simd || !worth_splitting(c, g.rows * g.inner, 1)) return false;
  const std::int64_t piece = (g.segments + wanted - 1) / wanted, chunks = (g.segments + piece - 1) / piece;
  const kernel_slot& kernel = kernel_of<"UnsortedSegmentSum">(c.from, c.out[0].type);
  const auto* ids = static_cast<const std::uint32_t*>(c.in[1].data);
  const tensor scratch = tensor_access::adopt(allocate(dtype::int32, {chunks, g.rows}));
  auto* const shifted = reinterpret_cast<std::uint32_t*>(tensor_access::buffer(scratch)->data);
  const std::int64_t segment_bytes = g.inner * static_cast<std::int64_t>(size_of(c.out[0].type));
  in_chunks(g.segments, piece, 0, [&](std::int64_t begin, std::int64_t count) {
    std::uint32_t* const own = shifted + begin / piece * g.rows;
    for (std::int64_t r = 0; r < g.rows; ++r) own[r] = ids[r] - static_cast<std::uint32_t>(begin);
    const kernels::segment_geometry part{g.rows, g.inner, count};
    const void* in[] = {c.in[0].data, own};
    void* out[] = {advanced(c.out[0].data, begin * segment_bytes)};
    kernel.run(in, out, &part);
  });
  return true;
}

}  // namespace

void gather(const launch_call& c) {
  const kernels::gather_geometry g = gather_geometry_of(c, c.in[0].dims, c.in[1].dims);
  check_indices(c, c.in[1], g.axis);
  if (has_wide_indices(c, 1)) return on_int32(c, 1, gather);
  // One list of indices for all is the common case: chunks of indices, or of slices that are all looked up alike.
  if (g.batch == 1 && g.outer == 1) {
    run_slices(c, g.count, c.out[0].dims.size(), 1, [&](std::int64_t count, const void* const* in, void* const* out) {
      kernels::gather_geometry part = g;
      part.count = count;
      c.kernel.run(in, out, &part);
    });
  } else if (g.batch == 1) {
    run_slices(c, g.outer, c.out[0].dims.size(), 2, [&](std::int64_t outer, const void* const* in, void* const* out) {
      kernels::gather_geometry part = g;
      part.outer = outer;
      c.kernel.run(in, out, &part);
    });
  } else {
    run_batches(c, g);
  }
}

void gather_grad(const launch_call& c) {
  const kernels::gather_geometry g = gather_geometry_of(c, c.out[0].dims, c.in[1].dims);
  check_indices(c, c.in[1], g.axis);
  if (c.out[0].dims.size() == 0) return;
  if (has_wide_indices(c, 1)) return on_int32(c, 1, gather_grad);
  if (g.batch != 1) return run_batches(c, g);
  if (g.outer == 1 && split_segments(c, {g.count, g.inner, g.axis})) return;
  run_slices(c, g.outer, c.in[0].dims.size(), 2, [&](std::int64_t outer, const void* const* in, void* const* out) {
    kernels::gather_geometry part = g;
    part.outer = outer;
    c.kernel.run(in, out, &part);
  });
}

void segment_sum(const launch_call& c) {
  if (has_wide_indices(c, 1)) return on_int32(c, 1, segment_sum);
  const int rank = c.in[1].dims.rank();
  const kernels::segment_geometry g{c.in[1].dims.size(), extent_of(c.in[0].dims, rank, c.in[0].dims.rank()),
                                    c.out[0].dims[0]};
  if (!split_segments(c, g)) run_kernel_of(c, g);
}

void one_hot(const launch_call& c) {
  if (has_wide_indices(c, 0)) return on_int32(c, 0, one_hot);
  const kernels::one_hot_geometry g{.outer = c.in[0].dims.size(),
                                    .depth = c.call.attr(place_in(attributes::one_hot, "depth")).as_integer(),
                                    .inner = 1,
                                    .on = c.call.attr(place_in(attributes::one_hot, "onValue")).as_number(),
                                    .off = c.call.attr(place_in(attributes::one_hot, "offValue")).as_number(),
                                    .to = c.out[0].type};
  run_slices(c, g.outer, c.out[0].dims.size(), 0, [&](std::int64_t outer, const void* const* in, void* const* out) {
    kernels::one_hot_geometry part = g;
    part.outer = outer;
    c.kernel.run(in, out, &part);
  });
}

}  // namespace kerngrad::launch
