// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops whose indices name elements along an axis: block by block they become one index each into the
// rows of x, with which the kernels of gathers and scatters run.
module;
#include <algorithm>
#include <array>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/move/combine.h"
#include "kernels/move/move.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

using namespace detail;

namespace {

// Indices from -size to size - 1; a refusal names the first that is not.
template <class T>
void check_signed(const launch_call& c, const T* indices, std::int64_t count, std::int64_t size) {
  bool outside = false;  // of all together, which vectors find
  for (std::int64_t i = 0; i < count; ++i) outside |= (indices[i] >= size) | (indices[i] < -size);
  if (!outside) return;
  std::int64_t i = 0;
  while (indices[i] < size && indices[i] >= -size) ++i;
  c.call.refuse("index " + std::to_string(indices[i]) + " at " + std::to_string(i) + " of the indices",
                "indices from " + std::to_string(-size) + " to " + std::to_string(size - 1));
}

// The rows of x that the indices name, in the order of the shape that both broadcast to.
class indices_along {
 public:
  explicit indices_along(const launch_call& c) : all(shapes::rows_along(c.call)), indices_(c.in[1]) {
    const shape &x = c.in[0].dims, &at = indices_.dims;
    size_ = x[all.axis];
    if (wide()) check_signed(c, static_cast<const std::int64_t*>(indices_.data), at.size(), size_);
    else check_signed(c, static_cast<const std::int32_t*>(indices_.data), at.size(), size_);
    std::int64_t of_x = 1, of_indices = 1;
    for (int i = all.walked - 1; i >= 0; --i) {
      in_x_[i] = x[i] == 1 && i != all.axis ? 0 : of_x;
      in_indices_[i] = at[i] == 1 ? 0 : of_indices;
      of_x *= x[i];
      of_indices *= at[i];
    }
  }

  /// Writes `count` elements from `begin` on.
  void write(std::int64_t begin, std::int64_t count, std::int32_t* to) const {
    if (wide()) write_of(static_cast<const std::int64_t*>(indices_.data), begin, count, to);
    else write_of(static_cast<const std::int32_t*>(indices_.data), begin, count, to);
  }

  const shapes::rows_of_axis all;

 private:
  bool wide() const { return indices_.type == dtype::int64; }

  template <class T>
  void write_of(const T* indices, std::int64_t begin, std::int64_t count, std::int32_t* to) const {
    const int last = all.walked - 1;
    const std::int64_t line = all.dims[last];
    while (count > 0) {
      const std::int64_t at = begin % line, n = std::min(line - at, count);
      std::int64_t first = 0, row = last == all.axis ? 0 : at * in_x_[last];
      for (std::int64_t i = last - 1, rest = begin / line; i >= 0; rest /= all.dims[i], --i) {
        first += rest % all.dims[i] * in_indices_[i];
        if (i != all.axis) row += rest % all.dims[i] * in_x_[i];
      }
      write_line(indices + first + at * in_indices_[last], n, row, last == all.axis ? 0 : in_x_[last], to);
      begin += n, count -= n, to += n;
    }
  }

  // Rows from `row` on in steps, each moved along the axis by its index. No row is beyond 2^31.
  template <class T>
  void write_line(const T* indices, std::int64_t count, std::int64_t row, std::int64_t step, std::int32_t* to) const {
    const auto size = static_cast<std::uint32_t>(size_), axis = static_cast<std::uint32_t>(in_x_[all.axis]);
    auto at = static_cast<std::uint32_t>(row);
    const auto from_front = [&](T index) { return static_cast<std::uint32_t>(index) + (index < 0 ? size : 0); };
    if (axis == 1 && step == 0)
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::int32_t>(at + from_front(indices[i]));
    else
      for (std::int64_t i = 0; i < count; ++i, at += static_cast<std::uint32_t>(step))
        to[i] = static_cast<std::int32_t>(at + from_front(indices[i]) * axis);
  }

