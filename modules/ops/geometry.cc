// SPDX-License-Identifier: Apache-2.0
// Strides and chunks, known inside the library only: how launchers walk shapes and split work.
module;
#include <algorithm>

#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/common/parallel.h"
#include "kernels/common/sizes.h"
#include "kernels/common/stream.h"
#include "kernels/move/combine.h"
#include "kernels/reduce/reduce.h"
#include "kernels/window/window.h"
module kerngrad:geometry;

import :std;
import :core;
import :op;
import :launch;

namespace kerngrad::detail {

/// One axis of a strided copy: its size, and the distance of its elements in source and destination, in elements.
struct copy_axis {
  std::int64_t size, in, out;
};
/// The axes of a strided copy, outermost first.
using copy_axes = small_list<copy_axis, max_rank>;
/// A stride for each axis of a shape, in elements; 0 after its last axis.
using axis_strides = std::array<std::int64_t, max_rank>;

/// Values that the shape rule of a call resolved for the launcher of its calling convention. Throws if the rule of a
/// custom op resolved nothing.
const resolved_geometry& resolved(const launch_call& c, resolved_geometry::kind wanted);
/// Row-major strides of a shape.
axis_strides strides_of(const shape& dims);
/// The product of the sizes of axes `first` to before `last`.
std::int64_t extent_of(const shape& dims, int first, int last);
/// Copies elements along axes, outermost first, by the `Transpose` kernel of the backend, which makes any strided copy.
void copy_strided(backend from, const void* in, void* out, dtype type, const copy_axes& axes,
                  std::int64_t in_offset = 0, std::int64_t out_offset = 0);
inline void copy_strided(const launch_call& c, const void* in, void* out, dtype type, const copy_axes& axes,
                         std::int64_t in_offset = 0, std::int64_t out_offset = 0) {
  copy_strided(c.from, in, out, type, axes, in_offset, out_offset);
}
/// Copies x with its axes permuted to a contiguous array.
void permute(const launch_call& c, const void* in, void* out, dtype type, const shape& dims, std::span<const int> perm);
/// The geometry of two or three operands that broadcast to a shape. Axes of size 1 are dropped, and neighboring axes
/// that all operands traverse as one are merged.
template <std::size_t N>
kernels::broadcast_geometry broadcast_walk(const shape& dims, const std::array<shape, N>& operands);
/// The first operand split at the resolved axis: elements before it, of it, and after it.
kernels::reduce_geometry split_at_axis(const launch_call& c);
/// A number as an element of a dtype, as Cast converts it: outside of an integer's range it saturates, and NaN becomes
/// 0.
struct element_of {
  alignas(16) std::byte bytes[16] = {};
  element_of(double value, dtype type);
  /// The value of an attribute. For text it is the string of the call, or the empty one for 0.
  element_of(const launch_call& c, const attr_value& value, dtype type);
};
/// Fills `count` elements with a number.
void fill_with(const launch_call& c, void* out, dtype type, std::int64_t count, double value);
/// Fills the results with zeros if an operand has no elements, and returns true if so. It is for ops whose results add
/// up products of all operands. The other axes of such an operand may be of any size, so launcher and kernel must not
/// run.
bool filled_without_products(const launch_call& c);

/// Runs `launch` on the call with operand `at`, int64 indices, converted to the int32 that kernels take. Values that
/// int32 does not hold become -1, which is out of every range as well.
void on_int32(const launch_call& c, std::size_t at, launch_fn launch);
inline bool has_wide_indices(const launch_call& c, std::size_t at) { return c.in[at].type == dtype::int64; }

/// Combination that the attribute `reduction` of a call selects.
kernels::combination reduction_of(const launch_call& c);

/// Runs the kernel of a call on its operands and results.
template <class Geometry>
void run_kernel_of(const launch_call& c, const Geometry& g) {
  const void* in[8] = {};  // as many operands as a row may have; optional ones may be missing
  void* out[max_results];
  for (std::size_t i = 0; i < c.in.size(); ++i) in[i] = c.in[i].data;
  for (std::size_t k = 0; k < c.out.size(); ++k) out[k] = c.out[k].data;
  c.kernel.run(in, out, &g);
}

// ------------------------------------------------------------------------------------------ work for several threads

/// The smallest number of elements that is split over threads. For less work, waking a thread takes longer.
inline constexpr std::int64_t split_least = 1 << 14;

/// Elements in a chunk of work with `cost` operations each: a power of two, of about two microseconds. It depends on
/// the op alone, never on the number of threads, and so do the results.
std::int64_t chunk_elements(double cost);
/// The cost that marks work that is never split. Custom kernels may throw, or have threads themselves.
inline constexpr double never_split = -1;
/// True if work should be split: several threads are allowed, and there is a chunk for more than one.
bool worth_splitting(std::int64_t elements, double cost);
/// True if the work of a call should be split. The kernels of custom ops are never split.
bool worth_splitting(const launch_call& c, std::int64_t elements, double cost);
/// The cost of the call's row, or never_split.
double split_cost(const launch_call& c);

/// True if jobs run on a thread pool of the program, which may throw before all of a job is done.
bool uses_callers_pool();

/// Calls part(begin, size) for each chunk of the `all` items; the result has `result_bytes` bytes.
template <class Part>
void in_chunks(std::int64_t all, std::int64_t chunk, std::int64_t result_bytes, Part part) {
  if (all == 0) return;
  kernels::parallel_chunks(static_cast<std::size_t>((all + chunk - 1) / chunk), [&](std::size_t i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * chunk;
    const kernels::part_of_result whole(static_cast<std::size_t>(result_bytes));
    part(begin, std::min(chunk, all - begin));
  });
}

/// Runs elementwise kernels on contiguous arrays by several threads. `x_size` and `y_size` are the sizes of an element.
void split_flat1(const kernel_slot& slot, double cost, const void* x, std::size_t x_size, void* y, std::size_t y_size,
                 std::size_t count);
void split_flat2(const kernel_slot& slot, double cost, const void* a, const void* b, std::size_t in_size, void* y,
                 std::size_t y_size, std::size_t count);
/// Runs elementwise kernels on contiguous arrays. If the work is small, it costs one branch more than the kernel.
inline void run_flat1(const kernel_slot& slot, double cost, const void* x, dtype from, void* y, dtype to,
                      std::int64_t count) {
  if (count >= split_least && worth_splitting(count, cost)) [[unlikely]]
    return split_flat1(slot, cost, x, size_of(from), y, size_of(to), static_cast<std::size_t>(count));
  slot.flat1(x, y, static_cast<std::size_t>(count));
}
inline void run_flat2(const kernel_slot& slot, double cost, const void* a, const void* b, dtype from, void* y, dtype to,
                      std::int64_t count) {
  if (count >= split_least && worth_splitting(count, cost)) [[unlikely]]
    return split_flat2(slot, cost, a, b, size_of(from), y, size_of(to), static_cast<std::size_t>(count));
  slot.flat2(a, b, y, static_cast<std::size_t>(count));
}

/// Advances a pointer by `bytes` bytes.
inline const void* advanced(const void* p, std::int64_t bytes) { return static_cast<const std::byte*>(p) + bytes; }
inline void* advanced(void* p, std::int64_t bytes) { return static_cast<std::byte*>(p) + bytes; }

/// A box of axes, outermost first, cut into chunks. Each chunk is a piece of one axis for one index of the axes before
/// it. Chunks are numbered in row-major order. No size is 0.
struct box_cut {
  int axis = 0;            ///< the axis that is cut
  std::int64_t outer = 1;  ///< indices of the axes before it, together
  std::int64_t inner = 1;  ///< elements of the axes after it
  std::int64_t size, piece, pieces;

