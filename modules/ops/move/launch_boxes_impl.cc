// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops that take or place boxes of elements: each is one strided copy, or one for every box.
module;
#include <algorithm>
#include <range/v3/numeric/inner_product.hpp>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
#include "kernels/move/borders.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

namespace views = ranges::views;
using namespace detail;

namespace {

// The boxes of StridedSlice in x and in the packed result, `dims` being those of x.
enum class strided { taken, placed };
void copy_strided_box(const launch_call& c, const shape& dims, strided direction) {
  const shapes::strided_box box = shapes::strided_box_of(c.call, dims);
  const std::size_t rank = static_cast<std::size_t>(dims.rank());
  const axis_strides whole = strides_of(dims), part = strides_of(shape(std::span(box.size, rank)));
  const std::int64_t offset = ranges::inner_product(whole, std::span(box.begin, rank), std::int64_t{0});
  copy_axes axes;
  for (const auto& [size, step, in, out] :
       views::zip(std::span(box.size, rank), std::span(box.stride, rank), whole, part))
    axes.push_back(direction == strided::taken ? copy_axis{size, in * step, out} : copy_axis{size, out, in * step});
  const auto [from, to] =
      direction == strided::taken ? std::pair(offset, std::int64_t{0}) : std::pair(std::int64_t{0}, offset);
  copy_strided(c, c.in[0].data, c.out[0].data, c.out[0].type, axes, from, to);
}

void fill_with_zeros(const launch_call& c) { fill_with(c, c.out[0].data, c.out[0].type, c.out[0].dims.size(), 0); }

}  // namespace

void strided_slice(const launch_call& c) { copy_strided_box(c, c.in[0].dims, strided::taken); }

void strided_slice_grad(const launch_call& c) {
  fill_with_zeros(c);
  copy_strided_box(c, c.out[0].dims, strided::placed);
}

// ------------------------------------------------------------------------------------------ mirrors

namespace {

// A run of elements on one axis of MirrorPad: where it starts on either side, and its step in x.
struct mirrored_run {
  std::int64_t size, from, step, to;
};

// Every box that has one run on each axis. `axes` are those before the next axis.
void copy_runs(const launch_call& c, std::span<const std::vector<mirrored_run>> runs, const axis_strides& in,
               const axis_strides& out, const copy_axes& axes, std::int64_t from, std::int64_t to) {
  const std::size_t axis = static_cast<std::size_t>(axes.size());
  if (axis == runs.size()) return copy_strided(c, c.in[0].data, c.out[0].data, c.out[0].type, axes, from, to);
  for (const mirrored_run& run : runs[axis]) {
    copy_axes longer = axes;
    longer.push_back({run.size, run.step * in[axis], out[axis]});
    copy_runs(c, runs, in, out, longer, from + run.from * in[axis], to + run.to * out[axis]);
  }
}

}  // namespace

void mirror_pad(const launch_call& c) {
  if (c.out[0].dims.size() == 0) return;
  const shape& dims = c.in[0].dims;
  const std::span<const std::int64_t> pairs = c.call.attr(place_in(attributes::mirror_pad, "paddings")).as_list();
  const std::int64_t skipped = c.call.attr(place_in(attributes::mirror_pad, "mode")).as_text() == "reflect" ? 1 : 0;
  std::vector<std::vector<mirrored_run>> runs;
  for (int axis = 0; axis < dims.rank(); ++axis) {
    const std::int64_t before = pairs[2 * static_cast<std::size_t>(axis)],
                       after = pairs[2 * static_cast<std::size_t>(axis) + 1], size = dims[axis];
    std::vector<mirrored_run>& of_axis = runs.emplace_back();
    if (before > 0) of_axis.push_back({before, before - 1 + skipped, -1, 0});
    of_axis.push_back({size, 0, 1, before});
    if (after > 0) of_axis.push_back({after, size - 1 - skipped, -1, before + size});
  }
  copy_runs(c, runs, strides_of(dims), strides_of(c.out[0].dims), {}, 0, 0);
}

// The axes before the first border are one, whose indices several threads share.
void repeat_pad(const launch_call& c) {
  const std::int64_t elements = c.out[0].dims.size();
  if (elements == 0) return;
  const shape& dims = c.in[0].dims;
  const std::span<const std::int64_t> pairs = c.call.attr(place_in(attributes::repeat_pad, "paddings")).as_list();
  const int first =
      static_cast<int>(std::ranges::find_if(pairs, [](std::int64_t pad) { return pad > 0; }) - pairs.begin()) / 2;
  const std::int64_t outer = extent_of(dims, 0, first);
  kernels::repeat_geometry g{};
  g.wrap = c.call.attr(place_in(attributes::repeat_pad, "mode")).as_text() == "wrap";
  if (outer > 1 || first == dims.rank()) g.dims[g.rank++] = outer;
  for (int axis = first; axis < dims.rank(); ++axis, ++g.rank) {
    const std::size_t pair = 2 * static_cast<std::size_t>(axis);
    g.before[g.rank] = pairs[pair], g.dims[g.rank] = dims[axis], g.after[g.rank] = pairs[pair + 1];
  }
  if (outer == 1 || elements < split_least) return run_kernel_of(c, g);
  run_slices(c, outer, elements, 0, [&](std::int64_t count, const void* const* in, void* const* out) {
    kernels::repeat_geometry part = g;
    part.dims[0] = count;
    c.kernel.run(in, out, &part);
  });
}

