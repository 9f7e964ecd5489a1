// SPDX-License-Identifier: Apache-2.0
// Strided copies and fills, which launchers of several families need.
module;
#include <algorithm>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/exclusive_scan.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/take.hpp>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/create/create.h"
#include "kernels/move/move.h"
#include "kernels/text/text.h"
module kerngrad;

import :geometry;

namespace kerngrad::detail {

namespace views = ranges::views;

axis_strides strides_of(const shape& dims) {
  axis_strides strides{};
  std::ranges::copy(dims.dims() | views::reverse | views::exclusive_scan(std::int64_t{1}, std::multiplies{}),
                    strides.rend() - dims.rank());
  return strides;
}

std::int64_t extent_of(const shape& dims, int first, int last) {
  return ranges::accumulate(dims.dims() | views::take(last) | views::drop(first), std::int64_t{1}, std::multiplies{});
}

namespace {

// Axes of size 1 go; neighbours that both sides walk as one become one.
copy_axes merged(const copy_axes& axes) {
  copy_axes kept;
  for (const copy_axis& axis : axes) {
    if (axis.size == 1) continue;
    copy_axis* const last = kept.empty() ? nullptr : kept.end() - 1;
    if (last && last->in == axis.in * axis.size && last->out == axis.out * axis.size)
      *last = {last->size * axis.size, axis.in, axis.out};
    else kept.push_back(axis);
  }
  if (kept.empty()) kept.push_back({1, 1, 1});
  return kept;
}

// Runs of elements that are contiguous on both sides. For a few of them the kernel would take longer to choose its way
// than memcpy to copy.
bool is_few_runs(const copy_axes& axes) {
  constexpr std::int64_t few = 8;
  const copy_axis& last = axes.end()[-1];
  return last.in == 1 && last.out == 1 && axes.size() <= 2 && (axes.size() == 1 || axes.front().size <= few);
}

void copy_runs(const void* in, void* out, dtype type, const copy_axes& axes, std::int64_t in_offset,
               std::int64_t out_offset) {
  const std::int64_t bytes = static_cast<std::int64_t>(size_of(type));
  const copy_axis outer = axes.size() == 1 ? copy_axis{1, 0, 0} : axes.front();
  const std::size_t run = static_cast<std::size_t>(axes.end()[-1].size * bytes);
  for (std::int64_t i = 0; i < outer.size; ++i)
    std::memcpy(advanced(out, (out_offset + i * outer.out) * bytes), advanced(in, (in_offset + i * outer.in) * bytes),
                run);
}

// A number as an integer, as Cast makes it one.
template <class T>
T saturated(double value) {
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
  if (value != value) return T{0};
  return value <= low    ? std::numeric_limits<T>::min()
         : value >= high ? std::numeric_limits<T>::max()
                         : static_cast<T>(value);
}
}  // namespace

element_of::element_of(double value, dtype type) {
  const auto store = [&](auto typed) { std::memcpy(bytes, &typed, sizeof typed); };
  visit(type, [&]<dtype Type>(dtype_constant<Type> is) {
    using T = typename decltype(is)::element;
    if constexpr (kind_of(Type) == dtype_kind::text) store(T{});
    else if constexpr (kind_of(Type) == dtype_kind::boolean) store(value != 0);
    else if constexpr (kind_of(Type) == dtype_kind::integer) store(saturated<T>(value));
    else if constexpr (kind_of(Type) == dtype_kind::complex) store(T{static_cast<decltype(T::real)>(value), 0});
    else store(T(value));
  });
}

element_of::element_of(const launch_call& c, const attr_value& value, dtype type)
    : element_of(type == dtype::text ? 0 : value.as_number(), type) {
  if (type != dtype::text) return;
  const text made = c.texts->put(value.as_text());
  std::memcpy(bytes, &made, sizeof made);
}

void copy_strided(backend from, const void* in, void* out, dtype type, const copy_axes& given, std::int64_t in_offset,
                  std::int64_t out_offset) {
  for (const copy_axis& axis : given)
    if (axis.size == 0) return;
  const copy_axes axes = merged(given);
  if (axes.size() > max_rank) {  // Tile doubles the number of axes
    const copy_axis outer = axes.front();
    copy_axes inner;
    for (const copy_axis& axis : axes | views::drop(1)) inner.push_back(axis);
    for (std::int64_t i = 0; i < outer.size; ++i)
      copy_strided(from, in, out, type, inner, in_offset + i * outer.in, out_offset + i * outer.out);
    return;
  }
  const std::int64_t count = ranges::accumulate(axes, std::int64_t{1}, std::multiplies{}, &copy_axis::size);
  if (count < split_least && is_few_runs(axes)) return copy_runs(in, out, type, axes, in_offset, out_offset);
  kernels::copy_geometry g{};
  g.rank = axes.size();
  for (const auto& [i, axis] : views::enumerate(axes)) {
    g.dims[i] = axis.size;
    g.in_strides[i] = axis.in;
    g.out_strides[i] = axis.out;
  }
  g.in_offset = in_offset;
  g.out_offset = out_offset;
  const kernel_slot& kernel = kernel_of<"Transpose">(from, type);
  if (count < split_least || !worth_splitting(count, 1)) return kernel.run(&in, &out, &g);
  const std::span<const std::int64_t> dims(g.dims, static_cast<std::size_t>(g.rank));
  const box_cut cut(dims, chunk_elements(1));
  kernels::parallel_chunks(cut.chunks(), [&](std::size_t chunk) {
    kernels::copy_geometry part{};
    part.rank = g.rank - cut.axis;
    std::ranges::copy(g.dims | views::drop(cut.axis), part.dims);
    std::ranges::copy(g.in_strides | views::drop(cut.axis), part.in_strides);
    std::ranges::copy(g.out_strides | views::drop(cut.axis), part.out_strides);
    part.dims[0] = cut.count(chunk);
    part.in_offset = in_offset + cut.offset(chunk, dims, g.in_strides);
    part.out_offset = out_offset + cut.offset(chunk, dims, g.out_strides);
    kernel.run(&in, &out, &part);
  });
}

void permute(const launch_call& c, const void* in, void* out, dtype type, const shape& dims,
             std::span<const int> perm) {
  const axis_strides from = strides_of(dims);
  copy_axes axes;
  for (int axis : perm) axes.push_back({dims[axis], from[static_cast<std::size_t>(axis)], 0});
  std::int64_t step = 1;
  for (copy_axis& axis : axes | views::reverse) axis.out = std::exchange(step, step * axis.size);
  copy_strided(c, in, out, type, axes);
}

void fill_with(const launch_call& c, void* out, dtype type, std::int64_t count, double value) {
  const element_of element(value, type);
  const kernel_slot& kernel = kernel_of<"Fill">(c.from, type);
  const std::int64_t chunk = count >= split_least && worth_splitting(count, 1) ? chunk_elements(1) : count;
  const std::int64_t size = static_cast<std::int64_t>(size_of(type));
  in_chunks(count, chunk, count * size, [&](std::int64_t begin, std::int64_t part) {
    const kernels::fill_geometry g{part, element.bytes};
    void* to = advanced(out, begin * size);
    kernel.run(nullptr, &to, &g);
  });
}

bool filled_without_products(const launch_call& c) {
  if (std::none_of(c.in.begin(), c.in.end(), [](const view& x) { return x.dims.size() == 0; })) return false;
  for (const view& y : c.out)
    std::fill_n(static_cast<std::byte*>(y.data), static_cast<std::size_t>(y.dims.size()) * size_of(y.type),
                std::byte{0});
  return true;
}

}  // namespace kerngrad::detail
