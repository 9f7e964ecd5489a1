// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops on sparse and ragged tensors: what the shape rules could not check, then which rows go where.
module;
#include <algorithm>
#include <array>
#include <cstring>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/sparse/indices.h"
#include "kernels/sparse/rows.h"
#include "kernels/sparse/segments.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

using namespace detail;
using shapes::listed_integer;
using shapes::with_listed_integers;

namespace {

// Writes a number to a result of int32 or int64.
void put_integer(const view& to, std::int64_t i, std::int64_t value) {
  if (to.type == dtype::int32) static_cast<std::int32_t*>(to.data)[i] = static_cast<std::int32_t>(value);
  else static_cast<std::int64_t*>(to.data)[i] = value;
}

// Rows of indices [count, rank] each inside of a shape.
void check_inside(const launch_call& c, const std::vector<std::int64_t>& sizes) {
  const view& indices = c.in[0];
  const auto rank = static_cast<std::int64_t>(sizes.size());
  with_listed_integers(indices, [&](const auto* index) {
    for (std::int64_t i = 0; i < indices.dims[0]; ++i)
      for (std::int64_t axis = 0; axis < rank; ++axis, ++index)
        if (*index < 0 || *index >= sizes[static_cast<std::size_t>(axis)])
          c.call.refuse("index " + std::to_string(*index) + " in row " + std::to_string(i) + " of " +
                            std::string(c.call.row.operands[0].name),
                        "indices from 0 to " + std::to_string(sizes[static_cast<std::size_t>(axis)] - 1) +
                            " into axis " + std::to_string(axis));
  });
}

// Integers of an operand as the int32 that kernels take; the shape rule or the caller has checked that they fit.
class int32_list {
 public:
  explicit int32_list(const view& from) {
    if (from.type == dtype::int32) {
      data_ = from.data;
      return;
    }
    std::int32_t* to = room_.reach(from.dims.size());
    const auto* wide = static_cast<const std::int64_t*>(from.data);
    std::transform(wide, wide + from.dims.size(), to, [](std::int64_t i) { return static_cast<std::int32_t>(i); });
    data_ = to;
  }
  const void* data() const { return data_; }

 private:
  kernels::scratch<std::int32_t> room_;
  const void* data_ = nullptr;
};

// Operand 1 names rows of operand 0.
void check_rows(const launch_call& c) {
  const std::int64_t rows = c.in[0].dims[0], count = c.in[1].dims[0];
  with_listed_integers(c.in[1], [&](const auto* index) {
    for (std::int64_t i = 0; i < count; ++i)
      if (index[i] < 0 || index[i] >= rows)
        c.call.refuse("indices with " + std::to_string(index[i]) + " at " + std::to_string(i),
                      "numbers of rows of " + std::string(c.call.row.operands[0].name) + ", from 0 to " +
                          std::to_string(rows - 1));
  });
}

}  // namespace

void sparse_fill_empty_rows(const launch_call& c) {
  check_inside(c, shapes::listed_integers(c.in[2]));
  std::int64_t count = 0;
  run_kernel_of(c, kernels::fill_rows_geometry{.count = c.in[0].dims[0],
                                               .rows = c.out[2].dims[0],
                                               .rank = c.in[0].dims[1],
                                               .wide = c.in[0].type == dtype::int64,
                                               .made = &count});
  made(c, 0, {count, c.in[0].dims[1]});
  made(c, 1, {count});
}

void sparse_reshape(const launch_call& c) {
  const std::vector<std::int64_t> from = shapes::listed_integers(c.in[1]), to = shapes::reshaped_sizes(c.call);
  check_inside(c, from);
  run_kernel_of(c, kernels::sparse_reshape_geometry{.count = c.in[0].dims[0],
                                                    .in_rank = static_cast<std::int64_t>(from.size()),
                                                    .out_rank = static_cast<std::int64_t>(to.size()),
                                                    .in_dims = from.data(),
                                                    .out_dims = to.data()});
  for (std::size_t i = 0; i < to.size(); ++i) put_integer(c.out[1], static_cast<std::int64_t>(i), to[i]);
}