  view indices_;
  std::int64_t size_ = 0;
  std::int64_t in_x_[max_rank]{}, in_indices_[max_rank]{};  // steps of the walked axes, of x in rows
};

// Calls run(begin, count, rows) for blocks of indices, in their order within chunks of `chunk` of them.
template <class Run>
void in_blocks(const indices_along& indices, std::int64_t chunk, std::int64_t result_bytes, const Run& run) {
  in_chunks(indices.all.rows, chunk, result_bytes, [&](std::int64_t begin, std::int64_t count) {
    std::array<std::int32_t, 1024> rows;
    for (const std::int64_t end = begin + count; begin < end;) {
      const std::int64_t n = std::min(end - begin, static_cast<std::int64_t>(rows.size()));
      indices.write(begin, n, rows.data());
      run(begin, n, rows.data());
      begin += n;
    }
  });
}

// Slices before the axis, which write to slices of their own. One where x broadcasts there.
std::int64_t slices_of(const launch_call& c, const shapes::rows_of_axis& all) {
  std::int64_t slices = 1;
  for (int i = 0; i < all.axis; ++i) {
    if (c.in[0].dims[i] != all.dims[i]) return 1;
    slices *= all.dims[i];
  }
  return slices;
}

// Number of indices in a chunk of a scatter: those of whole slices.
std::int64_t scattered_chunk(const launch_call& c, const shapes::rows_of_axis& all) {
  const std::int64_t slices = slices_of(c, all);
  if (all.rows == 0 || slices < 2 || !worth_splitting(c, all.rows * all.inner, 2)) return all.rows;
  const std::int64_t slice = all.rows / slices;
  return slice * std::max(std::int64_t{1}, chunk_elements(2) / (slice * all.inner));
}

// The updates as a row for each index, or one row for all.
struct updating_rows {
  const void* data;
  std::int64_t step;
  tensor own{};  // where they were broadcast
};
updating_rows updates_of(const launch_call& c, const shapes::rows_of_axis& all) {
  const view& given = c.in[2];
  const bool one = given.dims.size() == 1;
  if (given.dims == all.dims || (one && all.inner == 1)) return {given.data, one ? 0 : all.inner};
  const shape dims = one ? shape{all.inner} : all.dims;
  tensor own = tensor_access::adopt(allocate(given.type, dims));
  view to{tensor_access::buffer(own)->data, dims, given.type};
  const view from[] = {{given.data, one ? shape{} : given.dims, given.type}};
  broadcast_to({.call = c.call,
                .kernel = c.kernel,
                .from = c.from,
                .built_in = c.built_in,
                .in = from,
                .out = std::span(&to, 1)});
  return {to.data, one ? 0 : all.inner, std::move(own)};
}

// x with its rows at the indices changed: make(rows, inner, step) gives the geometry for some of them.
template <class Make>
void change_rows(const launch_call& c, const Make& make) {
  const indices_along indices(c);
  const updating_rows updates = updates_of(c, indices.all);
  const std::int64_t row_bytes = updates.step * static_cast<std::int64_t>(size_of(c.out[0].type));
  copy_strided(c, c.in[0].data, c.out[0].data, c.out[0].type, {{c.out[0].dims.size(), 1, 1}});
  if (indices.all.inner == 0) return;
  in_blocks(indices, scattered_chunk(c, indices.all), 0,
            [&](std::int64_t begin, std::int64_t count, const std::int32_t* rows) {
              const auto g = make(count, indices.all.inner, updates.step);
              const void* in[] = {advanced(updates.data, begin * row_bytes), rows};
              c.kernel.run(in, &c.out[0].data, &g);
            });
}

// Sums of float32 are carried in double and rounded at the end of each call of the kernel. So a chunk is one call, and
// has the rows of its slices to itself.
void add_chunks(const launch_call& c) {
  const indices_along indices(c);
  const shapes::rows_of_axis& all = indices.all;
  const updating_rows updates = updates_of(c, all);
  const std::int64_t elements = c.out[0].dims.size(), size = static_cast<std::int64_t>(sizeof(float));
  copy_strided(c, c.in[0].data, c.out[0].data, c.out[0].type, {{elements, 1, 1}});
  if (all.inner == 0 || all.rows == 0) return;
  const std::int64_t slices = slices_of(c, all), slice = all.rows / slices, y_rows_each = elements / all.inner / slices;
  in_chunks(all.rows, scattered_chunk(c, all), 0, [&](std::int64_t begin, std::int64_t count) {
    kernels::scratch<std::int32_t> rows(count);
    indices.write(begin, count, rows.data());
    const std::int64_t first = begin / slice * y_rows_each;
    const kernels::combine_geometry g{.rows = count,
                                      .inner = all.inner,
                                      .step = updates.step,
                                      .first = first,
                                      .y_rows = count / slice * y_rows_each,
                                      .how = kernels::combination::add,
                                      .fresh = false};
    const void* in[] = {advanced(updates.data, begin * updates.step * size), rows.data()};
    void* out[] = {advanced(c.out[0].data, first * all.inner * size)};
    c.kernel.run(in, out, &g);
  });
}

}  // namespace

void take_along_axis(const launch_call& c) {
  const indices_along indices(c);
  const shapes::rows_of_axis& all = indices.all;
  const std::int64_t elements = c.out[0].dims.size(),
                     row_bytes = all.inner * static_cast<std::int64_t>(size_of(c.out[0].type));
  if (elements == 0) return;
  const std::int64_t chunk =
      worth_splitting(c, elements, 2) ? std::max(std::int64_t{1}, chunk_elements(2) / all.inner) : all.rows;
  in_blocks(indices, chunk, all.rows * row_bytes,
            [&](std::int64_t begin, std::int64_t count, const std::int32_t* rows) {
              const kernels::gather_geometry g{
                  .outer = 1, .axis = c.in[0].dims.size() / all.inner, .inner = all.inner, .count = count, .batch = 1};
              const void* in[] = {c.in[0].data, rows};
              void* out[] = {advanced(c.out[0].data, begin * row_bytes)};
              c.kernel.run(in, out, &g);
            });
}

void put_along_axis(const launch_call& c) {
  change_rows(c, [](std::int64_t rows, std::int64_t inner, std::int64_t step) {
    return kernels::scatter_geometry{rows, inner, step};
  });
}

void scatter_along_axis(const launch_call& c) {
  const kernels::combination how = reduction_of(c);
  if (how == kernels::combination::add && c.out[0].type == dtype::float32) return add_chunks(c);
  const std::int64_t elements = c.out[0].dims.size();
  change_rows(c, [&](std::int64_t rows, std::int64_t inner, std::int64_t step) {
    return kernels::combine_geometry{
        .rows = rows, .inner = inner, .step = step, .first = 0, .y_rows = elements / inner, .how = how, .fresh = false};
  });
}

}  // namespace kerngrad::launch