  box_cut(std::span<const std::int64_t> dims, std::int64_t chunk);
  std::size_t chunks() const { return kernels::extent(outer, pieces); }
  /// The number of indices of the cut axis in a chunk.
  std::int64_t count(std::size_t chunk) const { return std::min(piece, size - begin(chunk)); }
  /// The begin of a chunk on the cut axis. `first` counts it over all axes up to the cut one.
  std::int64_t begin(std::size_t chunk) const { return static_cast<std::int64_t>(chunk) % pieces * piece; }
  std::int64_t first(std::size_t chunk) const {
    return static_cast<std::int64_t>(chunk) / pieces * size + begin(chunk);
  }
  /// The offset of a chunk in an array with these strides.
  std::int64_t offset(std::size_t chunk, std::span<const std::int64_t> dims, const std::int64_t* strides) const {
    std::int64_t index = static_cast<std::int64_t>(chunk) / pieces, sum = begin(chunk) * strides[axis];
    for (int i = axis - 1; i >= 0; index /= dims[static_cast<std::size_t>(i)], --i)
      sum += index % dims[static_cast<std::size_t>(i)] * strides[i];
    return sum;
  }
};

/// Runs a kernel whose operands and results have `slices` slices each, one after the other, on chunks of slices.
/// `run(chunk, in, out)` gets the number of slices and pointers to their begins. Operands in the set `whole` are not
/// split.
template <class Run>
void run_slices(const launch_call& c, std::int64_t slices, std::int64_t elements, unsigned whole, Run run) {
  const double cost = c.call.row.cost;
  const bool split = slices > 1 && worth_splitting(c, elements, cost);
  const std::int64_t chunk =
      split ? std::max(std::int64_t{1}, chunk_elements(cost) / std::max(std::int64_t{1}, elements / slices)) : slices;
  const auto slice_bytes = [&](const view& x) {
    return x.dims.size() / slices * static_cast<std::int64_t>(size_of(x.type));
  };
  in_chunks(slices, chunk, slices * slice_bytes(c.out[0]), [&](std::int64_t begin, std::int64_t count) {
    const void* in[8] = {};  // as many operands as a row may have; optional ones may be missing
    for (std::size_t i = 0; i < c.in.size(); ++i)
      in[i] = (whole >> i) & 1 ? c.in[i].data : advanced(c.in[i].data, begin * slice_bytes(c.in[i]));
    void* out[max_results];
    for (std::size_t k = 0; k < c.out.size(); ++k) out[k] = advanced(c.out[k].data, begin * slice_bytes(c.out[k]));
    run(count, in, out);
  });
}

/// Runs a kernel that takes a count, element by element.
template <class Geometry>
void run_counted(const launch_call& c, const Geometry& all) {
  if (all.count < split_least) return run_kernel_of(c, all);
  run_slices(c, all.count, all.count, 0, [&](std::int64_t count, const void* const* in, void* const* out) {
    Geometry g = all;
    g.count = count;
    c.kernel.run(in, out, &g);
  });
}

/// Runs a kernel along an axis. Its slices are the indices of the axes before it.
template <class Geometry>
void run_outer(const launch_call& c, const Geometry& all) {
  const std::int64_t elements = all.outer * all.count * all.inner;
  if (elements < split_least) return run_kernel_of(c, all);
  run_slices(c, all.outer, elements, 0, [&](std::int64_t outer, const void* const* in, void* const* out) {
    Geometry g = all;
    g.outer = outer;
    c.kernel.run(in, out, &g);
  });
}
/// Runs the kernel of a call on operands broadcast to its result.
void run_broadcast(const launch_call& c, const kernels::broadcast_geometry& g);
/// Rows of the result [image, out_h, ...] of a window op: some rows of one image. `part` is their geometry.
struct window_rows {
  kernels::window_geometry part;
  std::int64_t image, first;
};
/// Calls run(window_rows) for chunks of rows of the result, or once for all rows if splitting does not pay.
template <class Run>
void in_window_rows(const launch_call& c, const kernels::window_geometry& g, const Run& run) {
  const std::int64_t taps = kernels::saturated_product(g.filter_h, g.filter_w);
  const double cost = static_cast<double>(std::max(std::int64_t{1}, taps));
  const std::int64_t count = c.out[0].dims.size();
  if (!worth_splitting(c, count, cost)) return run(window_rows{g, 0, 0});
  const std::int64_t row = count / (g.batch * g.out_h);
  const std::int64_t rows = std::clamp(chunk_elements(cost) / row, std::int64_t{1}, g.out_h);
  const std::int64_t pieces = (g.out_h + rows - 1) / rows;
  kernels::parallel_chunks(kernels::extent(g.batch, pieces), [&](std::size_t chunk) {
    const std::int64_t image = static_cast<std::int64_t>(chunk) / pieces;
    const std::int64_t first = static_cast<std::int64_t>(chunk) % pieces * rows;
    window_rows some{g, image, first};
    some.part.batch = 1;
    some.part.out_h = std::min(rows, g.out_h - first);
    some.part.pad_top = g.pad_top - first * g.stride_h;  // below 0: the first window starts inside the image
    run(some);
  });
}
/// Runs a window op over images in chunks of rows of the result. Operands after the first are not split.
void run_windows(const launch_call& c, const void* const* in, void* out, const kernels::window_geometry& g);

}  // namespace kerngrad::detail