void sparse_segments(const launch_call& c) {
  const std::int64_t count = c.in[1].dims[0];
  check_rows(c);
  const int32_list indices(c.in[1]), ids(c.in[2]);
  const void* in[] = {c.in[0].data, indices.data(), ids.data()};
  void* out[] = {c.out[0].data};
  const shape& dims = c.out[0].dims;
  const kernels::sparse_segment_geometry g{
      .count = count, .inner = extent_of(dims, 1, dims.rank()), .segments = dims[0]};
  c.kernel.run(in, out, &g);
}

void embedding_bag(const launch_call& c) {
  check_rows(c);
  const shape& dims = c.out[0].dims;
  if (dims.size() == 0) return;
  const std::string_view mode = c.call.attr(place_in(attributes::embedding_bag, "mode")).as_text();
  using combined = kernels::bag_geometry::combined;
  const kernels::bag_geometry g{.count = c.in[1].dims[0],
                                .inner = extent_of(dims, 1, dims.rank()),
                                .bags = dims[0],
                                .how = mode == "sum"   ? combined::sum
                                       : mode == "max" ? combined::max
                                                       : combined::mean};
  const int32_list indices(c.in[1]), offsets(c.in[2]);
  const void* in[] = {c.in[0].data, indices.data(), offsets.data(), c.call.has(3) ? c.in[3].data : nullptr};
  void* out[] = {c.out[0].data};
  c.kernel.run(in, out, &g);
}

void ragged_range(const launch_call& c) {
  auto* splits = static_cast<std::int32_t*>(c.out[0].data);
  const std::int64_t rows = c.out[0].dims[0] - 1;
  splits[0] = 0;
  for (std::int64_t r = 0; r < rows; ++r)
    splits[r + 1] = static_cast<std::int32_t>(splits[r] + shapes::ragged_range_size(c.call, r));
  if (c.out[1].dims.size() == 0) return;
  run_kernel_of(
      c, kernels::ragged_range_geometry{
             .rows = rows, .start_step = c.in[0].dims.rank(), .delta_step = c.in[2].dims.rank(), .splits = splits});
}

namespace {

// Runs of rows, of which there is room for `most`: those that touch the one before lengthen it.
class run_list {
 public:
  explicit run_list(std::int64_t most) : runs_(most) {}
  void add(std::int64_t from, std::int64_t to, std::int64_t count) {
    if (count == 0) return;
    kernels::row_run* next = runs_.data() + count_;
    if (count_ > 0 && next[-1].from + next[-1].count == from && next[-1].to + next[-1].count == to) {
      next[-1].count += count;
    } else {
      *next = {from, to, count};
      ++count_;
    }
  }
  // Copies them from rows of x to those of y.
  void run(const launch_call& c, const view& x, const view& y, int outer_axes, const void* fill) {
    const kernels::row_runs_geometry g{.runs = runs_.data(),
                                       .count = count_,
                                       .inner = extent_of(y.dims, outer_axes, y.dims.rank()),
                                       .rows = extent_of(y.dims, 0, outer_axes),
                                       .fill = fill,
                                       .x_rows = x.dims[0]};
    const void* in[] = {x.data};
    void* out[] = {y.data};
    c.kernel.run(in, out, &g);
  }

 private:
  kernels::scratch<kernels::row_run> runs_;
  std::int64_t count_ = 0;
};

}  // namespace