// ------------------------------------------------------------------------------------------ blocks

namespace {

// One cell in the blocks of SpaceToBatchND and BatchToSpaceND: what of each axis of the whole lies there.
class block_cells {
 public:
  block_cells(const shapes::blocks_of_call& blocks, const view& whole, const view& blocked)
      : whole_(whole),
        blocked_(blocked),
        blocks_(blocks),
        in_whole_(strides_of(whole.dims)),
        in_blocked_(strides_of(blocked.dims)) {}

  template <class F>
  void each(const F& copy) const {
    if (whole_.dims.size() == 0 || blocked_.dims.size() == 0) return;
    for (std::int64_t cell = 0; cell < blocks_.count; ++cell) copy_cell(cell, copy);
  }

 private:
  // Cells are counted in the order of the block's axes, the last one fastest, and are the outer part of the batch.
  template <class F>
  void copy_cell(std::int64_t cell, const F& copy) const {
    std::int64_t whole_at = 0, blocked_at = cell * whole_.dims[0] * in_blocked_[0], rest = cell;
    std::vector<std::array<std::int64_t, 3>> axes(static_cast<std::size_t>(whole_.dims.rank()));
    for (int axis = whole_.dims.rank() - 1; axis >= 0; --axis) {
      const std::size_t i = static_cast<std::size_t>(axis);
      axes[i] = {whole_.dims[axis], in_whole_[i], in_blocked_[i]};
      if (axis == 0 || i > blocks_.sizes.size()) continue;
      const std::int64_t block = blocks_.sizes[i - 1], before = blocks_.around[2 * (i - 1)];
      const std::int64_t within =
          std::exchange(rest, rest / block) % block - before;  // where index 0 lies in the whole
      const std::int64_t first = within < 0 ? (-within + block - 1) / block : 0;
      const std::int64_t end = std::min(blocked_.dims[axis], (whole_.dims[axis] - 1 - within) / block + 1);
      if (whole_.dims[axis] <= within || end <= first) return;
      axes[i] = {end - first, in_whole_[i] * block, in_blocked_[i]};
      whole_at += (first * block + within) * in_whole_[i];
      blocked_at += first * in_blocked_[i];
    }
    copy(axes, whole_at, blocked_at);
  }

  const view &whole_, &blocked_;
  const shapes::blocks_of_call& blocks_;
  axis_strides in_whole_, in_blocked_;
};

}  // namespace

void space_to_batch(const launch_call& c) {
  const shapes::blocks_of_call blocks = shapes::blocks_of(c.call, shapes::paddings_of_blocks);
  if (std::ranges::any_of(blocks.around, [](std::int64_t value) { return value > 0; })) fill_with_zeros(c);
  block_cells(blocks, c.in[0], c.out[0]).each([&](const auto& axes, std::int64_t whole_at, std::int64_t blocked_at) {
    copy_axes from_whole;
    for (const auto& [size, whole, blocked] : axes) from_whole.push_back({size, whole, blocked});
    copy_strided(c, c.in[0].data, c.out[0].data, c.out[0].type, from_whole, whole_at, blocked_at);
  });
}

void batch_to_space(const launch_call& c) {
  const shapes::blocks_of_call blocks = shapes::blocks_of(c.call, shapes::crops_of_blocks);
  block_cells(blocks, c.out[0], c.in[0]).each([&](const auto& axes, std::int64_t whole_at, std::int64_t blocked_at) {
    copy_axes from_blocks;
    for (const auto& [size, whole, blocked] : axes) from_blocks.push_back({size, blocked, whole});
    copy_strided(c, c.in[0].data, c.out[0].data, c.out[0].type, from_blocks, blocked_at, whole_at);
  });
}

void depth_to_space(const launch_call& c) {
  const shape &x = c.in[0].dims, &y = c.out[0].dims;
  const bool first = c.call.attr(place_in(attributes::depth_to_space, "dataFormat")).as_text() == "NCHW";
  const std::int64_t block = c.call.attr(place_in(attributes::depth_to_space, "blockSize")).as_integer();
  const int channels = first ? 1 : 3, height = first ? 2 : 1;
  const auto blocked = [&](std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t depth) {
    return first ? shape{n, block, block, depth, h, w} : shape{n, h, w, block, block, depth};
  };
  const shape cut = blocked(x[0], x[height], x[height + 1], y[channels]);
  if (first) permute(c, c.in[0].data, c.out[0].data, c.out[0].type, cut, std::array{0, 3, 4, 1, 5, 2});
  else permute(c, c.in[0].data, c.out[0].data, c.out[0].type, cut, std::array{0, 1, 3, 2, 4, 5});
}

void diag(const launch_call& c) {
  const std::int64_t count = c.in[0].dims.size();
  fill_with_zeros(c);
  copy_strided(c, c.in[0].data, c.out[0].data, c.out[0].type, {{count, 1, count + 1}});
}

}  // namespace kerngrad::launch
