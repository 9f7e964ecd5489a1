// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops whose rows of indices each name a slice: the rows become one index each, with which the kernels
// of gathers, segment sums and scatters run. And of those that take shapes or bounds as operands.
module;
#include <algorithm>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/move/combine.h"
#include "kernels/move/move.h"
#include "kernels/move/nonzero.h"
module kerngrad;

import :geometry;

namespace kerngrad::detail {

kernels::combination reduction_of(const launch_call& c) {
  const std::string_view name = c.call.attr("reduction").as_text();
  return name == "add"                     ? kernels::combination::add
         : name == "mul" || name == "prod" ? kernels::combination::mul
         : name == "max"                   ? kernels::combination::max
         : name == "min"                   ? kernels::combination::min
                                           : kernels::combination::mean;
}

}  // namespace kerngrad::detail

namespace kerngrad::launch {

using namespace detail;

namespace {

// An element of a list of int32 or int64.
std::int64_t integer_at(const view& list, std::int64_t i) {
  return list.type == dtype::int32 ? static_cast<const std::int32_t*>(list.data)[i]
                                   : static_cast<const std::int64_t*>(list.data)[i];
}

// One index for each row, all of which are checked.
template <class T>
void flatten(const launch_call& c, const T* indices, const shapes::index_rows& rows, const shape& dims,
             std::int32_t* flat) {
  for (std::int64_t r = 0; r < rows.count; ++r, indices += rows.depth) {
    std::int64_t slice = 0;
    for (int axis = 0; axis < rows.depth; ++axis) {
      const std::int64_t index = indices[axis];
      if (index < 0 || index >= dims[axis])
        c.call.refuse("index " + std::to_string(index) + " in row " + std::to_string(r) + " of the indices",
                      "indices from 0 to " + std::to_string(dims[axis] - 1) + " into axis " + std::to_string(axis) +
                          " of shape " + to_string(dims));
      slice = slice * dims[axis] + index;
    }
    flat[r] = static_cast<std::int32_t>(slice);
  }
}

tensor flat_indices(const launch_call& c, const view& indices, const shapes::index_rows& rows, const shape& dims) {
  tensor flat = tensor_access::adopt(allocate(dtype::int32, {rows.count}));
  auto* const to = reinterpret_cast<std::int32_t*>(tensor_access::buffer(flat)->data);
  if (indices.type == dtype::int32) flatten(c, static_cast<const std::int32_t*>(indices.data), rows, dims, to);
  else flatten(c, static_cast<const std::int64_t*>(indices.data), rows, dims, to);
  return flat;
}

view list_view(const tensor& flat) { return {tensor_access::buffer(flat)->data, flat.dims(), flat.type()}; }

// The same call on slices, which another op's launcher takes.
void on_slices(const launch_call& c, std::initializer_list<view> in, view out, launch_fn launch) {
  launch({.call = c.call,
          .kernel = c.kernel,
          .from = c.from,
          .built_in = c.built_in,
          .in = std::span(in.begin(), in.size()),
          .out = std::span(&out, 1)});
}

void scatter_rows(const launch_call& c, const void* x, const tensor& flat, const kernels::scatter_geometry& g) {
  const void* in[] = {x, list_view(flat).data};
  c.kernel.run(in, &c.out[0].data, &g);
}

// Combines rows at their indices in chunks of rows of y. Each chunk looks at all indices, so that a row of y gets its
// rows in their order. Looking at an index takes as long as adding sixteen elements.
void combine_rows(const launch_call& c, const void* x, const void* indices, const kernels::combine_geometry& g) {
  const std::int64_t wanted = std::min({g.inner / 128, g.y_rows, std::int64_t{16}});
  const bool split = wanted > 1 && worth_splitting(c, kernels::saturated_product(g.rows, g.inner), 1);
  const std::int64_t bytes = g.inner * static_cast<std::int64_t>(size_of(c.out[0].type));
  in_chunks(g.y_rows, split ? (g.y_rows + wanted - 1) / wanted : g.y_rows, 0,
            [&](std::int64_t begin, std::int64_t count) {
              kernels::combine_geometry part = g;
              part.first = begin;
              part.y_rows = count;
              if (g.counts) part.counts = g.counts + begin;
              const void* in[] = {x, indices};
              void* out[] = {advanced(c.out[0].data, begin * bytes)};
              c.kernel.run(in, out, &part);
            });
}

// y starts as x, operand 0.
void start_as_operand(const launch_call& c) {
  copy_strided(c, c.in[0].data, c.out[0].data, c.out[0].type, {{c.out[0].dims.size(), 1, 1}});
}

}  // namespace

void gather_nd(const launch_call& c) {
  const shapes::index_rows rows = shapes::gathered_rows(c.call);
  const tensor flat = flat_indices(c, c.in[1], rows, c.in[0].dims);
  on_slices(c, {{c.in[0].data, {rows.slices, rows.inner}, c.in[0].type}, list_view(flat)},
            {c.out[0].data, {rows.count, rows.inner}, c.out[0].type}, gather);
}

void scatter_nd(const launch_call& c) {
  const shapes::index_rows rows = shapes::scatter_rows_of(c.call);
  const tensor flat = flat_indices(c, c.in[0], rows, c.out[0].dims);
  on_slices(c, {{c.in[1].data, {rows.count, rows.inner}, c.in[1].type}, list_view(flat)},
            {c.out[0].data, {rows.slices, rows.inner}, c.out[0].type}, segment_sum);
}

void tensor_scatter_update(const launch_call& c) {
  const shapes::index_rows rows = shapes::update_rows_of(c.call);
  const tensor flat = flat_indices(c, c.in[1], rows, c.in[0].dims);
  start_as_operand(c);
  scatter_rows(c, c.in[2].data, flat, {rows.count, rows.inner, rows.inner});
}

void tensor_scatter_reduce(const launch_call& c) {
  const shapes::index_rows rows = shapes::update_rows_of(c.call);
  const tensor flat = flat_indices(c, c.in[1], rows, c.in[0].dims);
  start_as_operand(c);
  combine_rows(c, c.in[2].data, list_view(flat).data,
               {.rows = rows.count,
                .inner = rows.inner,
                .step = rows.inner,
                .first = 0,
                .y_rows = rows.slices,
                .how = reduction_of(c),
                .fresh = false});
}

void segment_reduce(const launch_call& c) {
  if (has_wide_indices(c, 1)) return on_int32(c, 1, segment_reduce);
  const shape& x = c.in[0].dims;
  const std::int64_t inner = extent_of(x, c.in[1].dims.rank(), x.rank()), segments = c.out[0].dims[0];
  const kernels::combination how = reduction_of(c);
  kernels::scratch<std::int64_t> counts;
  combine_rows(c, c.in[0].data, c.in[1].data,
               {.rows = c.in[1].dims.size(),
                .inner = inner,
                .step = inner,
                .first = 0,
                .y_rows = segments,
                .how = how,
                .fresh = true,
                .counts = how == kernels::combination::mean ? counts.reach(segments) : nullptr});
}

void sparse_to_dense(const launch_call& c) {
  const shapes::index_rows rows = shapes::sparse_rows_of(c.call);
  const tensor flat = flat_indices(c, c.in[0], rows, c.out[0].dims);
  copy_strided(c, c.in[2].data, c.out[0].data, c.out[0].type, {{c.out[0].dims.size(), 0, 1}});
  scatter_rows(c, c.in[1].data, flat, {rows.count, 1, c.in[1].dims.rank()});
}

void broadcast_args(const launch_call& c) {
  const std::int64_t count = c.out[0].dims[0];
  const auto size_at = [&](const view& sizes, std::int64_t i) {
    const std::int64_t at = i - (count - sizes.dims[0]);
    return at < 0 ? std::int64_t{1} : integer_at(sizes, at);
  };
  const auto broadcast_size = [&](std::int64_t i) {
    const std::int64_t a = size_at(c.in[0], i), b = size_at(c.in[1], i);
    if (a != b && a != 1 && b != 1)
      c.call.refuse("the sizes " + std::to_string(a) + " and " + std::to_string(b) + " at " + std::to_string(i),
                    "shapes that broadcast: aligned at the last size, each pair equal or one of them 1");
    return a == 1 ? b : a;
  };
  for (std::int64_t i = 0; i < count; ++i) broadcast_size(i);  // rejected before anything is written
  for (std::int64_t i = 0; i < count; ++i)
    if (c.out[0].type == dtype::int32)
      static_cast<std::int32_t*>(c.out[0].data)[i] = static_cast<std::int32_t>(broadcast_size(i));
    else static_cast<std::int64_t*>(c.out[0].data)[i] = broadcast_size(i);
}

void band_part(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  const std::int64_t rows = dims[dims.rank() - 2], columns = dims[dims.rank() - 1];
  const auto width = [&](std::size_t at, std::int64_t most, std::string_view of) {
    const std::int64_t given = integer_at(c.in[at], 0);
    if (given > most)
      c.call.refuse(std::string(c.call.row.operands[at].name) + " " + std::to_string(given),
                    "at most the number of " + std::string(of) + ", " + std::to_string(most));
    return given < 0 ? most : given;
  };
  const std::int64_t lower = width(1, rows, "rows"), upper = width(2, columns, "columns");
  if (dims.size() == 0) return;
  const std::int64_t all = dims.size() / columns, bytes = columns * static_cast<std::int64_t>(size_of(c.out[0].type));
  const std::int64_t chunk =
      worth_splitting(c, dims.size(), 1) ? std::max(chunk_elements(1) / columns, std::int64_t{1}) : all;
  in_chunks(all, chunk, all * bytes, [&](std::int64_t begin, std::int64_t count) {
    const kernels::band_geometry g{count, begin, rows, columns, lower, upper};
    const void* in[] = {advanced(c.in[0].data, begin * bytes)};
    void* out[] = {advanced(c.out[0].data, begin * bytes)};
    c.kernel.run(in, out, &g);
  });
}

void nonzero(const launch_call& c) {
  const shape& dims = c.in[0].dims;
  std::int64_t count = 0;
  kernels::nonzero_geometry g{.rank = dims.rank(), .dims = {}, .count = &count};
  std::copy(dims.begin(), dims.end(), g.dims);
  run_kernel_of(c, g);
  made(c, 0, {count, dims.rank()});
}

}  // namespace kerngrad::launch