void ragged_gather(const launch_call& c) {
  const view &values = c.in[0], &indices = c.in[1], &y = c.out.back();
  const std::span<const view> splits = c.in.subspan(2);
  const int rank = indices.dims.rank();
  // The axes of the indices but the last have rows of one length.
  std::int64_t outer = 1;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    outer *= indices.dims[axis];
    for (std::int64_t i = 0; i <= outer; ++i)
      put_integer(c.out[static_cast<std::size_t>(axis)], i, i * indices.dims[axis + 1]);
  }
  const int shift = rank - 1;  // from a level of splits to its result; the result of level 0 may be missing
  std::vector<std::int64_t> ends(splits.size(), 0), rows(splits.size(), 0);
  for (std::size_t level = rank > 0 ? 0 : 1; level < splits.size(); ++level)
    put_integer(c.out[static_cast<std::size_t>(static_cast<int>(level) + shift)], 0, 0);
  run_list runs(indices.dims.size());
  for (std::int64_t i = 0; i < indices.dims.size(); ++i) {
    std::int64_t begin = listed_integer(indices, i), end = begin + 1;
    for (std::size_t level = 0; level < splits.size(); ++level) {
      if (static_cast<int>(level) + shift >= 0) {
        const view& to = c.out[static_cast<std::size_t>(static_cast<int>(level) + shift)];
        const std::int64_t moved = ends[level] - listed_integer(splits[level], begin);
        for (std::int64_t r = begin; r < end; ++r)
          put_integer(to, ++rows[level], listed_integer(splits[level], r + 1) + moved);
      }
      begin = listed_integer(splits[level], begin);
      end = listed_integer(splits[level], end);
      if (level + 1 == splits.size()) runs.add(begin, ends[level], end - begin);
      ends[level] += end - begin;
    }
  }
  if (y.dims.size() > 0) runs.run(c, values, y, 1, nullptr);
}

namespace {

// Indices of a partition's rows among the rows of the result, -1 for those cut off: `width` rows for each parent.
void place_children(const view& partition, shapes::ragged_partitions::kind is, const std::int64_t* parents,
                    std::int64_t width, std::int64_t* positions) {
  const auto position = [&](std::int64_t parent, std::int64_t j) {
    return parents[parent] >= 0 && j < width ? parents[parent] * width + j : -1;
  };
  with_listed_integers(partition, [&](const auto* rows) {
    if (is == shapes::ragged_partitions::kind::row_splits) {
      for (std::int64_t r = 0; r + 1 < partition.dims[0]; ++r)
        for (std::int64_t i = rows[r]; i < rows[r + 1]; ++i) positions[i] = position(r, i - rows[r]);
      return;
    }
    std::int64_t first = 0;  // of the row
    for (std::int64_t i = 0; i < partition.dims[0]; ++i) {
      if (i > 0 && rows[i] != rows[i - 1]) first = i;
      positions[i] = position(rows[i], i - first);
    }
  });
}

}  // namespace

void ragged_to_tensor(const launch_call& c) {
  const view &values = c.in[1], &y = c.out[0];
  const shapes::ragged_partitions parts = shapes::partitions_of(c.call);
  const int ragged = static_cast<int>(parts.kinds.size());
  std::array<kernels::scratch<std::int64_t>, 2> room;
  std::int64_t* positions = room[0].reach(parts.rows);
  std::int64_t rows = parts.rows;
  for (std::int64_t i = 0; i < rows; ++i) positions[i] = i < y.dims[0] ? i : -1;
  for (int level = 0; level < ragged; ++level) {
    const view& partition = c.in[parts.first + static_cast<std::size_t>(level)];
    const auto is = parts.kinds[static_cast<std::size_t>(level)];
    rows = is == shapes::ragged_partitions::kind::row_splits ? listed_integer(partition, partition.dims[0] - 1)
                                                             : partition.dims[0];
    std::int64_t* children = room[static_cast<std::size_t>(level + 1) % 2].reach(rows);
    place_children(partition, is, positions, y.dims[level + 1], children);
    positions = children;
  }
  run_list runs(rows);
  for (std::int64_t i = 0; i < rows; ++i)
    if (positions[i] >= 0) runs.add(i, positions[i], 1);
  // The value of what is missing, broadcast.
  const shape inner(y.dims.dims().subspan(static_cast<std::size_t>(ragged) + 1));
  kernels::scratch<std::byte> fill(kernels::product_of(inner.size(), size_of(y.type)));
  copy_axes axes;
  const shape& given = c.in[2].dims;
  const axis_strides from = strides_of(given), to = strides_of(inner);
  for (int axis = 0; axis < inner.rank(); ++axis) {
    const int at = axis - (inner.rank() - given.rank());
    const bool repeated = at < 0 || given[at] == 1;
    axes.push_back(
        {inner[axis], repeated ? 0 : from[static_cast<std::size_t>(at)], to[static_cast<std::size_t>(axis)]});
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  copy_strided(c, c.in[2].data, fill.data(), y.type, axes);
  runs.run(c, values, y, ragged + 1, fill.data());
}

}  // namespace kerngrad::launch
