// SPDX-License-Identifier: Apache-2.0
// Launchers of the computing families: elementwise with broadcasting, reductions, softmax, products and windows.
module;
#include <algorithm>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/fill.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/concat.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/remove_if.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
#include "kernels/elementwise/binary.h"
#include "kernels/convert/convert.h"
#include "kernels/matmul/matmul.h"
#include "kernels/move/move.h"
#include "kernels/reduce/reduce.h"
#include "kernels/elementwise/unary.h"
#include "kernels/window/window.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad {

void made(const launch_call& c, int k, const shape& dims) {
  view& y = c.out[static_cast<std::size_t>(k)];
  if (!c.call.row.bounded || !is_within(dims, y.dims))
    fail(c.call.row.name, "a kernel that made result " + std::to_string(k) + " of shape " + to_string(dims),
         (c.call.row.bounded ? "at most " : "") + to_string(y.dims) + " by the op's row");
  y.dims = dims;
}

}  // namespace kerngrad

namespace kerngrad::launch {

namespace {

namespace views = ranges::views;
using detail::copy_axis;
using kernels::broadcast_geometry;

const shape& dims_of(const launch_call& c, int i) { return c.in[static_cast<std::size_t>(i)].dims; }
std::int64_t count_of(const launch_call& c) { return c.out[0].dims.size(); }

// Operands broadcast to a shape: axes of size 1 go, neighbours that all operands walk as one become one.
template <std::size_t N>
broadcast_geometry merged(const shape& dims, const std::array<shape, N>& operands) {
  broadcast_geometry g{};
  std::array<std::int64_t, N> step;
  ranges::fill(step, 1);
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
    const bool joins =
        rank > 0 && ranges::accumulate(views::iota(std::size_t{0}, N), true, [&](bool so_far, std::size_t k) {
          return so_far && stride[k] == g.strides[k][rank - 1] * g.dims[rank - 1];
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

// A shape split at an axis into what is before, the axis, and what is after.
kernels::reduce_geometry around(const shape& dims, int axis) {
  return {detail::extent_of(dims, 0, axis), dims[axis], detail::extent_of(dims, axis + 1, dims.rank())};
}
kernels::reduce_geometry around_resolved(const launch_call& c) {
  const int axis = detail::resolved(c, resolved_geometry::kind::axis).axis.at;
  if (axis < 0) return {1, 1, 1};  // a scalar
  return around(dims_of(c, 0), axis);
}

// Kernels that take a count, element by element.
template <class Geometry>
void run_counted(const launch_call& c, const Geometry& all) {
  if (all.count < detail::split_least) return detail::run_kernel_of(c, all);
  detail::run_slices(c, all.count, all.count, 0, [&](std::int64_t count, const void* const* in, void* const* out) {
    Geometry g = all;
    g.count = count;
    c.kernel.run(in, out, &g);
  });
}

// Kernels along an axis, whose slices are what is outside it.
template <class Geometry>
void run_outer(const launch_call& c, const Geometry& all) {
  const std::int64_t elements = all.outer * all.count * all.inner;
  if (elements < detail::split_least) return detail::run_kernel_of(c, all);
  detail::run_slices(c, all.outer, elements, 0, [&](std::int64_t outer, const void* const* in, void* const* out) {
    Geometry g = all;
    g.outer = outer;
    c.kernel.run(in, out, &g);
  });
}

}  // namespace
}  // namespace kerngrad::launch

namespace kerngrad::detail {

const resolved_geometry& resolved(const launch_call& c, resolved_geometry::kind wanted) {
  if (c.call.resolved.is != wanted)
    fail(c.call.row.name, "a shape rule that does not resolve what the row's calling convention needs",
         "the shape rule of an op of this convention", "call that of kg::shapes in the row's own");
  return c.call.resolved;
}

kernels::broadcast_geometry walk_of_three(const shape& dims, const std::array<shape, 3>& operands) {
  return launch::merged<3>(dims, operands);
}

}  // namespace kerngrad::detail

namespace kerngrad::launch {

// ------------------------------------------------------------------------------------------ elementwise

void unary(const launch_call& c) {
  kernels::unary_geometry g{count_of(c), {}};
  for (std::size_t i = 0; i < c.call.attrs.size(); ++i) g.params[i] = c.call.attrs[i].as_number();
  run_counted(c, g);
}

void binary(const launch_call& c) {
  const broadcast_geometry g = merged<2>(c.out[0].dims, {dims_of(c, 0), dims_of(c, 1)});
  if (g.rank == 1 && g.strides[0][0] == 1 && g.strides[1][0] == 1)
    return detail::run_flat2(c.kernel, detail::split_cost(c), c.in[0].data, c.in[1].data, c.in[0].type, c.out[0].data,
                             c.out[0].type, g.dims[0]);
  detail::run_broadcast(c, g);
}

void select(const launch_call& c) {
  detail::run_broadcast(c, merged<3>(c.out[0].dims, {dims_of(c, 0), dims_of(c, 1), dims_of(c, 2)}));
}

void add_n(const launch_call& c) {
  const std::int64_t count = count_of(c);
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

void cast(const launch_call& c) { run_counted(c, kernels::cast_geometry{count_of(c), c.out[0].type}); }
void convert(const launch_call& c) { run_counted(c, kernels::convert_geometry{count_of(c)}); }

// ------------------------------------------------------------------------------------------ reductions

void reduce(const launch_call& c) {
  const shape& dims = dims_of(c, 0);
  const shapes::axis_set axes = detail::resolved(c, resolved_geometry::kind::axes).axes;
  const auto is_reduced = [axes](int i) { return ((axes >> i) & 1) != 0; };
  const auto size_at = [&dims](int i) { return dims[i]; };
  int first = dims.rank(), last = -1;
  for (int i : views::iota(0, dims.rank())) {
    if (!is_reduced(i)) continue;
    first = std::min(first, i);
    last = i;
  }
  if (last < 0) return run_outer(c, kernels::reduce_geometry{dims.size(), 1, 1});
  const bool gap = ranges::any_of(views::iota(first, last + 1), [&](int i) { return !is_reduced(i) && dims[i] != 1; });
  if (!gap) {
    const kernels::reduce_geometry g{detail::extent_of(dims, 0, first), detail::extent_of(dims, first, last + 1),
                                     detail::extent_of(dims, last + 1, dims.rank())};
    return run_outer(c, g);
  }
  // Reduced axes with kept ones between them: bring the reduced ones to the end first.
  const auto all = views::iota(0, dims.rank());
  auto kept = all | views::remove_if(is_reduced);
  auto reduced = all | views::filter(is_reduced);
  const std::vector<int> perm = views::concat(kept, reduced) | ranges::to<std::vector>();
  const auto extent_at = [&](auto axes_of) {
    return ranges::accumulate(axes_of | views::transform(size_at), std::int64_t{1}, std::multiplies{});
  };
  const std::int64_t outer = extent_at(kept), count = extent_at(reduced);
  const tensor scratch = tensor_access::adopt(detail::allocate(c.in[0].type, dims));
  void* moved = tensor_access::buffer(scratch)->data;
  detail::permute(c, c.in[0].data, moved, c.in[0].type, dims, perm);
  const view in[] = {{moved, dims, c.in[0].type}};
  run_outer({.call = c.call, .kernel = c.kernel, .from = c.from, .built_in = c.built_in, .in = in, .out = c.out},
            kernels::reduce_geometry{.outer = outer, .count = count, .inner = 1});
}

void along_axis(const launch_call& c) { run_outer(c, around_resolved(c)); }

void cross_entropy(const launch_call& c) { run_outer(c, around_resolved(c)); }

void scan(const launch_call& c) {
  const kernels::reduce_geometry g = around_resolved(c);
  run_outer(c, kernels::scan_geometry{g.outer, g.count, g.inner,
                                      c.call.attr(place_in(attributes::scan, "exclusive")).as_bool(),
                                      c.call.attr(place_in(attributes::scan, "reverse")).as_bool()});
}

// ------------------------------------------------------------------------------------------ products and windows

void matmul(const launch_call& c) {
  const shape &a = dims_of(c, 0), &b = dims_of(c, 1), &y = c.out[0].dims;
  kernels::matmul_geometry g{};
  g.transpose_a = c.call.attr(place_in(attributes::matmul, "transposeA")).as_bool();
  g.transpose_b = c.call.attr(place_in(attributes::matmul, "transposeB")).as_bool();
  g.m = y[y.rank() - 2];
  g.n = y[y.rank() - 1];
  g.k = a[a.rank() - (g.transpose_a ? 2 : 1)];
  if (y.rank() == 2) return detail::run_kernel_of(c, g);
  const auto batch_of = [](const shape& dims) {
    return shape(dims.dims().first(static_cast<std::size_t>(dims.rank()) - 2));
  };
  const shape batch = batch_of(y);
  const broadcast_geometry walk = merged<2>(batch, {batch_of(a), batch_of(b)});
  g.batch_rank = walk.rank;
  for (int i = 0; i < walk.rank; ++i) {
    g.batch_dims[i] = walk.dims[i];
    g.stride_a[i] = walk.strides[0][i];
    g.stride_b[i] = walk.strides[1][i];
  }
  detail::run_kernel_of(c, g);
}

namespace {

const kernels::window_geometry& window_of(const launch_call& c) {
  return detail::resolved(c, resolved_geometry::kind::window).window;
}

constexpr std::array<int, 4> to_last{0, 2, 3, 1}, to_first{0, 3, 1, 2};

// Which operands of a convolution are images, and whether its result is one: the others are filters.
struct window_images {
  std::array<bool, 2> operands;
  bool result;
};
// A convolution, in one piece: its kernel splits the work. NCHW images go through NHWC.
void run_window(const launch_call& c, window_images is_image) {
  const kernels::window_geometry& g = window_of(c);
  if (!shapes::is_channels_first(c.call)) {
    const void* in[] = {c.in[0].data, c.in[1].data};
    void* out[] = {c.out[0].data};
    return c.kernel.run(in, out, &g);
  }
  tensor scratch[3];
  const void* in[2];
  std::size_t i = 0;
  const auto image = [&](const view& x, int at, std::span<const int> perm) {
    const auto size_at = [&x](int axis) { return x.dims[axis]; };
    const auto dims = perm | views::transform(size_at) | ranges::to<std::vector<std::int64_t>>();
    scratch[at] = tensor_access::adopt(detail::allocate(x.type, shape(dims)));
    return tensor_access::buffer(scratch[at])->data;
  };
  for (bool image_operand : is_image.operands) {
    in[i] = c.in[i].data;
    if (image_operand) {
      void* moved = image(c.in[i], static_cast<int>(i), to_last);
      detail::permute(c, c.in[i].data, moved, c.in[i].type, c.in[i].dims, to_last);
      in[i] = moved;
    }
    ++i;
  }
  void* result = is_image.result ? image(c.out[0], 2, to_last) : c.out[0].data;
  void* out[] = {result};
  c.kernel.run(in, out, &g);
  if (is_image.result) detail::permute(c, result, c.out[0].data, c.out[0].type, scratch[2].dims(), to_first);
}

}  // namespace

void conv(const launch_call& c) { run_window(c, {.operands = {true, false}, .result = true}); }
void conv_backprop_input(const launch_call& c) { run_window(c, {.operands = {true, false}, .result = true}); }
void conv_backprop_filter(const launch_call& c) { run_window(c, {.operands = {true, true}, .result = false}); }

namespace {

// Pooling of whole images: what a window gives back may reach its neighbours.
void run_images(const launch_call& c) {
  const kernels::window_geometry& all = window_of(c);
  detail::run_slices(c, all.batch, std::max(dims_of(c, 0).size(), count_of(c)), 0,
                     [&](std::int64_t batch, const void* const* in, void* const* out) {
                       kernels::window_geometry g = all;
                       g.batch = batch;
                       c.kernel.run(in, out, &g);
                     });
}

}  // namespace

void pool(const launch_call& c) {
  const void* in[] = {c.in[0].data, nullptr};
  detail::run_windows(c, in, c.out[0].data, window_of(c));
}
void pool_grad(const launch_call& c) { run_images(c); }
void pool_gather(const launch_call& c) { run_images(c); }

}  // namespace kerngrad::launch
